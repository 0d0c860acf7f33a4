#pragma once

#include <cstdint>
#include <string>

namespace warpladder {

// 16777216 as 16,777,216.
inline std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace warpladder
