#pragma once
// The one thing that CUDA does not tell and the driver's management library does.

namespace warpladder::device::cuda {

// The first GPU's SM clock at this moment in MHz, or 0 where libnvidia-ml.so.1 is not to be found
// or does not say.
int sm_clock_mhz();

}  // namespace warpladder::device::cuda
