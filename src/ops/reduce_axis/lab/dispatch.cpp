#include "ops/reduce_axis/lab/dispatch.hpp"

#include "ops/lab/with_cuda.hpp"

namespace warpladder::reduce_axis {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

namespace {

Plan plan_of(const Call& call, const runtime::Machine& machine) {
  const Problem& p = call.problem;
  return planner(p, machine);
}
void launch_planned(const Call& call, runtime::StreamView& stream) {
  plan_of(call, *stream.machine).rung->launch(call, stream);
}
ladder::Arithmetic arithmetic_of(const Call& call) {
  return plan_of(call, device::machine(runtime::Target::gpu)).rung->arithmetic;
}

const bool declared = ladder::declare_dispatch("reduce_axis", WARPLADDER_WITH_CUDA(call_library),
                                               launch_planned, arithmetic_of);

}  // namespace

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor needs no more threads than it has cores, and pays for those that wait.
  if (target == runtime::Target::cpu) return ladder::find_rung("reduce_axis", "01_thread_per_line");
  return ladder::find_rung("reduce_axis", "dispatch");
}

}  // namespace warpladder::reduce_axis
