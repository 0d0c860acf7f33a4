#pragma once
// Both return the cudaError_t of the launch. `stream` is a cudaStream_t.

#include <cstddef>

namespace warpladder::device::cuda {

// Keeps the stream busy for so many cycles of the multiprocessors' clock, on one thread.
int launch_spin(void* stream, long long cycles);
// Reads `bytes` of a buffer of zeros, so that the L2 cache holds nothing else.
int launch_sweep(void* stream, const void* zeros, std::size_t bytes);

}  // namespace warpladder::device::cuda
