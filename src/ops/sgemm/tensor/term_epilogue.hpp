#pragma once
// The end of a tile whose sums were made of bfloat16 terms (term_tiles.hpp): what the terms cannot
// represent is multiplied again in FP32, and C or the slice's sums are stored.

#include "ops/sgemm/tensor/term_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The part of an operand that a slice of a tile multiplies.
struct TermPart {
  const float* data;
  std::int64_t along, across;  // between neighbours along k, and between lines
  std::int64_t lines, depth;
};
template <class C>
__device__ __forceinline__ TermPart term_part(const LineOperand& x, bool is_along,
                                              std::int64_t line0, int lines, const SlicedGemm& g,
                                              const SlicedTile& tile) {
  const std::int64_t k0 = std::int64_t{tile.first} * C::depth,
                     k1 = std::int64_t{tile.end} * C::depth, left = x.lines - line0;
  const std::int64_t along = is_along ? 1 : x.ld, across = is_along ? x.ld : 1;
  return {x.data + line0 * across + k0 * along, along, across, left < lines ? left : lines,
          (k1 < g.k ? k1 : g.k) - k0};
}

// The largest finite magnitude that the threads of a warp see together.
template <class C>
__device__ __forceinline__ unsigned largest_of_warp(const TermPart& x) {
  unsigned most = 0;
  const bool is_along = x.along == 1;
  const std::int64_t fast = is_along ? x.depth : x.lines;
  for (std::int64_t e = threadIdx.x; e < x.lines * x.depth; e += C::consumers) {
    const std::int64_t k = is_along ? e % fast : e / fast, line = is_along ? e / fast : e % fast;
    const unsigned bits = __float_as_uint(x.data[k * x.along + line * x.across]) & 0x7fffffffu;
    if (bits < 0x7f800000u && bits > most) most = bits;
  }
  return __reduce_max_sync(0xffffffffu, most);
}

// Sums below this may be wrong for what the terms have lost; 0 if they lost nothing. A lost share
// of a number changes a product by as much of the largest number on the other side.
// Called by all consumers, which have a barrier between all shared.lost and this.
template <class C>
__device__ __forceinline__ float least_exact_sum(TermShared<C>& shared, const TermPart& x,
                                                 const TermPart& y) {
  unsigned lost = 0;
  WARPLADDER_UNROLL
  for (int warp = 0; warp < C::threads / 32; ++warp) lost |= shared.lost[warp];
  if (lost == 0) return 0.0f;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const unsigned of_x = largest_of_warp<C>(x), of_y = largest_of_warp<C>(y);
  if (threadIdx.x % 32 == 0) {
    shared.most[0][warp] = of_x;
    shared.most[1][warp] = of_y;
  }
  sync_consumers<C>();  // all warps' are there
  unsigned most[2] = {0, 0};
  for (int other = 0; other < C::warps; ++other) {
    most[0] = max(most[0], shared.most[0][other]);
    most[1] = max(most[1], shared.most[1][other]);
  }
  // 2^-25 of the sum may be lost, half of what rounding it may lose.
  constexpr float kShare = 0x1p25f * parts::kLostByTerms;
  const float depth = static_cast<float>(x.depth) * kShare;
  return depth * __uint_as_float(most[0]) + depth * __uint_as_float(most[1]);
}

// A sum again, by FP32 multiply-adds.
__device__ __forceinline__ float multiply_again(const TermPart& x, const TermPart& y, int line_x,
                                                int line_y) {
  const float *from_x = x.data + line_x * x.across, *from_y = y.data + line_y * y.across;
  float sum = 0.0f;
  WARPLADDER_NO_UNROLL
  for (std::int64_t k = 0; k < x.depth; ++k) {
    sum = fmaf(*from_x, *from_y, sum);
    from_x += x.along;
    from_y += y.along;
  }
  return sum;
}

// Neighbouring threads store neighbours in memory. All consumers call it, when the sums are laid
// down.
template <class C>
__device__ __forceinline__ void store_terms(TermShared<C>& shared, const SlicedGemm& g,
                                            const SlicedTile& tile, const TermPart& part_x,
                                            const TermPart& part_y) {
  constexpr float kLarge = 0x1p127f;  // the tensor cores' largest sum may stand for an infinity
  const float least = least_exact_sum<C>(shared, part_x, part_y);
  const std::int64_t elements = g.x.lines * g.y.lines;
  WARPLADDER_UNROLL_BY(4)
  for (int e = static_cast<int>(threadIdx.x); e < C::tile_x * C::tile_y; e += C::consumers) {
    const int x = g.x_in_lines ? e % C::tile_x : e / C::tile_y,
              y = g.x_in_lines ? e / C::tile_x : e % C::tile_y;
    if (x >= part_x.lines || y >= part_y.lines) continue;
    float sum = shared.sums[x][y];
    if (!(fabsf(sum) < kLarge && fabsf(sum) >= least)) {
      sum = multiply_again(part_x, part_y, x, y);
    }
    const std::int64_t to_x = tile.x0 + x, to_y = tile.y0 + y;
    if (g.slices == 1) {
      store_scaled(&g.c[to_x * g.c_x + to_y * g.c_y], g.alpha, sum, g.beta);
    } else {
      g.partial[tile.slice * elements + to_x * g.partial_x + to_y * g.partial_y] = sum;
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
