// Any bytes either parse to an array that keeps its promises, or are refused with an Error.
// Build with clang++ -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all and run it on
// a copy of tests/fuzz/corpus/npy, since libFuzzer adds files to its first directory. With other
// compilers, replay_main.cpp runs the corpus alone.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/npy.hpp"
#include "base/npy_header.hpp"

namespace {

using namespace warpladder;

// Unlike assert, holds in release builds; libFuzzer reports the abort with the input.
void require(bool condition) {
  if (!condition) std::abort();
}

void check(const NpyArray& array, std::span<const std::byte> bytes) {
  std::uint64_t product = 1;
  for (const std::int64_t size : array.shape) {
    require(size >= 0);
    product *= static_cast<std::uint64_t>(size);
  }
  require(array.data.size() == product);
  const auto data = std::as_bytes(std::span(array.data));
  require(data.size() < bytes.size());
  require(data.empty() ||
          std::memcmp(data.data(), bytes.last(data.size()).data(), data.size()) == 0);
}

// What is written again reads as the same array.
void check_round_trip(const NpyArray& array) {
  const std::string header = format_npy_header({array.shape, array.fortran_order});
  require(header.size() % 64 == 0);
  const std::size_t prefix = header[6] == 1 ? 10 : 12;
  const NpyHeader back = parse_npy_header(std::string_view(header).substr(prefix), "header");
  require(back.shape == array.shape && back.fortran_order == array.fortran_order);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const NpyArray array = parse_npy(bytes, "input");
    check(array, bytes);
    check_round_trip(array);
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::bad_input);
    require(sentence.starts_with("input "));
    for (const char c : sentence) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    require(sentence.size() < 500);
  }
  return 0;
}
