#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

// The rung that brings the result soonest. Throws Error(resource) where none can run.
const ladder::Rung& choose(const Problem& problem, device::Target target);

}  // namespace warpladder::sgemm
