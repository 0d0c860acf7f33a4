#pragma once
// One value of n fp32 values: their sum, mean, least, greatest, or where the least or greatest is.
//
//   function   n = 0    a NaN among the values      ties
//   sum        0        NaN                         -
//   mean       NaN      NaN                         -
//   min, max   +inf,    NaN                         -0 is less than +0
//              -inf
//   argmin,    -1       where the first NaN is      the lowest index; -0 and +0 are equal
//   argmax
//
// The same call gives the same bits in every run: no rung adds in an order that timing decides.
// Included by rungs: plain data and arithmetic only.

#include <cstddef>
#include <cstdint>

#include "parts/reduction_function.hpp"
#include "runtime/status.hpp"

namespace warpladder::reduce {

using parts::Function;
using parts::is_place;
using parts::kFunctions;

struct Problem {
  Function function = Function::sum;
  std::int64_t n = 0;
};

// A problem and where its operands lie in device memory.
struct Call {
  Problem problem;
  const float* in = nullptr;
  float* value = nullptr;         // the result, unless it is a place
  std::int64_t* place = nullptr;  // the result, if it is
  // For partial results. `scratch` holds scratch_words(n) words of any content. `flags` holds
  // kFlagWords words, all zero, and every launch leaves them so; it belongs to one stream.
  std::uint64_t* scratch = nullptr;
  std::uint64_t* flags = nullptr;
};

// A partial result is two words at most. The first pass leaves at most one for 256 values, the
// second one for as many of those.
constexpr std::size_t scratch_words(std::int64_t n) {
  const auto first = static_cast<std::size_t>((n + 255) / 256), second = (first + 255) / 256;
  return 2 * (first + second + 1);
}
// Two for each block but the last of the rungs that finish in one launch.
constexpr std::size_t kMostFlagBlocks = 1024, kFlagWords = 2 * kMostFlagBlocks;

// Each value read once.
double minimal_bytes(const Problem& p);
// Refuses a negative size, and one that is too large to address.
runtime::Status check(const Problem& p) noexcept;

}  // namespace warpladder::reduce
