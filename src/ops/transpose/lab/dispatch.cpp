#include "ops/transpose/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::transpose {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return
        [plan](const Call& call, const runtime::Machine& machine) { return plan(call, machine); };
  };
  return ops::declare_dispatch<Call>("transpose", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor has no lines to fill, and pays for barriers.
  if (target == runtime::Target::cpu) return ladder::find_rung("transpose", "01_naive");
  return ladder::find_rung("transpose", "dispatch");
}

}  // namespace warpladder::transpose
