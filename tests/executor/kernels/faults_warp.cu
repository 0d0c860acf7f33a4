// Kernels that break the rules of barriers and warp-wide exchanges, each with a clean twin. The
// line that the executor must name is marked FAULT.

#include "kernels/kernel.hpp"
#include "parts/ptx/mma.hpp"

#if !defined(__CUDACC__)

namespace warpladder::kernel_tests {
namespace {

constexpr unsigned kWholeWarp = 0xffffffffu, kLowerHalf = 0x0000ffffu;

// All kernels of this file: out[t] gets something for each of 64 threads.
#define TWINS(kernel)                   \
  WARPLADDER_TEST_KERNEL(kernel<true>); \
  WARPLADDER_TEST_KERNEL(kernel<false>)

template <bool kFaulty>
__global__ void barrier_in_branch(int* out) {
  const unsigned t = threadIdx.x;
  if (!kFaulty || t < 40) {
    __syncthreads();
    out[t] = 1;
  }
  out[64 + t] = 2;
  __syncthreads();  // FAULT: the others' barrier
  out[t] = 3;
}
TWINS(barrier_in_branch);

template <bool kFaulty>
__global__ void barrier_after_exit(int* out) {
  const unsigned t = threadIdx.x;
  if (kFaulty && t >= 40) return;
  __syncthreads();  // FAULT: some have left
  out[t] = 1;
}
TWINS(barrier_after_exit);

template <bool kFaulty>
__global__ void barrier_of_one(int* out) {
  const unsigned t = threadIdx.x;
  if (kFaulty && t != 3) return;
  __syncthreads();  // FAULT: one is left
  out[t] = 1;
}
TWINS(barrier_of_one);

template <bool kFaulty>
__global__ void two_barriers(int* out) {
  const unsigned t = threadIdx.x;
  if (!kFaulty || t / 32 == 0) {
    out[t] = __syncthreads_count(1);
  } else {
    out[t] = 5;
    __syncthreads();  // FAULT: the second warp's barrier
  }
}
TWINS(two_barriers);

// Lane by lane: half of each warp waits for the other half, which waits for the block.
template <bool kFaulty>
__global__ void exchange_against_barrier(int* out) {
  const unsigned t = threadIdx.x;
  int v = static_cast<int>(t);
  if (t % 32 < 16) {
    v = __shfl_xor_sync(kFaulty ? kWholeWarp : kLowerHalf, v, 1);  // FAULT: waits for ever
  }
  __syncthreads();
  out[t] = v;
}
TWINS(exchange_against_barrier);

// Lanes that skip a shuffle of the whole warp wait at the __syncwarp() behind it.
template <bool kFaulty>
__global__ void shuffle_in_a_branch(int* out) {
  const unsigned t = threadIdx.x;
  int v = static_cast<int>(t);
  if (t % 32 >= 8) {
    v = __shfl_sync(kFaulty ? kWholeWarp : 0xffffff00u, v, 8);  // FAULT: eight lanes skip this
  }
  __syncwarp();
  out[t] = v;
}
TWINS(shuffle_in_a_branch);

// The lanes of one exchange disagree about who takes part.
template <bool kFaulty>
__global__ void different_masks(int* out) {
  const unsigned t = threadIdx.x;
  const unsigned mask = kFaulty && t % 32 == 3 ? kLowerHalf : kWholeWarp;
  out[t] = static_cast<int>(__ballot_sync(mask, 1));  // FAULT: masks differ
}
TWINS(different_masks);

// A vote and a shuffle never meet.
template <bool kFaulty>
__global__ void different_exchanges(int* out) {
  const unsigned t = threadIdx.x;
  if (kFaulty && t % 2) {
    out[t] = __any_sync(kWholeWarp, 1);
  } else {
    out[t] =
        __shfl_sync(kFaulty ? kWholeWarp : __activemask(), 7, 0);  // FAULT: a vote is waited for
  }
}
TWINS(different_exchanges);

// A warp's product wants all of its lanes.
template <bool kFaulty>
__global__ void product_of_half_a_warp(int* out) {
  const unsigned t = threadIdx.x;
  double sums[4] = {};
  if (!kFaulty || t % 32 < 16) ptx::multiply_f64(sums, 1, 1, 1);  // FAULT: upper half
  out[t] = static_cast<int>(sums[0]);
}
TWINS(product_of_half_a_warp);

// ---- masks

template <bool kFaulty>
__global__ void shuffle_without_itself(int* out) {
  const unsigned t = threadIdx.x;
  const unsigned mask = kFaulty ? kLowerHalf : kWholeWarp;
  out[t] = __shfl_sync(mask, 1, 0);  // FAULT: lane 16 is left out
}
TWINS(shuffle_without_itself);

template <bool kFaulty>
__global__ void vote_without_itself(int* out) {
  const unsigned mask = kFaulty ? ~8u : kWholeWarp;
  out[threadIdx.x] = __all_sync(mask, 1);  // FAULT: vote
}
TWINS(vote_without_itself);

template <bool kFaulty>
__global__ void reduction_without_itself(int* out) {
  const unsigned mask = kFaulty ? ~8u : kWholeWarp;
  out[threadIdx.x] = __reduce_add_sync(mask, 1);  // FAULT: reduction
}
TWINS(reduction_without_itself);

template <bool kFaulty>
__global__ void warp_barrier_without_itself(int* out) {
  __syncwarp(kFaulty ? ~8u : kWholeWarp);  // FAULT: warp barrier
  out[threadIdx.x] = 1;
}
TWINS(warp_barrier_without_itself);

template <bool kFaulty>
__global__ void shuffle_from_exited(int* out) {
  const unsigned t = threadIdx.x;
  if (t % 32 >= 24) return;
  out[t] = __shfl_sync(kWholeWarp, static_cast<int>(t), kFaulty ? 31 : 23);  // FAULT: exited
}
TWINS(shuffle_from_exited);

// For blocks of 48: the second warp has 16 lanes.
template <bool kFaulty>
__global__ void shuffle_from_nobody(int* out) {
  const unsigned t = threadIdx.x;
  out[t] = __shfl_xor_sync(kWholeWarp, static_cast<int>(t), kFaulty ? 16 : 1);  // FAULT: never were
}
TWINS(shuffle_from_nobody);

// ---- where a shuffle reads

template <bool kFaulty>
__global__ void shuffle_from_outside(int* out) {
  const unsigned t = threadIdx.x;
  int v = static_cast<int>(t);
  if (t % 32 < 16) {
    const int below = __shfl_down_sync(kLowerHalf, v, 1, kFaulty ? 32 : 16);  // FAULT: lane 16
    v += below;
  }
  out[t] = v;
}
TWINS(shuffle_from_outside);

template <bool kFaulty>
__global__ void shuffle_from_odd_lane(int* out) {
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) {
    out[t] = __shfl_xor_sync(0x55555555u, static_cast<int>(t), kFaulty ? 3 : 2);  // FAULT: odd
  }
}
TWINS(shuffle_from_odd_lane);

template <bool kFaulty>
__global__ void shuffle_width(int* out) {
  const int width = kFaulty ? 12 : 16;
  out[threadIdx.x] = __shfl_sync(kWholeWarp, 4, 0, width);  // FAULT: width
}
TWINS(shuffle_width);

}  // namespace
}  // namespace warpladder::kernel_tests

#endif
