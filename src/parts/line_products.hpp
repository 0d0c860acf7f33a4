#pragma once
// Products of lines in memory with a vector: kLanes neighbouring threads share kLines lines.

#include "parts/multiply_add.hpp"
#include "parts/ptx/load.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Pieces of kWidth elements that a thread has loaded, of kLines lines and of the vector.
template <int kWidth, int kInFlight, int kLines>
struct LinePieces {
  using Piece = std::conditional_t<kWidth == 4, float4, float>;
  Piece a[kInFlight][kLines], x[kInFlight];
};

// Words pass through the L1 cache, for a line that does not begin on 32 bytes lets neighbouring
// requests share sectors.
__device__ __forceinline__ float4 load_piece(const float4* from) { return ptx::load_once(from); }
__device__ __forceinline__ float load_piece(const float* from) { return __ldg(from); }

// One step of kInFlight pieces, kLanes pieces apart: all are loaded before the first is used.
// kWhole: the lines hold them all, else the `left` pieces from the threads' first on.
template <int kWidth, int kLanes, int kInFlight, bool kWhole, int kLines>
__device__ __forceinline__ void add_products_step(float (&sum)[kLines],
                                                  const float* const (&line)[kLines],
                                                  const float* x, std::int64_t incx, int lane,
                                                  int left) {
  using Pieces = LinePieces<kWidth, kInFlight, kLines>;
  using Piece = typename Pieces::Piece;
  Pieces p;
  WARPLADDER_UNROLL
  for (int u = 0; u < kInFlight; ++u) {
    constexpr int kApart = kLanes * kWidth;
    const bool in = kWhole || lane + u * kLanes < left;
    WARPLADDER_UNROLL
    for (int l = 0; l < kLines; ++l) {
      p.a[u][l] = in ? load_piece(reinterpret_cast<const Piece*>(line[l] + u * kApart)) : Piece{};
    }
    p.x[u] = in ? __ldg(reinterpret_cast<const Piece*>(x + u * kApart * incx)) : Piece{};
  }
  WARPLADDER_UNROLL
  for (int u = 0; u < kInFlight; ++u) {
    if (kWhole || lane + u * kLanes < left) {
      WARPLADDER_UNROLL
      for (int l = 0; l < kLines; ++l) add_product(sum[l], p.a[u][l], p.x[u]);
    }
  }
}

// Adds to sum[l] the products of line[l] with x, of `elements` elements each, that fall to this
// thread. These are the pieces lane, lane + kLanes, … of kWidth elements, 0 ≤ lane < kLanes.
// Element i of x lies at x[i·incx]. kWidth is 1, or it is 4, the lines and x begin on 16 bytes,
// incx is 1 and `elements` a multiple of 4.
template <int kWidth, int kLanes, int kInFlight, int kLines>
__device__ __forceinline__ void add_products(float (&sum)[kLines],
                                             const float* const (&lines)[kLines], const float* x,
                                             std::int64_t incx, std::int64_t elements, int lane) {
  constexpr int kStep = kLanes * kInFlight;
  const float* line[kLines];
  WARPLADDER_UNROLL
  for (int l = 0; l < kLines; ++l) line[l] = lines[l] + kWidth * lane;
  x += kWidth * lane * incx;
  std::int64_t pieces = elements / kWidth;
  WARPLADDER_NO_UNROLL
  for (; pieces >= kStep; pieces -= kStep) {
    add_products_step<kWidth, kLanes, kInFlight, true>(sum, line, x, incx, lane, 0);
    WARPLADDER_UNROLL
    for (int l = 0; l < kLines; ++l) line[l] += kWidth * kStep;
    x += kWidth * kStep * incx;
  }
  if (pieces > 0) {
    add_products_step<kWidth, kLanes, kInFlight, false>(sum, line, x, incx, lane,
                                                        static_cast<int>(pieces));
  }
}

// sum[l] over the kLanes neighbouring threads that share the lines, in the first of them. Called by
// every thread of the block, once.
template <int kThreads, int kLanes, int kLines>
__device__ __forceinline__ void add_up_threads(float (&sum)[kLines]) {
  constexpr int kInWarp = kLanes < 32 ? kLanes : 32;
  WARPLADDER_UNROLL
  for (int l = 0; l < kLines; ++l) sum[l] = warp::reduce<kInWarp>(sum[l], warp::Sum());
  if constexpr (kLanes > 32) {
    __shared__ float of_warp[kThreads / 32][kLines];
    if (threadIdx.x % 32 == 0) {
      WARPLADDER_UNROLL
      for (int l = 0; l < kLines; ++l) of_warp[threadIdx.x / 32][l] = sum[l];
    }
    __syncthreads();  // the warps' sums are there before the first of them adds them up
    if (threadIdx.x % kLanes == 0) {
      WARPLADDER_UNROLL
      for (int l = 0; l < kLines; ++l) {
        WARPLADDER_UNROLL
        for (int w = 1; w < kLanes / 32; ++w) sum[l] += of_warp[threadIdx.x / 32 + w][l];
      }
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
