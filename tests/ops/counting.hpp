#pragma once
// What a rung's launch asks of memory, counted by the executor, for tests of predictions.

#include <gtest/gtest.h>

#include <vector>

#include "ladder/rung.hpp"
#include "ops/lab/operator.hpp"

namespace warpladder::ops_tests {

// Resets the trial, launches the rung on it, and expects the result to be right.
inline ladder::Totals count(const ladder::AnyRung& rung, ops::Trial& trial) {
  device::Stream stream(runtime::Target::cpu);
  std::vector<executor::KernelCounts> counts;
  stream.record_counts = &counts;
  trial.reset();
  rung.launcher(runtime::Flavour::counted)(trial.call(), stream);
  EXPECT_EQ(trial.judge().failure, "");
  return ladder::totals_of(counts);
}

}  // namespace warpladder::ops_tests
