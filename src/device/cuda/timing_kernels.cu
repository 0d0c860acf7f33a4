// Kernels that nothing is computed with: what timing needs around the kernel that is timed. They
// are compiled by nvcc alone, into the device layer.

#include <cuda_runtime.h>

#include "device/cuda/timing_kernels.hpp"

namespace warpladder::device::cuda {
namespace {

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

__global__ void sweep_kernel(const uint4* from, std::size_t count, unsigned* sink) {
  unsigned seen = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const uint4 v = from[i];
    seen |= v.x | v.y | v.z | v.w;
  }
  if (seen == 0xdeadbeefu) *sink = seen;  // never: the buffer holds zeros; but the loads must stay
}

}  // namespace

int launch_spin(void* stream, long long cycles) {
  spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(cycles);
  return cudaGetLastError();
}

int launch_sweep(void* stream, const void* zeros, std::size_t bytes) {
  sweep_kernel<<<1024, 256, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const uint4*>(zeros), bytes / sizeof(uint4),
      static_cast<unsigned*>(const_cast<void*>(zeros)));
  return cudaGetLastError();
}

}  // namespace warpladder::device::cuda
