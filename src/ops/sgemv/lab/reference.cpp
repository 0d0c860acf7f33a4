#include "ops/sgemv/lab/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace warpladder::sgemv {
namespace {

struct Sum {
  double value = 0.0, magnitude = 0.0;
};

// Adds up sums[first] to sums[last], line by line of A where the sums run across the lines, so that
// memory is read in its order.
void add_up(const Problem& p, const HostOperands& operands, std::vector<Sum>& sums,
            std::int64_t first, std::int64_t last) {
  const std::int64_t k = terms(p);
  const bool across = across_lines(p);
  const auto add = [&](std::int64_t output, std::int64_t term) {
    const std::int64_t at = across ? term * p.lda + output : output * p.lda + term;
    const double product = static_cast<double>(operands.a[static_cast<std::size_t>(at)]) *
                           static_cast<double>(operands.x[place(term, k, p.incx)]);
    Sum& sum = sums[static_cast<std::size_t>(output)];
    sum.value += product;
    sum.magnitude += std::abs(product);
  };
  if (across) {
    for (std::int64_t term = 0; term < k; ++term) {
      for (std::int64_t output = first; output < last; ++output) add(output, term);
    }
  } else {
    for (std::int64_t output = first; output < last; ++output) {
      for (std::int64_t term = 0; term < k; ++term) add(output, term);
    }
  }
}

}  // namespace

std::vector<ops::Expected> reference(const Problem& p, const HostOperands& operands) {
  if (p.m == 0 || p.n == 0) return {};
  constexpr double kUnit = 0x1p-24, kTiny = std::numeric_limits<float>::denorm_min();
  const std::int64_t size = outputs(p);
  std::vector<Sum> sums(static_cast<std::size_t>(size));
  if (p.alpha != 0.0f) {
    // Outputs are independent, so that the truth does not depend on the number of threads.
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n);
    const unsigned threads = threads_for(work);
    parallel_for(
        size, (size + threads - 1) / threads, threads,
        [&](std::int64_t first, std::int64_t last) { add_up(p, operands, sums, first, last); });
  }

  const double alpha = p.alpha, beta = p.beta;
  const double count = (p.alpha == 0.0f ? 0.0 : static_cast<double>(terms(p))) + 3.0;
  const double gamma = count * kUnit < 1.0 ? count * kUnit / (1.0 - count * kUnit)
                                           : std::numeric_limits<double>::infinity();
  std::vector<ops::Expected> expected(sums.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double scaled = p.alpha == 0.0f ? 0.0 : alpha * sums[at].value;
    const double old =
        p.beta == 0.0f ? 0.0 : beta * static_cast<double>(operands.y[place(i, size, p.incy)]);
    const double magnitude = std::abs(alpha) * sums[at].magnitude + std::abs(old);
    expected[at] = {scaled + old, gamma * magnitude + count * kTiny * (1.0 + std::abs(alpha))};
  }
  return expected;
}

}  // namespace warpladder::sgemv
