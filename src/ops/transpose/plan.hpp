#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {

using Plan = ladder::Plan<Call>;

WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Call& call, const runtime::Machine& machine) noexcept;)

}  // namespace warpladder::transpose
