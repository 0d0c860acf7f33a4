#pragma once
// What a reduction should give, for the rooms that reduce: the truth about one line of values.

#include <cstdint>
#include <span>

#include "ops/lab/judge.hpp"
#include "parts/reduction_function.hpp"

namespace warpladder::ops {

struct Reduced {
  Expected value;           // unless the function is a place
  std::int64_t place = -1;  // if it is
};

// Sums are accumulated in float64. An fp32 sum may lie as far from it as a tree lets it: log2(n)
// levels of additions, and 12 for the way that a rung goes besides (vectors, lanes, warps, blocks),
// each with a relative error of 2^-24 of the absolute values beneath it.
Reduced reduced(parts::Function function, std::span<const float> in);

}  // namespace warpladder::ops
