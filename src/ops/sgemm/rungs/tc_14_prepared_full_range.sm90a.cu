// Bound before: tc_10 splits both operands at every call, although one of them, such as a layer's
// weights, is often the same. tc_11 splits it once, but takes moderate values alone.
//
// Idea: keep B as both kinds of pairs, and what FP16 pairs lose of it. A call splits A and runs
// tc_10's product, which reads B's loss beside A's and decides as tc_10 does. The TF32 path splits
// A alone, too. The result is tc_10's, bit by bit.
//
// Prediction: tc_10's multiply-adds and bytes, and the barriers of a pass over A alone. On an H100,
// at 4096³ it takes 45 µs less than tc_10. At 64×4096×4096 it takes less than half of tc_10's time,
// since there the pass over B is most of it.
// Accepts: every problem, after B was prepared. Of column-major operands B is the product's first
// operand, because they are exchanged: Cᵀ = Bᵀ·Aᵀ. A prepared B takes 12 bytes an element, beside
// B itself, which elements that no pairs represent are computed from.
// What binds it: what binds tc_10, and for few rows of A the bytes of B's pairs. If FP16 pairs do
// not suffice for B, every call still splits A into them first.

#include "ops/sgemm/rung_full_range.hpp"
#include "ops/sgemm/tensor/prepared.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs, parts::Tf32Pairs;

// The operand that a call splits.
Operands to_split(const Call& row_major) {
  return row_major.prepared_a ? Operands::b : Operands::a;
}

void prepare(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (given.problem.n == 0 || p.k == 0) return;
  prepare_operand(gemm_of(call), p.trans_a, p.trans_b, other(to_split(call)),
                  call.prepared_a ? call.prepared_a : call.prepared_b, stream);
}

// Nothing is multiplied, but the product wants operands: both of them, as zeros.
void launch_without_products(Gemm g, const Problem& p, runtime::StreamView& stream) {
  g.k = 0;
  const SplitGemm tf32 = split_in_workspace<Tf32Pairs>(g, p.trans_a, p.trans_b, *stream.machine,
                                                       SplitPass::by_tickets);
  launch_multiply<true>(g, launch_split<HalfPairs>(g, p.trans_a, p.trans_b, stream), tf32, stream);
}

void launch(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  const Gemm g = gemm_of(call);
  if (p.alpha == 0.0f || p.k == 0) return launch_without_products(g, p, stream);
  const Operands which = to_split(call);
  void* const prepared = call.prepared_a ? call.prepared_a : call.prepared_b;
  SplitGemm halves = split_beside_prepared<HalfPairs>(g, p.trans_a, p.trans_b, which, prepared,
                                                      *stream.machine, SplitPass::own_kernel);
  launch_pass<HalfPairs>(halves, stream);
  operand_of(halves, other(which)).blocks = 1;  // for its loss, which is a single one
  launch_multiply<true>(g, halves,
                        split_beside_prepared<Tf32Pairs>(g, p.trans_a, p.trans_b, which, prepared,
                                                         *stream.machine, SplitPass::by_tickets),
                        stream);
}

ladder::Totals predict(const Call& given, const runtime::Machine& machine) {
  const Call call = in_layout(given, Layout::row_major);
  const Operands which = to_split(call);
  Problem p = call.problem;
  // The operand that is not split does not want clusters of the pass.
  (which == Operands::a ? p.trans_b : p.trans_a) = which == Operands::a;
  return predict_multiply(p, machine, which);
}

bool takes(const Call& call) { return (call.prepared_a || call.prepared_b) && is_single(call); }

}  // namespace

WARPLADDER_RUNG(tc_14_prepared_full_range) = {.idea = "tc_10 with a B that was split once",
                                              .accepts = "single products, after preparing B",
                                              .launch = launch,
                                              .predict = predict,
                                              .takes = takes,
                                              .prepare = prepare,
                                              .arithmetic = in_halves(16),
                                              .takes_source = true};

}  // namespace warpladder::sgemm
