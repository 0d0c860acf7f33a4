#pragma once
// The plainest truth about a matrix times a vector.

#include <cstddef>
#include <vector>

#include "ops/lab/judge.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {

// Host copies of the operands as they lie in memory.
struct HostOperands {
  std::vector<float> a, x, y;
};

// Where element i of a vector lies in memory.
inline std::size_t place(std::int64_t i, std::int64_t size, std::int64_t increment) {
  return static_cast<std::size_t>(increment > 0 ? i * increment : (i + 1 - size) * increment);
}

// For each element of y: alpha·op(A)·x + beta·y accumulated in float64, and the bound that any
// order of fp32 operations keeps:
//   γ(k+3) · (|alpha|·Σ|a·x| + |beta·y|), γ(n) = n·u / (1 - n·u), u = 2^-24, k terms
// (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), plus what underflow may lose. From
// 2^24 terms on there is no such bound, and it is infinite. Empty where BLAS does nothing.
std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands);

}  // namespace warpladder::sgemv
