#include "ops/sgemm/lab/dispatch.hpp"

#include "ops/lab/with_cuda.hpp"

namespace warpladder::sgemm {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

namespace {

Plan plan_of(const Call& call, const runtime::Machine& machine) {
  const Problem& p = call.problem;
  return planner(p, machine, Arithmetic::accurate, call.batch);
}
void launch_planned(const Call& call, runtime::StreamView& stream) {
  plan_of(call, *stream.machine).rung->launch(call, stream);
}
ladder::Arithmetic arithmetic_of(const Call& call) {
  return plan_of(call, device::machine(runtime::Target::gpu)).rung->arithmetic;
}

const bool declared = ladder::declare_dispatch("sgemm", WARPLADDER_WITH_CUDA(call_library),
                                               launch_planned, arithmetic_of);

}  // namespace

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for loads and barriers, too: tiles in registers help it as they help a GPU.
  // What later rungs add hides latencies that it does not have.
  if (target == runtime::Target::cpu) return ladder::find_rung("sgemm", "row_04_vector_load");
  return ladder::find_rung("sgemm", "dispatch");
}

}  // namespace warpladder::sgemm
