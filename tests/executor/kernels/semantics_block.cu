// Where a thread is, what a block shares, and its barriers.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

__device__ __forceinline__ unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Twelve numbers for each thread, threads in the order of their blocks, x fastest.
__global__ void places(unsigned* out) {
  const std::size_t block =
      blockIdx.x + std::size_t{gridDim.x} * (blockIdx.y + gridDim.y * blockIdx.z);
  const std::size_t threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned* mine = out + 12 * (block * threads + thread_in_block());
  mine[0] = threadIdx.x;
  mine[1] = threadIdx.y;
  mine[2] = threadIdx.z;
  mine[3] = blockIdx.x;
  mine[4] = blockIdx.y;
  mine[5] = blockIdx.z;
  mine[6] = blockDim.x;
  mine[7] = blockDim.y;
  mine[8] = blockDim.z;
  mine[9] = gridDim.x;
  mine[10] = gridDim.y;
  mine[11] = gridDim.z;
}
WARPLADDER_TEST_KERNEL(places);

// Each block turns its own threads' values around.
__global__ void reverse_static(const int* in, int* out) {
  __shared__ int tile[1024];
  const unsigned t = thread_in_block(), base = blockIdx.x * blockDim.x;
  tile[t] = in[base + t];
  __syncthreads();  // the whole tile is there
  out[base + t] = tile[blockDim.x - 1 - t];
}
WARPLADDER_TEST_KERNEL(reverse_static);

__global__ void reverse_dynamic(const int* in, int* out) {
  int* tile = runtime::dynamic_shared<int>();
  const unsigned t = thread_in_block(), base = blockIdx.x * blockDim.x;
  tile[t] = in[base + t];
  __syncthreads();  // the whole tile is there
  out[base + t] = tile[blockDim.x - 1 - t];
}
WARPLADDER_TEST_KERNEL(reverse_dynamic);

// The dynamic array cut in two, beside a static one: none may overlap another.
__global__ void three_arrays(const double* a, const int* b, const float* c, double* out) {
  __shared__ float third[256];
  double* first = runtime::dynamic_shared<double>();
  int* second = reinterpret_cast<int*>(first + blockDim.x);
  const unsigned t = threadIdx.x, other = (t + 1) % blockDim.x;
  first[t] = a[t];
  second[t] = b[t];
  third[t] = c[t];
  __syncthreads();  // all three are whole
  out[t] = first[other] + second[other] + static_cast<double>(third[other]);
}
WARPLADDER_TEST_KERNEL(three_arrays);

// Rounds of votes with nothing in between, so that one round's result must not leak into the next.
__global__ void block_votes(const int* predicates, int* out, int rounds) {
  const unsigned t = thread_in_block(), threads = blockDim.x * blockDim.y * blockDim.z;
  for (int round = 0; round < rounds; ++round) {
    const int mine = predicates[round * threads + t];
    int* to = out + 3 * (round * threads + t);
    to[0] = __syncthreads_and(mine);
    to[1] = __syncthreads_or(mine);
    to[2] = __syncthreads_count(mine);
  }
}
WARPLADDER_TEST_KERNEL(block_votes);

// A tree over dynamic shared memory, with a barrier at every level.
__global__ void block_sums(const int* in, int* out) {
  int* sum = runtime::dynamic_shared<int>();
  const unsigned t = threadIdx.x;
  sum[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();  // the leaves are there
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) sum[t] += sum[t + half];
    __syncthreads();  // this level is there before the next reads it
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}
WARPLADDER_TEST_KERNEL(block_sums);

// The halves of each warp go different ways and put their own exchanges in order.
__global__ void halves_in_order(const int* in, int* out) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  if (t % 32 < 16) {
    tile[t] = in[t];
    __syncwarp(0x0000ffffu);  // the lower half's values are there
    out[t] = tile[t ^ 1] + 1000;
  } else {
    for (unsigned step = 1; step < 16; step *= 2) {
      tile[t] = in[t] + static_cast<int>(step);
      __syncwarp(0xffff0000u);  // the upper half's values are there
      const int neighbour = tile[t ^ step];
      __syncwarp(0xffff0000u);  // and read, before the next step overwrites them
      out[t] = neighbour;
    }
  }
}
WARPLADDER_TEST_KERNEL(halves_in_order);

}  // namespace
}  // namespace warpladder::kernel_tests
