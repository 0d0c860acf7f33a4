// Bound before: tiles of 128×128. Of 72 rows row_30 multiplies 128. Its CTAs have half as many
// warps as fit, and wait longer for what they copy. A few rows that lie along k come word by word.
//
// Idea: row_30's even shares in tiles of 32, 64 or 96 by 128, or of 32 or 64 by 64, of which a
// model chooses. The smaller operand is packed across k in front, as row_31 packs both: it is
// little. Where a product is over sooner than a pass, it comes as it lies. If C has fewer columns
// than rows, its transpose is multiplied, so the smaller operand is always A. Padding in shared
// memory lets just so many CTAs stay on a multiprocessor as each is to have. They may start while
// the pass still runs.
//
// Prediction: three quarters of row_30's time at 92×5433×7617 (NT): it multiplies so much less.
// Measured on an H200: 190 µs, where row_30 takes 240 and cuBLAS 227. At 26×37604×1028 68 µs, where
// row_26 takes 88 and cuBLAS 82; at 84×640×25472 (TN), in 52 slices, 72 µs, and cuBLAS 185.
// Accepts: every problem.
// What binds it: the multiply-adds; of words along k also shared memory, which takes four cycles
// for what a warp copies. Words across k come by way of registers.

#include "ops/sgemm/rung_low_tiles.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const Problem given = problem_of(g, trans_a, trans_b), p = smaller_first(given);
  const bool turned = given.m > given.n;
  with_low_tile(p, *stream.machine, [&]<class Form>(const EvenShares& s) {
    if (std::max(g.lda, g.ldb) <= kMostSpreadLd<typename Form::Tile>) {
      launch_low_tiles<Form, false>(g, p, s, turned, stream);
    } else {
      launch_low_tiles<LowForm<Low64, false>, true>(g, p, whole_shares<Low64>(p), turned, stream);
    }
  });
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  const Problem p = smaller_first(in_layout(call.problem, Layout::row_major));
  return with_low_tile(
      p, machine, [&]<class Form>(const EvenShares& s) { return bytes_of_low_tiles<Form>(p, s); });
}

ladder::Totals predict(const Problem& given, const runtime::Machine& machine) {
  const Problem p = smaller_first(given);
  return with_low_tile(p, machine, [&]<class Form>(const EvenShares& s) {
    ladder::Totals t = predict_even_tiles<typename Form::Tile>(given, s);
    if (packs_smaller<Form>(p)) t.barriers += barriers_of_packing(p.m, p.k);
    return t;
  });
}

bool takes(const Call& call) { return !call.batch.arrays && fits_low_tiles(call.problem); }

}  // namespace

WARPLADDER_RUNG(row_33_low_tiles) = {
    .idea = "even shares of lower tiles, the smaller operand packed",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .takes = takes,
    .workspace_bytes = workspace,
    .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
