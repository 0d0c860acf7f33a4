#pragma once
// Problem and target → rung, as the lab knows rungs.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/reduce/plan.hpp"

namespace warpladder::reduce {

// Declares the contestant `dispatch`. Called by static initialisation of a program that holds the
// rungs which plan() names.
bool declare_dispatch(decltype(&plain::plan) plain_plan, decltype(&counted::plan) counted_plan);

// The contestant `dispatch`: on a GPU the library's call, else plan()'s rung in the executor.
// On the CPU `run` takes a rung that suits the executor instead.
const ladder::AnyRung& choose(const Problem& problem, runtime::Target target);

}  // namespace warpladder::reduce
