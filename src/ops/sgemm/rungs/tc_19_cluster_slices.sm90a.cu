// Bound before: tc_15 parts k among CTAs, which write their sums to memory, and a second kernel
// reads them and adds them up. That takes 5 µs of 40. tc_18 does not part k: of 512×512×512 each of
// its CTAs multiplies all 16 rounds, and half of the multiprocessors have no second CTA.
//
// Idea: slices that meet in a cluster. Up to eight CTAs have a slice of one tile's k each. They lay
// their sums down in shared memory. Each adds up a share of the tile's rows, in the slices' order,
// from the shared memory of all. That is one launch without a workspace, and a batch's products
// follow each other in the grid. A sum that the terms cannot represent is multiplied again, over
// all of k. A cluster lies within one group of multiprocessors, of which some stay idle: a model
// chooses the tile and the number of slices.
//
// Prediction: 512×512×512 in 10 µs on an H100, 96×3072×768 in 13 µs. Measured: 11.3 and 17.6 µs,
// where row_14 takes 13.8 and 23.3, and cuBLAS 15.9 and 25.6. And 32×4096×4096 in 35 µs, where
// tc_15 takes 38; 64 of 50×50×2000 in 35 µs, where tc_18 takes 58 and cuBLAS 81.
// Accepts: every problem, and batches that fit a grid. Lines may begin at any word: copies take 16
// bytes all the same (term_shifts.hpp).
// What binds it: memory for up to 32 lines. Of small products the launch, the first round's way
// from memory, and the cluster's two barriers. Releases by all threads, and another one behind
// the stores of C, cost 0.5 µs more.

#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/term_cluster.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_cluster_tile(shape, *stream.machine, [&]<class C>(const Slices& slices) {
      constexpr std::int64_t kBrief = 6;
      const bool shifts =
          begins_anywhere(g, batch) && !is_brief(shape, tiles(slices.rounds, slices.count), kBrief);
      with_shifts<C>(shifts, [&]<class Own>() {
        launch_in_clusters<Own>(g, batch, trans_a, trans_b, slices, stream);
      });
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const StreamedShape shape{p.m, p.n, p.k, 1, width_for(p.lda, p.ldb)};
  return with_cluster_tile(shape, machine, [&]<class C>(const Slices& slices) {
    const std::int64_t x = std::min(p.m, p.n), y = std::max(p.m, p.n);
    const std::uint64_t tiles_of_c = tiles(x, C::tile_x) * tiles(y, C::tile_y),
                        ctas = tiles_of_c * slices.count, rounds = tiles_of_c * slices.rounds;
    ladder::Totals t = predict_rounds_of_terms<C>(p, rounds, ctas);
    t.global_store_requests = tiles_of_c * (C::tile_x * C::tile_y / 128);
    t.global_store_sectors = 16 * t.global_store_requests;
    t.barriers += (3 * (C::threads / 32) + 2 * C::warps) * ctas;
    t.shuffles = C::threads / 32 * ctas;  // a vote
    return t;
  });
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return fits_clusters(p.m, p.n, call.batch.count);
}

}  // namespace

WARPLADDER_RUNG(tc_19_cluster_slices) = {
    .idea = "slices of k that meet in a cluster, without a second kernel",
    .accepts = "every problem, and batches that fit a grid",
    .launch = launch,
    .predict = predict_in<Layout::row_major, predict>,
    .takes = takes,
    .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
