// Bound before: row_30's copies, where operands come word by word. They take an eighth of what it
// issues at 4095×4097×4099, and unaligned words come from up to twice as many sectors.
//
// Idea: pack operands first, as libraries for CPUs do. A pass lays A or B down across k, in lines
// of whole fours, unless it lies so already. Then all copies of row_30's kernel are of 16 bytes:
// two for each operand, thread and round of 8 along k.
//
// Prediction: 2.6 ms at 4095×4097×4099, where row_30 takes 3.0; for a pass of 4000×4000 elements
// 40 µs. Measured on an H200: 2.65 ms, row_30 3.05, row_20 2.81, cuBLAS 2.94; at 4096×4096×4096
// 2.52 ms, row_30 2.66, row_20 2.71, cuBLAS 2.69.
// Accepts: every problem.
// What binds it: the multiply-adds, and the pass, which moves 8 bytes for each element.

#include "ops/sgemm/rung_packed.hpp"

namespace warpladder::sgemm {
namespace {

EvenShares shares_of(const Problem& p, const runtime::Machine& machine) {
  return even_shares(p, packed_copies(p), machine);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  using C = EvenTile;
  using Operands = EvenOperands<C, false, true, SpreadCopy<C::rows, C::depth, C::threads, false, 4>,
                                SpreadCopy<C::columns, C::depth, C::threads, false, 4>>;
  const EvenShares s = shares_of(problem_of(g, trans_a, trans_b), *stream.machine);
  auto* room = static_cast<float*>(g.workspace);
  const Packing a = packing_of(g.a, g.lda, g.m, g.k, !trans_a, room),
                b = packing_of(g.b, g.ldb, g.n, g.k, trans_b, room);
  EvenGemm e = even_gemm<C>(g, s, room);
  e.lines_a = line_of_slice(g.m);
  e.lines_b = line_of_slice(g.n);
  if (a.to) e.gemm.a = a.to, e.gemm.lda = a.ld_to;
  if (b.to) e.gemm.b = b.to, e.gemm.ldb = b.ld_to;
  launch_even_tiles<Operands>(e, s, launch_pass(a, b, stream), stream);
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  const Problem p = in_layout(call.problem, Layout::row_major);
  return bytes_of_packed(p, shares_of(p, machine));
}

// A is packed.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = predict_even_tiles<EvenTile>(p, shares_of(p, machine));
  t.barriers += barriers_of_packing(p.m, p.k);
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_31_packed_operands) = {.idea = "operands packed across k in front",
                                           .accepts = "every problem",
                                           .launch = launch_in<Layout::row_major, launch>,
                                           .predict = predict_in<Layout::row_major, predict>,
                                           .takes = takes_even,
                                           .workspace_bytes = workspace,
                                           .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
