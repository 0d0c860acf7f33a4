// Bound before: waiting, and tiles that C does not fill. With a k of some tens, row_26's rings and
// row_27's registers have two or three stages, so a CTA waits as often. row_29's warps share
// nothing: each brings both operands of its tile.
//
// Idea: up to 128, all of k comes to shared memory at once, by copies of as many neighbours as
// addresses allow. A CTA waits once. Lines along k lie there as in memory, and a lane reads four of
// k of each. One to eight warps share a CTA's tile, each with 16×32 or 32×32 of C. They are so many
// side by side and below each other as fit C. A model of the time chooses
// (ops/sgemm/whole_depth.hpp). A row's stores follow each other without a branch, for then fewer
// requests reach the L2 cache.
//
// Prediction: 1,042 of 112×85×34 (NT) in 43 µs, where row_24 takes 56. Measured on an H200: 47.7,
// cuBLAS 51.9; 1,866 of 68×169×58 in 137 µs, where row_29 takes 166 and cuBLAS 159. Of 15,000
// random batches it is the fastest rung on 1,106, there 1.06 times as fast as the others.
// Accepts: every problem, batches in strides or in arrays of pointers. Longer k passes in parts.
// What binds it: the issue slots, of which multiply-adds take two thirds. CTAs that wait for their
// copies at the same time leave a third of all slots empty.

#include "ops/sgemm/rung_whole_depth.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const ThreadedShape shape{g.m, g.n, g.k, batch.count, trans_a, trans_b, false};
    with_whole_tile(shape, *stream.machine, [&]<class C>(const WholePlan& plan) {
      launch_whole<C>(g, batch, trans_a, trans_b, plan, stream);
    });
  });
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return fits_whole(p.m, p.n, p.k, call.batch.count);
}

// Of one product. Lines that C has not are multiplied all the same.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = no_predicted_accesses();
  t.shuffles = 0;
  with_whole_tile(threaded_shape(p, 1), machine, [&]<class C>(const WholePlan& plan) {
    const std::uint64_t warps = tiles(p.m, C::warp_x) * tiles(p.n, C::warp_y),
                        ctas = tiles(p.m, C::warp_x * plan.warps_x) *
                               tiles(p.n, C::warp_y * plan.warps_y),
                        parts = tiles(p.k, whole_depth(p.k));
    t.fmas = warps * C::warp_x * C::warp_y * tiles(p.k, 4) * 4;
    t.barriers = ctas * plan.warps_x * plan.warps_y * (2 * parts - 1);
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_32_whole_depth) = {.idea = "all of k at once, in tiles that warps share",
                                       .accepts = "every problem, and batches",
                                       .launch = launch,
                                       .predict = predict_in<Layout::row_major, predict>,
                                       .takes = takes,
                                       .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
