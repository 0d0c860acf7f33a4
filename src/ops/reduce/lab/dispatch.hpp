#pragma once
// Problem and target → rung, as the lab knows rungs.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/reduce/plan.hpp"

namespace warpladder::reduce {

// The room's plan(), where the program holds the rungs that it names.
inline decltype(&plain::plan) planner = nullptr;

// The contestant `dispatch`: on a GPU the library's call, else plan()'s rung in the executor.
// On the CPU `run` takes a rung that suits the executor instead.
const ladder::AnyRung& choose(const Problem& problem, runtime::Target target);

}  // namespace warpladder::reduce
