#pragma once
// The executor's totals under the names that Nsight Compute gives the hardware's counters on
// compute capability 7.0 and later, so that the two can be laid side by side.
//
// They agree where ptxas issues what the source asks for. The hardware's bank conflicts also hold
// what warps cost each other by arriving together, which no single request shows. Atomics and
// asynchronous copies have counters of their own there: atomics are left out, and a copy counts
// here as the load and the store that it stands for.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/counts.hpp"

namespace warpladder::lab {

struct NcuMetric {
  std::string name;
  std::uint64_t value = 0;
};

std::vector<NcuMetric> ncu_metrics(const std::vector<executor::KernelCounts>& launches);

// Which of our numbers corresponds to any metric, or why none does: one sentence.
std::string counterpart_of(const std::string& metric);

}  // namespace warpladder::lab
