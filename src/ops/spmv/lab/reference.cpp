#include "ops/spmv/lab/reference.hpp"

#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace warpladder::spmv {

std::vector<ops::Expected> reference(const Problem& p, const CsrMatrix& a, std::span<const float> x,
                                     std::span<const float> y) {
  constexpr double kUnit = 0x1p-24, kTiny = std::numeric_limits<float>::denorm_min();
  std::vector<ops::Expected> expected(static_cast<std::size_t>(p.rows));
  const double alpha = p.alpha, beta = p.beta;
  const auto row = [&](std::size_t i) {
    double sum = 0.0, magnitude = 0.0;
    const auto first = static_cast<std::size_t>(a.row_offsets[i]),
               end = static_cast<std::size_t>(a.row_offsets[i + 1]);
    for (std::size_t e = first; e < end && p.alpha != 0.0f; ++e) {
      const double product = static_cast<double>(a.values[e]) *
                             static_cast<double>(x[static_cast<std::size_t>(a.column_indices[e])]);
      sum += product;
      magnitude += std::abs(product);
    }
    const double scaled = p.alpha == 0.0f ? 0.0 : alpha * sum;
    const double old = p.beta == 0.0f ? 0.0 : beta * static_cast<double>(y[i]);
    const double count = static_cast<double>(end - first) + 3.0, rounded = count * kUnit;
    const double gamma =
        rounded < 1.0 ? rounded / (1.0 - rounded) : std::numeric_limits<double>::infinity();
    expected[i] = {scaled + old, gamma * (std::abs(alpha) * magnitude + std::abs(old)) +
                                     count * kTiny * (1.0 + std::abs(alpha))};
  };
  const unsigned threads = threads_for(static_cast<double>(a.values.size()));
  parallel_for(p.rows, 1 << 14, threads, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) row(static_cast<std::size_t>(i));
  });
  return expected;
}

}  // namespace warpladder::spmv
