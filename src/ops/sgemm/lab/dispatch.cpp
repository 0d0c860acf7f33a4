#include "ops/sgemm/lab/dispatch.hpp"

#include "ops/lab/dispatch.hpp"

namespace warpladder::sgemm {

void call_library(const Call& call, runtime::StreamView& stream);  // cuda_dispatch.cpp

bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan) {
  const auto planner = [](auto plan) {
    return [plan](const Call& call, const runtime::Machine& machine) {
      return plan(call.problem, machine, call.arithmetic, call.batch, false);
    };
  };
  return ops::declare_dispatch<Call>("sgemm", WARPLADDER_WITH_CUDA(call_library),
                                     planner(plain_plan), planner(counted_plan));
}

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for loads and barriers, too: tiles in registers help it as they help a GPU.
  // What later rungs add hides latencies that it does not have.
  if (target == runtime::Target::cpu) return ladder::find_rung("sgemm", "row_04_vector_load");
  return ladder::find_rung("sgemm", "dispatch");
}

}  // namespace warpladder::sgemm
