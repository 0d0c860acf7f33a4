#pragma once
// Problem + device → rung.

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

// Where the longest row is not known.
constexpr std::int64_t kUnknown = -1;

// The rung that brings the result soonest. `longest_row`: of the matrix, or kUnknown; `prepared`:
// among those whose plan has been made, or can be made, because the pattern will be used again.
const ladder::AnyRung& choose(const Problem& problem, std::int64_t longest_row, bool prepared,
                              runtime::Target target);

}  // namespace warpladder::spmv
