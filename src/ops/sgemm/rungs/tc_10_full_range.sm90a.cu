// Bound before: FP16 pairs do not hold every number. tc_09 is silently wrong if the elements of a
// row or column differ too much in magnitude, and for infinities.
//
// Idea: the split pass also counts precision loss (parts/split.hpp). While the first chunks are
// multiplied, three idle warps of every block add up the counts and decide. If FP16 pairs do not
// suffice, the blocks split the operands again, into TF32 pairs by tickets, and multiply those:
// half the rate, FP32's range. Rows and columns that TF32 pairs cannot represent either
// (infinities, NaN, too wide a range) are multiplied in FP32 arithmetic. The host learns nothing of
// it. Blocks of the pass leave early once some block has counted too much, by a word that the
// product clears. A last wave with few tiles is launched apart (tensor/last_wave.hpp).
//
// Prediction: where FP16 pairs suffice, tc_09's multiply-adds, bytes and barriers, with a vote in
// each block of the pass beyond the first wave. Sums are promoted every 32 of k instead of 64 for
// accuracy, which should cost 1 % at 4096³ and 6 % at 1024³. Measured on an H200, counting
// included: 610 instead of 596 µs (2 %), and 23.2 instead of 19.5 µs (19 %). Accepts: every
// problem. What binds it: what binds tc_09. For wide operands TF32's rate and the second
// split: 1.14 ms at 4096³.

#include "ops/sgemm/rung_full_range.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs, parts::Tf32Pairs;

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm tf32 =
      split_in_workspace<Tf32Pairs>(g, trans_a, trans_b, *stream.machine, SplitPass::by_tickets);
  launch_multiply<false>(g, launch_split<HalfPairs>(g, trans_a, trans_b, stream), tf32, stream);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_multiply(p, machine);
}

}  // namespace

WARPLADDER_RUNG(tc_10_full_range) = {
    .idea = "TF32 pairs where FP16 pairs do not fit, decided on the device",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .arithmetic = in_halves(16),
    .takes_source = true};

}  // namespace warpladder::sgemm
