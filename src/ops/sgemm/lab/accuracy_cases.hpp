#pragma once
// The products that `accuracy` measures errors on, and their truth: C = A·B, compact and row-major.
// Operands are drawn so that each distribution asks something else of the arithmetic.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/double_double.hpp"
#include "ops/lab/accuracy.hpp"
#include "ops/sgemm/lab/reference.hpp"

namespace warpladder::sgemm {

std::vector<ops::Distribution> accuracy_distributions();
// Whether its operands keep the promise of Values::moderate.
bool is_moderate(std::string_view distribution);

// A[m×k] and B[k×n]. An element depends on the distribution, the seed and its place alone (of
// `cancelling`, `identity` and `one_huge` also on the sizes), by exactly rounded operations. So its
// bits are the same on every machine and for any number of threads. Throws Error(bad_input) for an
// unknown distribution.
HostOperands draw_operands(const std::string& distribution, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::uint64_t seed);

// Of the elements of some rows of C, row by row. It is the exact sum of products to about 2^-100 of
// the sum of their absolute values, and that sum, |A||B|, in float64.
struct ProductTruth {
  std::vector<DoubleDouble> value;
  std::vector<double> magnitude;
};
// `problem` is compact and row-major, without transposes, with alpha = 1 and beta = 0.
ProductTruth product_truth(const Problem& problem, const HostOperands& operands,
                           std::span<const std::int64_t> rows);

}  // namespace warpladder::sgemm
