// The exchanges of a warp: shuffles, votes, reductions, and who is active.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr unsigned kWholeWarp = 0xffffffffu;

enum class Form { index, up, down, exclusive_or };

template <Form form, class T>
__device__ __forceinline__ T shuffle(unsigned mask, T value, int argument, int width) {
  if constexpr (form == Form::index) return __shfl_sync(mask, value, argument, width);
  if constexpr (form == Form::up) {
    return __shfl_up_sync(mask, value, static_cast<unsigned>(argument), width);
  }
  if constexpr (form == Form::down) {
    return __shfl_down_sync(mask, value, static_cast<unsigned>(argument), width);
  }
  return __shfl_xor_sync(mask, value, argument, width);
}

// Of each case the lanes that its mask names take part; arguments[32 * case + lane] is the lane's.
template <class T, Form form>
__global__ void shuffles(const T* in, T* out, const unsigned* masks, const int* widths,
                         const int* arguments, int cases) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int c = 0; c < cases; ++c) {
    if (masks[c] >> lane & 1) {
      const int argument = arguments[32 * c + lane];
      out[32 * c + lane] = shuffle<form>(masks[c], in[lane], argument, widths[c]);
    }
  }
}
#define SHUFFLES_OF(T)                              \
  WARPLADDER_TEST_KERNEL(shuffles<T, Form::index>); \
  WARPLADDER_TEST_KERNEL(shuffles<T, Form::up>);    \
  WARPLADDER_TEST_KERNEL(shuffles<T, Form::down>);  \
  WARPLADDER_TEST_KERNEL(shuffles<T, Form::exclusive_or>)
SHUFFLES_OF(int);
SHUFFLES_OF(unsigned);
SHUFFLES_OF(float);
SHUFFLES_OF(double);
SHUFFLES_OF(long long);

// Bit `lane` of predicates[case] is the lane's vote; true is any number but 0.
__global__ void votes(const unsigned* masks, const unsigned* predicates, unsigned* out, int cases) {
  const unsigned lane = threadIdx.x;
  for (int c = 0; c < cases; ++c) {
    if (masks[c] >> lane & 1) {
      const int mine = static_cast<int>((predicates[c] >> lane & 1) * (lane + 2));
      unsigned* to = out + 3 * (32 * c + lane);
      to[0] = __ballot_sync(masks[c], mine);
      to[1] = __any_sync(masks[c], mine) != 0;
      to[2] = __all_sync(masks[c], mine) != 0;
    }
  }
}
WARPLADDER_TEST_KERNEL(votes);

__global__ void reductions(const unsigned* masks, const unsigned* in, unsigned* out, int cases) {
  const unsigned lane = threadIdx.x;
  for (int c = 0; c < cases; ++c) {
    const unsigned mask = masks[c], mine = in[32 * c + lane];
    const auto mine_signed = static_cast<int>(mine);
    if (mask >> lane & 1) {
      unsigned* to = out + 9 * (32 * c + lane);
      to[0] = __reduce_add_sync(mask, mine);
      to[1] = __reduce_min_sync(mask, mine);
      to[2] = __reduce_max_sync(mask, mine);
      to[3] = __reduce_and_sync(mask, mine);
      to[4] = __reduce_or_sync(mask, mine);
      to[5] = __reduce_xor_sync(mask, mine);
      to[6] = static_cast<unsigned>(__reduce_add_sync(mask, mine_signed));
      to[7] = static_cast<unsigned>(__reduce_min_sync(mask, mine_signed));
      to[8] = static_cast<unsigned>(__reduce_max_sync(mask, mine_signed));
    }
  }
}
WARPLADDER_TEST_KERNEL(reductions);

// Three ways through a branch, then the end for a third of the lanes. No two ways do the same: the
// compiler may make one of them.
__global__ void active_masks(unsigned* out) {
  const unsigned lane = threadIdx.x;
  if (lane % 3 == 0) {
    out[lane] = __activemask();
  } else if (lane < 20) {
    out[32 + lane] = __activemask();
  } else {
    out[64 + lane] = ~__activemask();
  }
  __syncwarp();  // together again
  if (lane % 3 == 0) return;
  out[96 + lane] = __activemask();
}
WARPLADDER_TEST_KERNEL(active_masks);

// The halves take different numbers of shuffles, of different forms, with masks of their own.
__global__ void halves_apart(const int* in, int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int value = in[lane];
  if (lane < 16) {
    for (int step = 1; step < 16; step *= 2) {
      value += __shfl_xor_sync(0x0000ffffu, value, step);
    }
  } else {
    for (int step = 0; step < 7; ++step) {
      const int before = __shfl_up_sync(0xffff0000u, value, 1, 16);
      if (lane > 16) value = 2 * value - before;
    }
  }
  out[lane] = value + __shfl_xor_sync(kWholeWarp, value, 16);
}
WARPLADDER_TEST_KERNEL(halves_apart);

// Inclusive sums along each warp of blocks of any size: the last warp may be short.
__global__ void warp_scans(const int* in, int* out) {
  const unsigned t = threadIdx.x, lane = t % 32;
  const unsigned lanes = min(blockDim.x - (t - lane), 32u);
  const unsigned mask = lanes == 32 ? kWholeWarp : (1u << lanes) - 1;
  int sum = in[t];
  for (unsigned step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(mask, sum, step);
    if (lane >= step) sum += before;
  }
  out[t] = sum;
}
WARPLADDER_TEST_KERNEL(warp_scans);

// Warps sum by shuffles, and the first warp sums the warps.
__global__ void shuffled_block_sums(const int* in, int* out) {
  __shared__ int of_warp[32];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  int sum = in[blockIdx.x * blockDim.x + t];
  WARPLADDER_UNROLL
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kWholeWarp, sum, step);
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();  // every warp's sum is there
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? of_warp[lane] : 0;
    WARPLADDER_UNROLL
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kWholeWarp, sum, step);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
WARPLADDER_TEST_KERNEL(shuffled_block_sums);

}  // namespace
}  // namespace warpladder::kernel_tests
