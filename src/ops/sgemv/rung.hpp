#pragma once
// The only project header that an sgemv rung includes, parts/ apart.

#include "ladder/rung.hpp"
#include "ops/sgemv/gemv.hpp"
#include "ops/sgemv/shape.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemv {
inline namespace WARPLADDER_FLAVOUR {

// What a rung is made from: what it does with sums along lines, and across them. Predictions count
// for compact, aligned operands whose sizes are multiples of 128, alpha = 1 and beta = 0.
using LaunchRung = void (*)(const Gemv& gemv, runtime::StreamView& stream);

template <LaunchRung along, LaunchRung across>
void launch_call(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || (p.alpha == 0.0f && p.beta == 1.0f)) return;
  (across_lines(p) ? across : along)(gemv_of(call), stream);
}
template <auto along, auto across>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return across_lines(call.problem) ? ladder::predicted<across>(gemv_of(call), machine)
                                    : ladder::predicted<along>(gemv_of(call), machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv
