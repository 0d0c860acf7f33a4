#pragma once
// OpenBLAS on the host: what a rung's CPU time is shown beside. Never the truth.

#include "device/stream.hpp"

namespace warpladder::sgemm {

// A ladder::Launcher: `call` is a sgemm::Call whose operands are in host memory. Uses as many
// threads as the stream's executor would. Throws Error(bad_input) for sizes beyond 2^31 - 1, which
// this build of OpenBLAS does not take.
void launch_openblas(const void* call, device::Stream& stream);

}  // namespace warpladder::sgemm
