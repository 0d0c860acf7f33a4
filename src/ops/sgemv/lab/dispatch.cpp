#include "ops/sgemv/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::sgemv {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return [plan](const Call& call, const runtime::Machine& machine) {
      return plan(call.problem, machine);
    };
  };
  return ops::declare_dispatch<Call>("sgemv", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for threads, shuffles and barriers, and waits for no memory.
  if (target == runtime::Target::cpu) return ladder::find_rung("sgemv", "01_thread_per_output");
  return ladder::find_rung("sgemv", "dispatch");
}

}  // namespace warpladder::sgemv
