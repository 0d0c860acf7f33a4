#pragma once
// The truth about a product, in float64.

#include <span>
#include <vector>

#include "base/csr_matrix.hpp"
#include "ops/lab/judge.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

// Each row's bound grows with its own entries alone: n of them may be rounded n + 3 times, in any
// order of adding them. `y` is read only if beta asks for it.
std::vector<ops::Expected> reference(const Problem& p, const CsrMatrix& a, std::span<const float> x,
                                     std::span<const float> y);

}  // namespace warpladder::spmv
