// Results that would depend on the order of the blocks, if the executor let them.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

// Blocks of unequal length add floats that round; each block also remembers the sum it found, and
// counts in shared memory.
__global__ void race_for_sums(const float* in, float* sums, float* found, int cells) {
  __shared__ float of_block[8];
  const unsigned t = threadIdx.x, n = static_cast<unsigned>(cells);
  if (t < 8) of_block[t] = 0.0f;
  __syncthreads();  // the block's sums are zero
  const unsigned rounds = blockIdx.x * 7 % 11 + 1;
  for (unsigned i = 0; i < rounds; ++i) {
    atomicAdd(&of_block[t % 8], in[(blockIdx.x * 31 + i * blockDim.x + t) % n]);
  }
  __syncthreads();  // the block's sums are whole
  if (t < 8) found[8 * blockIdx.x + t] = atomicAdd(&sums[t], of_block[t]);
  if (t == 9) atomicMax(reinterpret_cast<int*>(&sums[8]), __float_as_int(of_block[3]));
}
WARPLADDER_TEST_KERNEL(race_for_sums);

// Each block takes the next free place of the output, in shared and in global memory.
__global__ void take_tickets(int* next, int* holder) {
  __shared__ int place;
  if (threadIdx.x == 0) place = atomicAdd(next, 1);
  __syncthreads();  // the place is known
  if (threadIdx.x == 37) holder[place] = static_cast<int>(blockIdx.x);
}
WARPLADDER_TEST_KERNEL(take_tickets);

}  // namespace
}  // namespace warpladder::kernel_tests
