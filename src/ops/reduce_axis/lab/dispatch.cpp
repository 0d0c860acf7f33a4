#include "ops/reduce_axis/lab/dispatch.hpp"

#include "ops/lab/with_cuda.hpp"

namespace warpladder::reduce_axis {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

namespace {

decltype(&plain::plan) planners[runtime::kFlavours] = {};

template <runtime::Flavour flavour>
Plan plan_of(const Call& call, const runtime::Machine& machine) {
  return planners[static_cast<int>(flavour)](call.problem, machine);
}
template <runtime::Flavour flavour>
void launch_planned(const Call& call, runtime::StreamView& stream) {
  plan_of<flavour>(call, *stream.machine).rung->launch(call, stream);
}
ladder::Arithmetic arithmetic_of(const Call& call) {
  const runtime::Machine& machine = device::machine(runtime::Target::gpu);
  return plan_of<runtime::Flavour::plain>(call, machine).rung->arithmetic;
}

}  // namespace

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  planners[static_cast<int>(runtime::Flavour::plain)] = plain_plan;
  planners[static_cast<int>(runtime::Flavour::counted)] = counted_plan;
  return ladder::declare_dispatch("reduce_axis", WARPLADDER_WITH_CUDA(call_library),
                                  launch_planned<runtime::Flavour::plain>,
                                  launch_planned<runtime::Flavour::counted>, arithmetic_of);
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor needs no more threads than it has cores, and pays for those that wait.
  if (target == runtime::Target::cpu) return ladder::find_rung("reduce_axis", "01_thread_per_line");
  return ladder::find_rung("reduce_axis", "dispatch");
}

}  // namespace warpladder::reduce_axis
