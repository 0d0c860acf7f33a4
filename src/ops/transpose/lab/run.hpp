#pragma once
// `run` for this operator: its flags, and the launch on the user's own arrays.

#include "ops/lab/run.hpp"

namespace warpladder::transpose {

const ops::RunCapability& run_capability();

}  // namespace warpladder::transpose
