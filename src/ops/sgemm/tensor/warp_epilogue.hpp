#pragma once
// The epilogue of a product by warps: a warp's sums become elements of C, straight from registers.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/warp_product.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Stores the sums of a warp whose tile begins at `corner`. kFull: two columns at a time, all of
// which lie in C, with beta = 0.
template <bool kFull, class Config>
__device__ __forceinline__ void store_warp_rows(const Gemm& g, const SplitGemm& s,
                                                const WarpSums<Config>& tile, TileOrigin corner) {
  constexpr int kRows = WarpSums<Config>::kRows, kColumns = WarpSums<Config>::kColumns;
  const int lane = threadIdx.x % 32;
  const std::int64_t column = corner.column + lane % 4 * 2;
  float of_column[kColumns][2];
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < kColumns; ++j) {
    WARPLADDER_UNROLL_ON_GPU
    for (int e = 0; e < 2; ++e) {
      const std::int64_t at = column + 8 * j + e;
      of_column[j][e] = kFull || at < g.n ? s.b.factor[at] : 0.0f;
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 2 * kRows; ++i) {
    const std::int64_t row = corner.row + 8 * i + lane / 4;
    if (row >= g.m) break;
    const float of_row = s.a.factor[row];
    float* const to = g.c + row * g.ldc + column;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < kColumns; ++j) {
      const float left = tile.sums[i / 2][j][i % 2 * 2] * of_row * of_column[j][0],
                  right = tile.sums[i / 2][j][i % 2 * 2 + 1] * of_row * of_column[j][1];
      if constexpr (kFull) {
        __stcs(reinterpret_cast<float2*>(to + 8 * j), make_float2(g.alpha * left, g.alpha * right));
        continue;
      }
      if (!is_representable(of_row)) continue;
      const std::int64_t left_in_c = g.n - column - 8 * j;
      if (left_in_c > 0 && is_representable(of_column[j][0])) {
        store_scaled(to + 8 * j, g.alpha, left, g.beta);
      }
      if (left_in_c > 1 && is_representable(of_column[j][1])) {
        store_scaled(to + 8 * j + 1, g.alpha, right, g.beta);
      }
    }
  }
}

// Stores a warp's tile, whose first element in C is `corner`. Called by the warp's 32 lanes.
template <class Pairs, class Config>
__device__ __forceinline__ void store_warp(const Gemm& g, const SplitGemm& s,
                                           const WarpSums<Config>& tile, TileOrigin corner) {
  constexpr int kRows = Config::value.warp_m(), kColumns = Config::value.warp_n();
  const bool representable = all_representable<Pairs>(g, s, corner, kRows, kColumns);
  const bool aligned = reinterpret_cast<std::uintptr_t>(g.c) % 8 == 0 && g.ldc % 2 == 0;
  if (representable && aligned && g.beta == 0.0f && corner.column + kColumns <= g.n) {
    store_warp_rows<true>(g, s, tile, corner);
  } else {
    store_warp_rows<false>(g, s, tile, corner);
  }
  if (!representable) {
    multiply_unsplit(g, s, corner.row, kRows, corner.column, kColumns, threadIdx.x % 32, 32);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
