#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::vector_add {

using Plan = ladder::Plan<Call>;

WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Call& call, const runtime::Machine& machine) noexcept;)

}  // namespace warpladder::vector_add
