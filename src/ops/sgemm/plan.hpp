#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

using Plan = ladder::Plan<Call>;

WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Problem& problem, const runtime::Machine& machine,
                                     Arithmetic arithmetic = Arithmetic::accurate,
                                     const Batch& batch = {}) noexcept;)

}  // namespace warpladder::sgemm
