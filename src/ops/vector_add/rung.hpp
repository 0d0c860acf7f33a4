#pragma once
// The only project header that a vector_add rung includes, parts/ apart.

#include "ladder/rung.hpp"
#include "ops/vector_add/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::vector_add {
inline namespace WARPLADDER_FLAVOUR {

// launch() is called with n of at least 1. `predict` counts for aligned operands and n a multiple
// of 256.
using LaunchRung = void (*)(const Call& call, runtime::StreamView& stream);

template <LaunchRung launch>
void launch_call(const Call& call, runtime::StreamView& stream) {
  if (call.n > 0) launch(call, stream);
}
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(call, machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::vector_add
