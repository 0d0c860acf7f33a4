#include "ops/transpose/lab/dispatch.hpp"

#include "ops/lab/with_cuda.hpp"

namespace warpladder::transpose {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

namespace {

decltype(&plain::plan) planners[runtime::kFlavours] = {};

template <runtime::Flavour flavour>
Plan plan_of(const Call& call, const runtime::Machine& machine) {
  return planners[static_cast<int>(flavour)](call, machine);
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
  return ladder::declare_dispatch("transpose", WARPLADDER_WITH_CUDA(call_library),
                                  launch_planned<runtime::Flavour::plain>,
                                  launch_planned<runtime::Flavour::counted>, arithmetic_of);
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor has no lines to fill, and pays for barriers.
  if (target == runtime::Target::cpu) return ladder::find_rung("transpose", "01_naive");
  return ladder::find_rung("transpose", "dispatch");
}

}  // namespace warpladder::transpose
