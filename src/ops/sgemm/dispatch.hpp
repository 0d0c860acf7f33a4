#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

// The rung that brings the result soonest, whether or not this program holds it for the target.
const ladder::AnyRung& choose(const Problem& problem, runtime::Target target);

}  // namespace warpladder::sgemm
