#include "ops/reduce_axis/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::reduce_axis {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return [plan](const Call& call, const runtime::Machine& machine) {
      return plan(call.problem, machine);
    };
  };
  return ops::declare_dispatch<Call>("reduce_axis", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor needs no more threads than it has cores, and pays for those that wait.
  if (target == runtime::Target::cpu) return ladder::find_rung("reduce_axis", "01_thread_per_line");
  return ladder::find_rung("reduce_axis", "dispatch");
}

}  // namespace warpladder::reduce_axis
