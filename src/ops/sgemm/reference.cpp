#include "ops/sgemm/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

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

void reference_rows(const Problem& p, const HostOperands& x, std::int64_t first, std::int64_t last,
                    std::vector<ops::Expected>& out) {
  constexpr double kUnit = 0x1p-24, kTiny = std::numeric_limits<float>::denorm_min();
  const Strides a = strides(p, p.trans_a, p.lda), b = strides(p, p.trans_b, p.ldb),
                c = strides(p, false, p.ldc);
  const std::int64_t depth = p.alpha == 0.0f ? 0 : p.k;
  const double terms = static_cast<double>(depth) + 3.0;
  const double gamma = terms * kUnit / (1.0 - terms * kUnit);
  std::vector<double> sum(static_cast<std::size_t>(p.n)), magnitude(sum.size());
  for (std::int64_t i = first; i < last; ++i) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (std::int64_t k = 0; k < depth; ++k) {
      const double left = x.a[static_cast<std::size_t>(i * a.i + k * a.j)];
      const float* right = &x.b[static_cast<std::size_t>(k * b.i)];
      for (std::int64_t j = 0; j < p.n; ++j) {
        const double product = left * static_cast<double>(right[j * b.j]);
        sum[static_cast<std::size_t>(j)] += product;
        magnitude[static_cast<std::size_t>(j)] += std::abs(product);
      }
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double scaled = depth == 0 ? 0.0 : static_cast<double>(p.alpha) * sum[at];
      const double old = p.beta == 0.0f ? 0.0
                                        : static_cast<double>(p.beta) *
                                              x.c[static_cast<std::size_t>(i * c.i + j * c.j)];
      const double size = std::abs(static_cast<double>(p.alpha)) * magnitude[at] + std::abs(old);
      out[static_cast<std::size_t>(i * p.n + j)] = {
          scaled + old, gamma * size + terms * kTiny * (1.0 + std::abs(double{p.alpha}))};
    }
  }
}

}  // namespace

std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands) {
  std::vector<ops::Expected> out(static_cast<std::size_t>(p.m * p.n));
  if (out.empty()) return out;
  // Rows are independent, so that the truth does not depend on the number of threads.
  const std::int64_t workers =
      flops(p) < 1e6
          ? 1
          : std::min<std::int64_t>(p.m, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::int64_t w = 0; w < workers; ++w) {
    threads.emplace_back(
        [&, w] { reference_rows(p, operands, p.m * w / workers, p.m * (w + 1) / workers, out); });
  }
  for (std::thread& t : threads) t.join();
  return out;
}

}  // namespace warpladder::sgemm
