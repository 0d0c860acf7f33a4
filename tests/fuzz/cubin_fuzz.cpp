// Any bytes either parse to kernels, or are refused with an Error. CONTRIBUTING.md says how to
// build it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/cubin.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto kernels = parse_cubin({reinterpret_cast<const char*>(data), size}, "input");
    require(!kernels.empty());
    for (const CubinKernel& kernel : kernels) require_printable(kernel.symbol);
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::bad_input);
    require(sentence.starts_with("input"));
    require_printable(sentence);
    require(sentence.size() < 500);
  }
  return 0;
}
