#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {

// The rung that brings the result soonest.
const ladder::AnyRung& choose(const Problem& problem, runtime::Target target);

}  // namespace warpladder::transpose
