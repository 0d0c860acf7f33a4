// Bound before: row_07's tile is 128×128. Where C has 8 rows, fifteen of sixteen multiply-adds are
// of rows that it does not have, and few tiles leave most multiprocessors idle.
// Idea: where m or n is small the large operand is read once, and that is what binds. Tiles are
// as narrow as C: 8×128, 16×128 or 32×64, whichever of m and n is the small one. Each warp of a CTA
// multiplies other rows of k. They come from stages in shared memory that are its own, filled by
// asynchronous copies of 16 bytes; no barrier holds the copies up. k is also parted among CTAs, the
// slices, so that all multiprocessors read; a second kernel adds up their sums in a fixed order.
//
// Prediction (not measured): 75 % of what memory gives up to 16 rows; from 32 rows on 70 % of the
// multiply-adds' peak.
// Accepts: every problem; 16-byte copies where address and leading dimension allow.
// What binds it: memory; from 32 rows on shared memory, which gives a lane 16 words for its 64
// multiply-adds.

#include "ops/sgemm/rung_sliced.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_narrow_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    launch_slices<C>(g, trans_a, trans_b, slices, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_narrow_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    return predict_slices<C>(p, slices);
  });
}

}  // namespace

WARPLADDER_RUNG(row_11_few_rows) = {.idea = "narrow tiles, k parted among warps and CTAs",
                                    .accepts = "every problem; float4 where alignment allows",
                                    .launch = launch_in<Layout::row_major, launch>,
                                    .predict = predict_in<Layout::row_major, predict>,
                                    // Below 8.0, without cp.async, it is wrong from PTX of 7.5
                                    // on Hopper; why is not found.
                                    .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
