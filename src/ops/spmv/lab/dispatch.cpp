#include "ops/spmv/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::spmv {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return [plan](const Call& call, const runtime::Machine& machine) {
      return plan(call.problem, machine, false);
    };
  };
  return ops::declare_dispatch<Call>("spmv", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for barriers, and has no lines to fill.
  if (target == runtime::Target::cpu) return ladder::find_rung("spmv", "01_scalar");
  return ladder::find_rung("spmv", "dispatch");
}

}  // namespace warpladder::spmv
