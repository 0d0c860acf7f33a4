#include "ops/sgemm/lab/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"

namespace warpladder::sgemm {
namespace {

// Strides of element (i, j) of op(X).
struct Strides {
  std::int64_t i, j;
};
Strides strides(const Problem& p, bool transposed, std::int64_t ld) {
  const bool by_rows = (p.layout == Layout::row_major) != transposed;
  return by_rows ? Strides{ld, 1} : Strides{1, ld};
}

// rows[first] up to rows[last].
void reference_rows(const Problem& p, const HostOperands& x, const Offsets& offsets,
                    std::span<const std::int64_t> rows, std::size_t first, std::size_t last,
                    std::vector<ops::Expected>& out) {
  const float *const x_a = x.a.data() + offsets.a, *const x_b = x.b.data() + offsets.b,
                     *const x_c = x.c.data() + offsets.c;
  const Strides a = strides(p, p.trans_a, p.lda), b = strides(p, p.trans_b, p.ldb),
                c = strides(p, false, p.ldc);
  const std::int64_t depth = p.alpha == 0.0f ? 0 : p.k;
  std::vector<double> sum(static_cast<std::size_t>(p.n)), magnitude(sum.size());
  for (std::size_t row = first; row < last; ++row) {
    const std::int64_t i = rows[row];
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (std::int64_t k = 0; k < depth; ++k) {
      const double left = x_a[i * a.i + k * a.j];
      const float* right = x_b + k * b.i;
      for (std::int64_t j = 0; j < p.n; ++j) {
        const double product = left * static_cast<double>(right[j * b.j]);
        sum[static_cast<std::size_t>(j)] += product;
        magnitude[static_cast<std::size_t>(j)] += std::abs(product);
      }
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double old =
          p.beta == 0.0f ? 0.0 : static_cast<double>(p.beta) * x_c[i * c.i + j * c.j];
      out[row * sum.size() + at] = expected_element(p, sum[at], magnitude[at], old);
    }
  }
}

}  // namespace

double roundings(const Problem& p) { return static_cast<double>(p.alpha == 0.0f ? 0 : p.k) + 3.0; }

ops::Expected expected_element(const Problem& p, double sum, double magnitude, double old) {
  constexpr double kUnit = 0x1p-24, kTiny = std::numeric_limits<float>::denorm_min();
  const double terms = roundings(p);
  const double gamma = terms * kUnit / (1.0 - terms * kUnit);
  const auto alpha = static_cast<double>(p.alpha);
  const double scaled = p.k == 0 || p.alpha == 0.0f ? 0.0 : alpha * sum;
  const double size = std::abs(alpha) * magnitude + std::abs(old);
  return {scaled + old, gamma * size + terms * kTiny * (1.0 + std::abs(alpha))};
}

std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(p.m));
  std::iota(rows.begin(), rows.end(), 0);
  return reference(p, operands, rows);
}

std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands,
                                     std::span<const std::int64_t> rows, const Offsets& offsets) {
  std::vector<ops::Expected> out(rows.size() * static_cast<std::size_t>(p.n));
  if (out.empty()) return out;
  // Rows are independent, so that the truth does not depend on the number of threads.
  const double work = static_cast<double>(out.size()) * static_cast<double>(p.k);
  const unsigned threads = threads_for(work);
  const auto count = static_cast<std::int64_t>(rows.size());
  parallel_for(count, (count + threads - 1) / threads, threads,
               [&](std::int64_t first, std::int64_t last) {
                 reference_rows(p, operands, offsets, rows, static_cast<std::size_t>(first),
                                static_cast<std::size_t>(last), out);
               });
  return out;
}

}  // namespace warpladder::sgemm
