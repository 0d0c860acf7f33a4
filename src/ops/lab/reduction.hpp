#pragma once
// What the operators that reduce share: the truth about one line of values, and the flags of `run`.

#include <cstdint>
#include <span>
#include <string>

#include "ops/lab/judge.hpp"
#include "ops/lab/run.hpp"
#include "parts/reduction_function.hpp"

namespace warpladder::ops {

struct Reduced {
  Expected value;           // unless the function is a place
  std::int64_t place = -1;  // if it is
};

// Sums are accumulated in float64. An fp32 sum may lie as far from it as a tree lets it. A tree has
// log2(n) levels of additions, and 12 for the way that a rung goes besides (vectors, lanes, warps,
// blocks). Each level has a relative error of 2^-24 of the absolute values beneath it.
Reduced reduced(parts::Function function, std::span<const float> in);

// `run reduce` serves all of these operators.
inline constexpr const char* kReduceCommand = "reduce";
RunFlag function_flag();  // --op
// Throws Error(bad_input) if --op names no reduction.
parts::Function function_of(const std::string& text);
// Throws Error(bad_input) where the function of no values at all is asked for, except the sum.
// `lines` results of `length` values each; `subject` names them.
void require_values(parts::Function function, std::int64_t lines, std::int64_t length,
                    const std::string& subject);

}  // namespace warpladder::ops
