// Any bytes either parse to launches that keep their promises, or are refused with an Error.
// CONTRIBUTING.md says how to build it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/ncu_export.hpp"

namespace {

using namespace warpladder;

// Unlike assert, holds in release builds; libFuzzer reports the abort with the input.
void require(bool condition) {
  if (!condition) std::abort();
}

void require_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    require(bytes > 0);
    text.remove_prefix(bytes);
  }
}

void check(const NcuLaunch& launch) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  require_printable(launch.kernel);
  require(launch.block_threads < kMost && launch.grid_blocks < kMost);
  for (const NcuValue& value : launch.values) {
    for (const std::string* text : {&value.metric, &value.unit, &value.text}) {
      require_printable(*text);
    }
    require(!value.value || std::isfinite(*value.value));
    require(launch.find(value.metric) != nullptr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto launches = parse_ncu_export({reinterpret_cast<const char*>(data), size}, "input");
    require(!launches.empty());
    for (const NcuLaunch& launch : launches) check(launch);
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::bad_input);
    require(sentence.starts_with("input"));
    require_printable(sentence);
    require(sentence.size() < 500);
  }
  return 0;
}
