#pragma once
// What a rung's launch asks of memory, counted by the executor, for tests of predictions.

#include <gtest/gtest.h>

#include <vector>

#include "ladder/rung.hpp"
#include "ops/operator.hpp"

namespace warpladder::ops_tests {

// Resets the trial, launches the rung on it, and expects the result to be right.
inline ladder::Totals count(const ladder::Rung& rung, ops::Trial& trial) {
  device::Stream stream(device::Target::cpu);
  std::vector<device::KernelCounts> counts;
  stream.record_counts = &counts;
  trial.reset();
  rung.launcher(device::Flavour::counted)(trial.call(), stream);
  EXPECT_EQ(trial.judge().failure, "");
  return ladder::totals_of(counts);
}

}  // namespace warpladder::ops_tests
