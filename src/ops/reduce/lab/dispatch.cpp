#include "ops/reduce/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::reduce {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return [plan](const Call& call, const runtime::Machine& machine) {
      return plan(call.problem, machine);
    };
  };
  return ops::declare_dispatch<Call>("reduce", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // Reads most in each thread, which suits the executor too.
  if (target == runtime::Target::cpu) return ladder::find_rung("reduce", "08_by_size");
  return ladder::find_rung("reduce", "dispatch");
}

}  // namespace warpladder::reduce
