#pragma once
// What of the comparison runs on a GPU under Nsight Compute, and nowhere else.

#include <vector>

#include "patterns.hpp"

namespace warpladder::agreement {

// Nsight Compute looks at kernels between these two.
void begin_profile();
void end_profile();

// A kernel that does nothing, of `number` + 1 blocks: what follows it belongs to that number.
void launch_mark(unsigned number);

// A launch for each pattern: one store to shared memory and one load from it, by one warp.
void launch_patterns(const std::vector<Pattern>& patterns);

}  // namespace warpladder::agreement
