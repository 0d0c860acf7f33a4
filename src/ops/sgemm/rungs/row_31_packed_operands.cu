// Bound before: row_30's copies, where operands come word by word. They take an eighth of what it
// issues at 4095×4097×4099, and unaligned words come from up to twice as many sectors.
//
// Idea: pack operands first, as libraries for CPUs do. A pass lays A or B down across k, in lines
// of whole fours, unless it lies so already. Then all copies of row_30's kernel are of 16 bytes:
// two for each operand, thread and round of 8 along k.
//
// Prediction: 2.6 ms at 4095×4097×4099, where row_30 takes 3.0; for a pass of 4000×4000 elements
// 40 µs. Measured on an H200: 2.77 ms, row_30 3.05, row_20 2.81, cuBLAS 2.94; at 4096×4096×4096
// 2.58 ms, row_30 2.66, row_20 2.71, cuBLAS 2.69.
// Accepts: every problem.
// What binds it: the multiply-adds, and the pass, which moves 8 bytes for each element.

#include "ops/sgemm/rung_packed.hpp"

namespace warpladder::sgemm {
namespace {

EvenShares shares_of(const Problem& p, const runtime::Machine& machine) {
  return even_shares(p, packed_copies(p), machine);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  launch_packed(g, trans_a, trans_b, shares_of(problem_of(g, trans_a, trans_b), *stream.machine),
                stream);
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  const Problem p = in_layout(call.problem, Layout::row_major);
  return bytes_of_packed(p, shares_of(p, machine));
}

// A is packed.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = predict_even_tiles(shares_of(p, machine));
  t.barriers += tiles(p.m, kPackLines) * tiles(p.k, kPackDepth) * (kPackThreads / 32);
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
