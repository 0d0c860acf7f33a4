// Bound before: where C has few tiles and k is long, most multiprocessors have no tile. row_11
// gives them slices of k, but its tiles are narrow: of a square C they read the operands too often.
// Idea: square tiles, 32×32, 64×64 or 64×128, and as many slices as keep all multiprocessors busy
// for as long. A model of the time chooses both (ops/sgemm/slices.hpp). Slices are at least so many
// that a thread adds up about 1,024 terms: long sums of one sign lose accuracy. A second kernel
// adds up their sums, in a fixed order.
//
// Prediction (not measured): of tall operands, as 32×32×1000000, 80 % of what memory gives; else 70
// % of the multiply-adds' peak. Accepts: every problem; 16-byte copies where address and leading
// dimension allow. What binds it: shared memory, which gives a lane 16 words for its 64
// multiply-adds; small products, the two launches.

#include "ops/sgemm/rung_sliced.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_square_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    launch_slices<C>(g, trans_a, trans_b, slices, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_square_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    return predict_slices<C>(p, slices);
  });
}

}  // namespace

WARPLADDER_RUNG(row_13_split_k) = {.idea = "square tiles, k parted among all multiprocessors",
                                   .accepts = "every problem; float4 where alignment allows",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   // Below 8.0, without cp.async, it is wrong from PTX of 7.5
                                   // on Hopper; why is not found.
                                   .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
