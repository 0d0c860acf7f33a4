// Bound before: row_16's CTAs stay, with rings of stages and tiles of 64×32 at least. Where k is
// short the ring has not filled before the product ends, and where C is thin most of a tile is
// empty. row_15's threads have no shared memory: six loads for 32 multiply-adds.
// Idea: a CTA is one warp with a tile of 32×32, 16×64, 64×16 or 8×128 of C; a lane has 8×4 of it.
// Of k it takes 32 at once, or 8. No barrier, and no ring: twenty such CTAs on a multiprocessor
// wait for their operands while others multiply. And tiles fit what is small or thin.
//
// Prediction: for k of 4 to 64 1.2 times as fast as the best of the rungs before. Measured on an
// H100, on random batches: 1.1 times for k up to 16, 1.2 up to 32, 1.07 up to 64, then the same.
// Accepts: every problem, batches in strides or in arrays of pointers; copies of 16 bytes where
// addresses allow.
// What binds it: memory up to k = 8; then shared memory, which gives a lane 12 words for its 32
// multiply-adds.

#include "ops/sgemm/rung_lone_warps.hpp"

namespace warpladder::sgemm {
namespace {

// The tiles, and how many of a product's lie side by side.
struct Deal {
  DealtTiles tiles;
  parts::Divisor across;
};

template <class C, bool kXAlong, bool kYAlong, bool kSingly>
__global__ void __launch_bounds__(C::threads, C::resident)
    multiply(Gemm g, Batch batch, Deal deal) {
  using Tile = LoneTile<C, kXAlong, kYAlong, kSingly>;
  __shared__ __align__(16) typename Tile::Operands shared;
  for (DealtTile at(deal.tiles, blockIdx.x); at.product < batch.count; at.advance(deal.tiles)) {
    const ProductOperands operands = operands_of(g, batch, at.product);
    const auto [down, across] = deal.across(at.tile);
    Tile tile(std::int64_t{down} * C::tile_x, std::int64_t{across} * C::tile_y);
    tile.multiply(shared, g, operands);
    tile.store(operands.c, g);
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const ThreadedShape shape{
        g.m, g.n, g.k, batch.count, trans_a, trans_b, (g.n | g.k | g.lda | g.ldb) % 4 == 0};
    const bool vectors = !batch.arrays && reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0 &&
                         (g.ldc | batch.stride_c) % 4 == 0;
    with_lone_warp(shape, *stream.machine, [&]<class C>(double) {
      constexpr std::int64_t kMostBlocks = 1 << 30;
      const std::int64_t across = tiles(g.n, C::tile_y),
                         of_product = tiles(g.m, C::tile_x) * across,
                         blocks = std::min(batch.count * of_product, kMostBlocks);
      const Deal deal{DealtTiles::of(of_product, blocks), parts::Divisor::of(across)};
      const dim3 grid(static_cast<unsigned>(blocks));
      const runtime::LaunchShape launched{grid, dim3(C::threads)};
      for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
        if constexpr (!kBRows) {
          runtime::launch(stream, launched, multiply<C, kARows, true, true>, g, batch, deal);
        } else {
          runtime::launch(
              stream, launched,
              vectors ? multiply<C, kARows, false, false> : multiply<C, kARows, false, true>, g,
              batch, deal);
        }
      });
    });
  });
}

// Of one product, of whole tiles and parts of k.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  with_lone_warp(threaded_shape(p, 1), machine, [&]<class C>(double) {
    const std::uint64_t ctas = p.m * p.n / (C::tile_x * C::tile_y), steps = ctas * (p.k / 4);
    t.global_load_requests = ctas * (C::tile_x + C::tile_y) * p.k / 128;
    t.global_load_sectors = 16 * t.global_load_requests;
    t.shared_store_requests = t.global_load_requests;
    t.shared_store_wavefronts = 4 * t.shared_store_requests;
    t.shared_load_requests = (C::lane_x + C::lane_y) * steps;
    t.shared_load_wavefronts = (2 * C::lane_x + 4 * C::lane_y) * steps;  // neighbours share x
    t.global_store_requests = p.m * p.n / 128;
    t.global_store_sectors = 16 * t.global_store_requests;
    t.fmas = p.m * p.n * p.k;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_23_lone_warps) = {.idea = "a CTA is one warp, twenty on a multiprocessor",
                                      .accepts = "every problem, and batches",
                                      .launch = launch,
                                      .predict = predict_in<Layout::row_major, predict>,
                                      .takes = takes_batches,
                                      .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
