#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {

// The rung that brings the results soonest.
const ladder::AnyRung& choose(const Problem& problem, runtime::Target target);

}  // namespace warpladder::reduce_axis
