#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

using Plan = ladder::Plan<Call>;

// prepared: the matrix is multiplied so often that preparing it pays.
WARPLADDER_IN_EACH_FLAVOUR(Plan plan(const Problem& problem, const runtime::Machine& machine,
                                     bool prepared = false) noexcept;)

}  // namespace warpladder::spmv
