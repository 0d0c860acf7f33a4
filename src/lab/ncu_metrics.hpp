#pragma once
// The executor's totals under the names that Nsight Compute gives the hardware's counters on
// compute capability 7.0 and later, so that both can be compared.
//
// They agree if ptxas issues the source's requests. The hardware's bank conflicts include conflicts
// between warps, which no single request shows. The hardware counts atomics and asynchronous copies
// apart: atomics are left out here, and a copy counts as a load and a store.

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
