#pragma once
// The plainest truth about a product.

#include <cstdint>
#include <span>
#include <vector>

#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/cases.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

// Host copies of the operands as they lie in memory.
struct HostOperands {
  std::vector<float> a, b, c;
};

// Of one element: the terms' sum and the sum of their magnitudes in float64, and beta·c.
ops::Expected expected_element(const Problem& p, double sum, double magnitude, double old);

// k and the few roundings beside it that the bound below allows for.
double roundings(const Problem& p);

// For each element of C, row by row (m·n of them, whatever the layout): alpha·op(A)·op(B) + beta·C
// accumulated in float64. And the bound that any order of fp32 operations keeps:
//   γ(k+3) · (|alpha|·Σ|a·b| + |beta·c|), γ(n) = n·u / (1 - n·u), u = 2^-24
// (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), plus what underflow may lose.
std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands);
// The same for some rows of C alone, rows.size()·n elements; and of matrices that do not begin
// where the operands do.
std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands,
                                     std::span<const std::int64_t> rows,
                                     const Offsets& offsets = {});

}  // namespace warpladder::sgemm
