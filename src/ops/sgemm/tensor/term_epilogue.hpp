#pragma once
// The end of a tile whose sums were made of bfloat16 terms (term_tiles.hpp). What the terms cannot
// represent is multiplied again in FP32, and C or the slice's sums are stored.

#include "ops/sgemm/tensor/term_part.hpp"
#include "ops/sgemm/tensor/term_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The part of an operand that a slice of a tile multiplies.
template <class C>
__device__ __forceinline__ TermPart term_part(const LineOperand& x, bool is_along,
                                              std::int64_t line0, int lines, const SlicedGemm& g,
                                              const SlicedTile& tile) {
  const TermDepth slice = term_depth<C>(g, tile);
  const std::int64_t left = x.lines - line0;
  return part_of_lines(x.data, x.ld, is_along, line0, left < lines ? left : lines, slice.k0,
                       slice.depth);
}

// Sums below this may be wrong for what the terms have lost; 0 if they lost nothing.
// Called by all consumers, which have a barrier between all shared.lost and this.
template <class C>
__device__ __forceinline__ float least_exact_sum(TermShared<C>& shared, const TermPart& x,
                                                 const TermPart& y) {
  unsigned lost = 0;
  WARPLADDER_UNROLL_ON_GPU
  for (int warp = 0; warp < C::threads / 32; ++warp) lost |= shared.lost[warp];
  if (lost == 0) return 0.0f;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto largest_of_warp = [](const TermPart& part) {
    return __reduce_max_sync(0xffffffffu, largest_of_lane(part, threadIdx.x, C::consumers));
  };
  const unsigned of_x = largest_of_warp(x), of_y = largest_of_warp(y);
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
  return least_exact_sum(x.depth, most[0], most[1]);
}

// A sum of a tile over all of k again, where a slice's was not right or they do not fit a float.
template <bool kXAlong, bool kYAlong>
__device__ WARPLADDER_INLINE_ON_GPU void make_right(float& sum, const SlicedGemm& g,
                                                    const SlicedTile& tile, std::int64_t x,
                                                    std::int64_t y) {
  if (is_right(sum, 0.0f)) return;
  sum = multiply_again(part_of_lines(g.x.data, g.x.ld, kXAlong, tile.x0, g.x.lines, 0, g.k),
                       part_of_lines(g.y.data, g.y.ld, kYAlong, tile.y0, g.y.lines, 0, g.k), x, y);
}

// Neighbouring threads store neighbours in memory. All consumers call it, when the sums are laid
// down.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void store_terms(TermShared<C>& shared, const SlicedGemm& g,
                                                     const SlicedTile& tile, const TermPart& part_x,
                                                     const TermPart& part_y) {
  const float least = least_exact_sum<C>(shared, part_x, part_y);
  const std::int64_t elements = g.x.lines * g.y.lines;
  WARPLADDER_UNROLL_BY(4)
  for (int e = static_cast<int>(threadIdx.x); e < C::tile_x * C::tile_y; e += C::consumers) {
    const int x = g.x_in_lines ? e % C::tile_x : e / C::tile_y,
              y = g.x_in_lines ? e / C::tile_x : e % C::tile_y;
    if (x >= part_x.lines || y >= part_y.lines) continue;
    float sum = shared.sums[x][y];
    if (!is_right(sum, least)) sum = multiply_again(part_x, part_y, x, y);
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
