#pragma once
// Our counts beside what Nsight Compute measured of the same kernels.

#include <cstdint>
#include <string>
#include <vector>

#include "base/ncu_export.hpp"
#include "lab/explain.hpp"

namespace warpladder::lab {

struct NcuRow {
  std::string metric;
  double measured = 0, ours = 0;  // means over the launches
};

// Of the launches of a kernel with one size of grid and block.
struct NcuComparison {
  std::string kernel;
  std::size_t our_launches = 0, measured_launches = 0;
  std::vector<NcuRow> rows;
  std::size_t others = 0;               // metrics that the export has and we have not
  std::vector<std::string> no_numbers;  // metrics that we have, and the export without a number
  std::string problem;                  // why there are no rows
};

// "multiply" of "void unnamed>::multiply<1, 1>(Gemm)".
std::string bare_kernel_name(const std::string& name);

// Throws Error(bad_input) for an export of none of the kernels that were launched.
void require_launch_of(const std::vector<Explanation*>& explained,
                       const std::vector<NcuLaunch>& measured);

std::vector<NcuComparison> beside(const Explanation& e, const std::vector<NcuLaunch>& measured);

}  // namespace warpladder::lab
