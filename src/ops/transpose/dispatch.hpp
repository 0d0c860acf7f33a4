#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {

// The rung that brings the result soonest.
const ladder::Rung& choose(const Problem& problem, device::Target target);
// For a square matrix that is to be its own transpose.
const ladder::Rung& choose_in_place();

}  // namespace warpladder::transpose
