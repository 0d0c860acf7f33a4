#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {

using Plan = ladder::Plan<Call>;

WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Problem& problem,
                                     const runtime::Machine& machine) noexcept;)

}  // namespace warpladder::reduce
