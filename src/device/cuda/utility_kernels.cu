// What the lab needs around the kernels that it is about: to time them, and to fill their operands.
// Compiled by nvcc alone, into the device layer.

#include <cuda_runtime.h>

#include "base/random_fill.hpp"
#include "device/cuda/utility_kernels.hpp"

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

constexpr int kInFlight = 4, kReadThreads = 256;

__device__ unsigned sink_of_reads;

// Four loads of 16 bytes under way in each thread. `count` is of uint4.
__global__ void __launch_bounds__(kReadThreads) read_kernel(const uint4* from, std::size_t count) {
  unsigned seen = 0;
  const std::size_t step = std::size_t{gridDim.x} * kReadThreads * kInFlight;
  for (std::size_t i = std::size_t{blockIdx.x} * kReadThreads * kInFlight + threadIdx.x; i < count;
       i += step) {
    uint4 v[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) {
      const std::size_t at = i + std::size_t{kReadThreads} * u;
      v[u] = at < count ? __ldg(from + at) : uint4{};
    }
#pragma unroll
    for (int u = 0; u < kInFlight; ++u) seen ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  if (seen == 0xdeadbeefu) sink_of_reads = seen;  // hardly ever; but the loads must stay
}

__global__ void fill_kernel(float* to, std::size_t count, std::uint64_t seed, float low,
                            float high) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t block = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; 4 * block < count;
       block += stride) {
    const PhiloxBlock random = random_block(seed, block);
    for (std::size_t j = 0; j < 4 && 4 * block + j < count; ++j) {
      to[4 * block + j] = uniform_from(random.word[j], low, high);
    }
  }
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

int launch_read(void* stream, const void* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = (address + 15) / 16 * 16;  // the few bytes in front are left out
  const std::size_t count = bytes < 32 ? 0 : (bytes - (first - address)) / sizeof(uint4);
  read_kernel<<<1056, kReadThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const uint4*>(first), count);
  return cudaGetLastError();
}

int launch_fill_uniform(void* stream, float* to, std::size_t count, std::uint64_t seed, float low,
                        float high) {
  fill_kernel<<<1056, 256, 0, static_cast<cudaStream_t>(stream)>>>(to, count, seed, low, high);
  return cudaGetLastError();
}

}  // namespace warpladder::device::cuda
