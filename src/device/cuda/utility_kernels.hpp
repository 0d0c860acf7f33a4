#pragma once
// All return the cudaError_t of the launch. `stream` is a cudaStream_t.

#include <cstddef>
#include <cstdint>

namespace warpladder::device::cuda {

// Keeps the stream busy for so many cycles of the multiprocessors' clock, on one thread.
int launch_spin(void* stream, long long cycles);
// Reads `bytes` of a buffer of zeros, so that the L2 cache holds nothing else.
int launch_sweep(void* stream, const void* zeros, std::size_t bytes);
// Reads `bytes` from an address that is a multiple of 4, and keeps nothing of them.
int launch_read(void* stream, const void* from, std::size_t bytes);
// to[i] = uniform_element(seed, i, low, high).
int launch_fill_uniform(void* stream, float* to, std::size_t count, std::uint64_t seed, float low,
                        float high);

}  // namespace warpladder::device::cuda
