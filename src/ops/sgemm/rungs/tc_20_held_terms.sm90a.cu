// Bound before: where k is short, tc_18 and tc_19 wait. Their rings take as long to fill as all of
// the product: 12544×64×147 takes 13.6 µs on an H100, of which its bytes need 4. A tile's first
// copies leave after 1,800 cycles, and a lone producer warp takes 600 for each round.
//
// Idea: no ring. X's terms lie in shared memory for all of k, split once. Y passes them without
// being copied: a warpgroup reads 64 of its lines into the registers from which they are
// multiplied, while it multiplies the round before. Where tiles are few, four warpgroups share one
// tile's k. Whatever a short product executes once, it waits for: so addresses are worked out once,
// and loads ask for nothing but whether a round is whole. Rows of C that are no whole sectors are
// laid down, and stored by neighbouring lanes.
//
// Prediction: 12544×64×147 in 7 µs, 2048×2048×32 in 11 µs, 256×256×256 in 6 µs.
// Measured: 11.1, 11.3 and 8.7 µs, where tc_18 takes 13.6, 15.6 and 9.2, and cuBLAS 12.8, 15.2
// and 9.8; 21552×115×143 (TT) in 21 µs, where they take 30 and 28. Accepts: k up to 1,024. What
// binds it: the way of each round from the L2 cache, for registers have room for one that is under
// way.

#include "ops/sgemm/tensor/held_terms.hpp"
#include "ops/sgemm/tensor/prediction.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_held_tile(shape, *stream.machine, [&]<class C>(const HeldPlan& plan) {
      launch_held_terms<C>(g, batch, trans_a, trans_b, plan.ctas, stream);
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.shuffles = ladder::kNotPredicted;
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
