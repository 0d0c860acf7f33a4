#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

// The rung that brings the result soonest; `prepared`: among those whose plan has been made, or can
// be made, because the pattern will be used again.
const ladder::Rung& choose(const Problem& problem, bool prepared, device::Target target);

}  // namespace warpladder::spmv
