// Bound before: tiles that hold too few sums. row_24 and row_26 multiply batches in up to 8×8 sums
// a thread. Each CTA has a whole tile or a slice of it, so a last wave may be nearly empty.
//
// Idea: row_33's tiles and row_30's, as operands lie, numbered product by product. CTAs share all
// rounds of all products evenly where that is faster than a tile for each, and a model chooses.
// Either operand may be A, for a tile's longer side may waste less along it.
//
// Prediction: of the batches on which cuBLAS is faster than all other rungs on CUDA cores, a third.
// Measured on an H200: of 15,000 random batches it is the fastest such rung on 2,336, there 1.08
// times as fast as the others. 687 of 100×80×321 (TT) take 131 µs, where others take 169 and cuBLAS
// 148. The best rung takes over 1.02 times as long as cuBLAS on 566; without it on 908.
// Accepts: every problem, batches in strides or in arrays of pointers.
// What binds it: the multiply-adds; where words along k are copied one by one also shared memory.

#include "ops/sgemm/rung_even_batches.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const Problem p = problem_of(g, trans_a, trans_b);
    with_batch_tile(p, batch.count, *stream.machine, [&]<class Form>(const EvenShares& s) {
      using C = typename Form::Tile;
      const bool turned = Form::is_turned(p);
      if (std::max(g.lda, g.ldb) <= kMostSpreadLd<C>) {
        launch_even_batch<C, false>(g, batch, in_form<Form>(p), s, turned, stream);
      } else {
        launch_even_batch<Low64, true>(g, batch, in_form<Form>(p),
                                       whole_shares<Low64>(in_form<Form>(p), batch.count), turned,
                                       stream);
      }
    });
  });
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  const Problem p = in_layout(call.problem, Layout::row_major);
  return with_batch_tile(p, call.batch.count, machine, [&]<class Form>(const EvenShares& s) {
    return bytes_of_even_shares<typename Form::Tile>(in_form<Form>(p), s);
  });
}

// Of one product.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_batch_tile(p, 1, machine, [&]<class Form>(const EvenShares& s) {
    return predict_even_tiles<typename Form::Tile>(p, s);
  });
}

bool takes(const Call& call) { return fits_even_batch(call.problem, call.batch.count); }

}  // namespace

WARPLADDER_RUNG(row_34_even_batches) = {.idea = "even shares of a batch's tiles, as operands lie",
                                        .accepts = "every problem, and batches",
                                        .launch = launch,
                                        .predict = predict_in<Layout::row_major, predict>,
                                        .takes = takes,
                                        .workspace_bytes = workspace,
                                        .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
