// parts/warp: what the lanes of a warp tell each other, for every type and width.

#include "kernels/kernel.hpp"
#include "parts/warp.hpp"

namespace warpladder::kernel_tests {
namespace {

namespace warp = parts::warp;

// One warp, in a block of any shape. Of each case the lanes that its mask names call each function
// once. numbers[3 * case + …] are the lane to read, the rotation and the bits of the butterfly.
// out[(8 * case + function) * 32 + lane].
template <class T, int kWidth>
__global__ void warp_parts(const T* in, T* out, const unsigned* masks, const int* numbers,
                           int cases) {
  const unsigned row = threadIdx.y + blockDim.y * threadIdx.z;
  const int lane = static_cast<int>(threadIdx.x + blockDim.x * row);
  for (int c = 0; c < cases; ++c) {
    const unsigned mask = masks[c];
    if (mask >> lane & 1) {
      const T mine = in[32 * c + lane], initial = in[32 * c];
      T* to = out + 8 * 32 * c + lane;
      to[0 * 32] = warp::broadcast<kWidth>(mine, numbers[3 * c], mask);
      to[1 * 32] = warp::rotate<kWidth>(mine, numbers[3 * c + 1], mask);
      to[2 * 32] = warp::exchange(mine, numbers[3 * c + 2], mask);
      to[3 * 32] = warp::reduce<kWidth>(mine, warp::Sum{}, mask);
      to[4 * 32] = warp::reduce<kWidth>(mine, warp::Min{}, mask);
      to[5 * 32] = warp::reduce<kWidth>(mine, warp::Max{}, mask);
      to[6 * 32] = warp::inclusive_scan<kWidth>(mine, warp::Sum{}, mask);
      to[7 * 32] = warp::exclusive_scan<kWidth>(mine, initial, warp::Sum{}, mask);
    }
  }
}
#define WARP_PARTS_OF(T)                     \
  WARPLADDER_TEST_KERNEL(warp_parts<T, 2>);  \
  WARPLADDER_TEST_KERNEL(warp_parts<T, 4>);  \
  WARPLADDER_TEST_KERNEL(warp_parts<T, 8>);  \
  WARPLADDER_TEST_KERNEL(warp_parts<T, 16>); \
  WARPLADDER_TEST_KERNEL(warp_parts<T, 32>)
WARP_PARTS_OF(int);
WARP_PARTS_OF(unsigned);
WARP_PARTS_OF(float);
WARP_PARTS_OF(double);
WARP_PARTS_OF(float4);

// x → a·x + b modulo 2^16 with a above b in a word: first f, then g. Associative, and the order
// matters.
struct Compose {
  __device__ __forceinline__ unsigned operator()(unsigned f, unsigned g) const {
    const unsigned a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + (g & 0xffffu);
    return a << 16 | (b & 0xffffu);
  }
};
template <int kWidth>
__global__ void ordered_scans(const unsigned* in, unsigned* out, const unsigned* masks, int cases) {
  const unsigned lane = threadIdx.x;
  for (int c = 0; c < cases; ++c) {
    const unsigned mask = masks[c];
    if (mask >> lane & 1) {
      const unsigned mine = in[32 * c + lane], initial = in[32 * c];
      unsigned* to = out + 2 * 32 * c + lane;
      to[0] = warp::inclusive_scan<kWidth>(mine, Compose{}, mask);
      to[32] = warp::exclusive_scan<kWidth>(mine, initial, Compose{}, mask);
    }
  }
}
WARPLADDER_TEST_KERNEL(ordered_scans<2>);
WARPLADDER_TEST_KERNEL(ordered_scans<4>);
WARPLADDER_TEST_KERNEL(ordered_scans<8>);
WARPLADDER_TEST_KERNEL(ordered_scans<16>);
WARPLADDER_TEST_KERNEL(ordered_scans<32>);

// As most kernels call them: whole warps, and nothing said about masks.
__global__ void whole_warps(const float* in, float* out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  const float mine = in[t];
  out[t] = warp::broadcast(mine, 5);                                 // COUNT: broadcast
  out[all + t] = warp::rotate<8>(mine, -1);                          // COUNT: rotate
  out[2 * all + t] = warp::exchange(mine, 16);                       // COUNT: exchange
  out[3 * all + t] = warp::reduce(mine, warp::Sum{});                // COUNT: reduce
  out[4 * all + t] = warp::inclusive_scan<16>(mine, warp::Sum{});    // COUNT: inclusive
  out[5 * all + t] = warp::exclusive_scan(mine, 0.0f, warp::Sum{});  // COUNT: exclusive
}
WARPLADDER_TEST_KERNEL(whole_warps);

// The last warp of a block of any size: a mask that is known at run time.
__global__ void ragged_warps(const int* in, int* out) {
  const unsigned t = threadIdx.x, left = blockDim.x - t / 32 * 32;
  const unsigned mask = left < 32 ? (1u << left) - 1 : warp::kAllLanes;
  out[t] = warp::reduce(in[t], warp::Sum{}, mask);                       // COUNT: ragged reduce
  out[blockDim.x + t] = warp::inclusive_scan(in[t], warp::Sum{}, mask);  // COUNT: ragged inclusive
}
WARPLADDER_TEST_KERNEL(ragged_warps);

}  // namespace
}  // namespace warpladder::kernel_tests
