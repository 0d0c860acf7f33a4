#pragma once
// The only project header that an sgemv rung includes, parts/ apart.

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/sgemv/gemv.hpp"
#include "ops/sgemv/plan.hpp"

namespace warpladder::sgemv {
inline namespace WARPLADDER_FLAVOUR {

using LaunchRung = void (*)(const Gemv& gemv, device::Stream& stream);
using PredictRung = ladder::Totals (*)(const Gemv& gemv);

template <LaunchRung along, LaunchRung across>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || (p.alpha == 0.0f && p.beta == 1.0f)) return;
  (across_lines(p) ? across : along)(gemv_of(call), stream);
}
template <PredictRung along, PredictRung across>
ladder::Totals predict_call(const void* erased) {
  const Call& call = *static_cast<const Call*>(erased);
  return (across_lines(call.problem) ? across : along)(gemv_of(call));
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv

// Declares the rung of this file: what it does with sums along lines, and across them. Predictions
// count for compact, aligned operands whose sizes are multiples of 128, alpha = 1 and beta = 0.
#define WARPLADDER_SGEMV_RUNG(idea, accepts, along, across, predict_along, predict_across)     \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"sgemv", __FILE__, idea, accepts, ::warpladder::device::kThisFlavour, false,            \
       &::warpladder::sgemv::launch_call<along, across>,                                       \
       &::warpladder::sgemv::predict_call<predict_along, predict_across>})
