#pragma once
// The only project header that a vector_add rung includes, parts/ apart.

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::vector_add {
inline namespace WARPLADDER_FLAVOUR {

// launch() is called with n of at least 1.
using LaunchRung = void (*)(const Call& call, device::Stream& stream);
using PredictRung = ladder::Totals (*)(const Call& call);

template <LaunchRung launch>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  if (call.n > 0) launch(call, stream);
}
template <PredictRung predict>
ladder::Totals predict_call(const void* erased) {
  return predict(*static_cast<const Call*>(erased));
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::vector_add

// Declares the rung of this file. `predict` counts for aligned operands and n a multiple of 256.
#define WARPLADDER_VECTOR_ADD_RUNG(idea, accepts, launch, predict)                             \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"vector_add", __FILE__, idea, accepts, ::warpladder::device::kThisFlavour, false,       \
       &::warpladder::vector_add::launch_call<launch>,                                         \
       &::warpladder::vector_add::predict_call<predict>})
