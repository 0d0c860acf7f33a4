#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpladder {

// 16777216 as 16,777,216.
inline std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// "1 row", "2,000 rows".
inline std::string count_of(std::int64_t count, std::string_view what) {
  const std::string text = with_commas(static_cast<std::uint64_t>(count)) + " ";
  return text + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace warpladder
