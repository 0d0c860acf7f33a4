#include "ops/spmv/lab/dispatch.hpp"

#include "ops/lab/with_cuda.hpp"

namespace warpladder::spmv {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

namespace {

Plan plan_of(const Call& call, const runtime::Machine& machine) {
  const Problem& p = call.problem;
  return planner(p, machine, false);
}
void launch_planned(const Call& call, runtime::StreamView& stream) {
  plan_of(call, *stream.machine).rung->launch(call, stream);
}
ladder::Arithmetic arithmetic_of(const Call& call) {
  return plan_of(call, device::machine(runtime::Target::gpu)).rung->arithmetic;
}

const bool declared = ladder::declare_dispatch("spmv", WARPLADDER_WITH_CUDA(call_library),
                                               launch_planned, arithmetic_of);

}  // namespace

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for barriers, and has no lines to fill.
  if (target == runtime::Target::cpu) return ladder::find_rung("spmv", "01_scalar");
  return ladder::find_rung("spmv", "dispatch");
}

}  // namespace warpladder::spmv
