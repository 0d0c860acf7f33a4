// Bound before: where k is short, tc_18 and tc_19 wait. Their rings take as long to fill as all of
// the product: 12544×64×147 takes 13.6 µs on an H100, of which its bytes need 4. A tile's first
// copies leave after 1,800 cycles, and a lone producer warp takes 600 for each round.
//
// Idea: no ring. X's terms lie in shared memory for all of k, split once. Y passes them without
// being copied. A warpgroup reads 64 of its lines into the registers from which they are
// multiplied, while it multiplies the round before. Where tiles are few, four warpgroups share one
// tile's k. Whatever a short product executes once, it waits for. So addresses are worked out once,
// and loads ask for nothing but whether a round is whole. Rows of C that are no whole sectors are
// laid down, and stored by neighbouring lanes.
//
// Prediction: 12544×64×147 in 7 µs, 2048×2048×32 in 11 µs, 256×256×256 in 6 µs.
// Measured: 11.1, 11.3 and 8.7 µs, where tc_18 takes 13.6, 15.6 and 9.2, and cuBLAS 12.8, 15.2
// and 9.8. 21552×115×143 (TT) takes 21 µs, where they take 30 and 28. Accepts: k up to 1,024. What
// binds it: the way of each round from the L2 cache, for registers have room for one that is under
// way.

#include "ops/sgemm/tensor/held_terms.hpp"
#include "ops/sgemm/tensor/prediction.hpp"

namespace warpladder::sgemm {
namespace {

template <class C, bool kXAlong, bool kYAlong>
__global__ void __launch_bounds__(C::threads, 1) multiply(HeldGemm all) {
  auto& shared = *runtime::dynamic_shared<HeldShared<C>>();
  const SlicedGemm g = all.batch.count == 1 && !all.batch.arrays
                           ? all.lines
                           : lines_of_product(all.lines, all.of, all.batch, blockIdx.z);
  const std::int64_t x0 = std::int64_t{blockIdx.y} * C::tile_x;
  const int warpgroup = ptx::warpgroup();
  const unsigned step = gridDim.x * C::own_tiles;
  unsigned tile = blockIdx.x + (C::slices > 1 ? 0 : gridDim.x * warpgroup);
  HeldX<C, kXAlong> x(g, x0);
  HeldY<C, kYAlong> y(g, tile, step);
  float of_x[C::blocks][8];
  HeldRound ahead;
  x.read(of_x, g);
  y.read(ahead, g);
  unsigned lost = 0;
  hold_terms<C, kXAlong>(shared, g, x, of_x, lost);
  if (C::slices == 1) report_lost(shared, lost);
  __syncthreads();  // X's terms are there
  const bool x_lost = C::slices == 1 && any_lost<C>(shared);
  for (; tile < g.tiles_y.by; tile += step) {
    HeldSums<C> sums;
    add_held_terms<C, kYAlong>(sums, shared, g, C::slices > 1 ? warpgroup : 0, ahead, y, lost);
    bool lossy = x_lost;
    if constexpr (C::slices == 1) {
      lossy |= __any_sync(0xffffffffu, parts::has_lost(lost));
    } else {
      lay_down_slice(shared, sums, warpgroup);
      y.next_tile(g);
      y.read(ahead, g);
      report_lost(shared, lost);
      __syncthreads();  // all slices' sums are there
      lossy = any_lost<C>(shared);
    }
    const std::int64_t y0 = std::int64_t{tile} * C::tile_y;
    HeldPlace<kXAlong, kYAlong> at{x0 + threadIdx.x % 4 * 2, y0 + held_line(), 0.0f};
    if (lossy) at.least = at.template least_of_warp<C>(g);
    g.x_in_lines ? store_held<C, true>(shared, g, sums, at, x0, y0)
                 : store_held<C, false>(shared, g, sums, at, x0, y0);
    if (C::slices > 1 && tile + step < g.tiles_y.by) {
      __syncthreads();  // and have been read
    }
  }
}

template <class C>
void launch_tiles(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b, unsigned ctas,
                  runtime::StreamView& stream) {
  const Slices whole{1, static_cast<int>(tiles(g.k, C::depth)), 0};
  const Lines lines = tiled_lines<C>(g, trans_a, trans_b, whole, rows_are_held(g.m, g.n));
  const SlicedGemm& s = lines.gemm;
  static_assert(held_shared_bytes<C>(C::most_depth / C::depth) <= 227 << 10);
  const runtime::LaunchShape shape{dim3(ctas, s.tiles_x.by, static_cast<unsigned>(batch.count)),
                                   dim3(C::threads), held_shared_bytes<C>(s.rounds)};
  const HeldGemm all{s, g, batch};
  for_transposes(!lines.x_along, lines.y_along, [&]<bool kXAlong, bool kYAcross>() {
    runtime::launch(stream, shape, multiply<C, kXAlong, !kYAcross>, all);
  });
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_held_tile(shape, *stream.machine, [&]<class C>(const HeldPlan& plan) {
      launch_tiles<C>(g, batch, trans_a, trans_b, plan.ctas, stream);
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = no_predicted_accesses();
  const StreamedShape shape{p.m, p.n, p.k, 1, width_for(p.lda, p.ldb)};
  with_held_tile(shape, machine, [&]<class C>(const HeldPlan& plan) {
    const bool rows = rows_are_held(p.m, p.n);
    const std::uint64_t tiles_x = tiles(rows ? p.m : p.n, C::tile_x),
                        tiles_y = tiles(rows ? p.n : p.m, C::tile_y),
                        sums = tiles_x * tiles_y * C::tile_x * C::tile_y;
    t.tensor_fmas = 6 * sums * tiles(p.k, C::depth) * C::depth;
    t.fmas = sums * C::slices;
    // A CTA's warps meet once; over a tile's sums twice, but for the last one.
    t.barriers = C::threads / 32 * tiles_x * (C::slices > 1 ? 2 * tiles_y : plan.ctas);
  });
  return t;
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return fits_held(p.m, p.n, p.k, call.batch.count);
}

}  // namespace

WARPLADDER_RUNG(tc_20_held_terms) = {.idea = "short k: one operand's terms stay, no ring",
                                     .accepts = "k up to 1024, and batches that fit a grid",
                                     .launch = launch,
                                     .predict = predict_in<Layout::row_major, predict>,
                                     .takes = takes,
                                     .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
