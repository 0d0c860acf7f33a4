#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

using Plan = ladder::Plan<Call>;

// accurate: the fastest arithmetic whose errors are no larger than an FP32 dot product's.
// cuda_cores: FP32 multiply-adds alone. double_rounded: float64 sums, each rounded once.
enum class Arithmetic { accurate, cuda_cores, double_rounded };

WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Problem& problem, const runtime::Machine& machine,
                                     Arithmetic arithmetic = Arithmetic::accurate,
                                     const Batch& batch = {}) noexcept;)

}  // namespace warpladder::sgemm
