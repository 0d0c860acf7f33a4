#pragma once
// The contestant `dispatch` of an operator: its plans, run in the executor, and the library's call.

#include <functional>
#include <type_traits>
#include <utility>

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ladder/plan.hpp"
#include "ops/lab/with_cuda.hpp"

namespace warpladder::ops {

template <class Call>
using Planner = std::function<ladder::Plan<Call>(const Call&, const runtime::Machine&)>;

// Throws std::logic_error where a plan named a rung that the machine cannot run.
void require_runs(const ladder::AnyRung& rung, const runtime::Machine& machine);

// One operator's planners in the flavours that run in the executor, and what asks them.
template <class Call>
class Planners {
 public:
  static void set(const char* op, Planner<Call> plain, Planner<Call> counted) {
    name() = op;
    of(runtime::Flavour::plain) = std::move(plain);
    of(runtime::Flavour::counted) = std::move(counted);
  }
  template <runtime::Flavour flavour>
  static void launch(const Call& call, runtime::StreamView& stream) {
    const ladder::Plan<Call> plan = of(flavour)(call, *stream.machine);
    require_runs(ladder::find_rung(name(), plan.id), *stream.machine);
    plan.rung->launch(call, stream);
  }
  static ladder::Arithmetic arithmetic(const Call& call) {
    const runtime::Machine& machine = device::machine(runtime::Target::gpu);
    return of(runtime::Flavour::plain)(call, machine).rung->arithmetic;
  }
  // The library's call on a GPU takes its own.
  static std::size_t workspace_bytes(const Call& call, const runtime::Machine& machine) {
    return of(runtime::Flavour::plain)(call, machine).workspace_bytes;
  }

 private:
  static const char*& name() {
    static const char* op = "";
    return op;
  }
  static Planner<Call>& of(runtime::Flavour flavour) {
    static Planner<Call> planners[runtime::kFlavours];
    return planners[static_cast<int>(flavour)];
  }
};

// `gpu`: the library's call, null in a build without CUDA.
template <class Call>
bool declare_dispatch(const char* op,
                      std::type_identity_t<void (*)(const Call&, runtime::StreamView&)> gpu,
                      Planner<Call> plain, Planner<Call> counted) {
  using All = Planners<Call>;
  All::set(op, std::move(plain), std::move(counted));
  return ladder::declare_dispatch<Call>(op, gpu, All::template launch<runtime::Flavour::plain>,
                                        All::template launch<runtime::Flavour::counted>,
                                        All::arithmetic, All::workspace_bytes);
}

}  // namespace warpladder::ops
