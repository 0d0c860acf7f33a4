#include "lab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpladder::lab {
namespace {

// Of sorted samples.
double quantile(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The median's interval runs from the sample of this rank (1 is the smallest) to the one as far
// from the other end. Fewer than `rank` of n samples lie below the true median with a probability
// of at most `tail`, by the binomial distribution. 0 if n samples are too few.
std::size_t interval_rank(std::size_t n, double tail) {
  double log_choose = 0, sum = 0;  // log of (n over heads); probability of at most so many heads
  for (std::size_t heads = 0; heads < n; ++heads) {
    sum += std::exp(log_choose - static_cast<double>(n) * std::log(2.0));
    if (sum > tail) return heads;
    log_choose += std::log(static_cast<double>(n - heads) / static_cast<double>(heads + 1));
  }
  return 0;
}

struct Interval {
  double low, high;
};
Interval interval_of_median(const std::vector<double>& sorted, double tail) {
  const std::size_t rank = interval_rank(sorted.size(), tail);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (rank == 0) return {-kInfinity, kInfinity};
  return {sorted[rank - 1], sorted[sorted.size() - rank]};
}

}  // namespace

Statistics statistics(std::vector<double> samples) {
  std::ranges::sort(samples);
  const Interval interval = interval_of_median(samples, 0.025);
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75), interval.low,
          interval.high};
}

Ratio ratio_of_medians(std::vector<double> new_samples, std::vector<double> old_samples) {
  std::ranges::sort(new_samples);
  std::ranges::sort(old_samples);
  const double tail = (1 - std::sqrt(0.95)) / 2;
  const Interval of_new = interval_of_median(new_samples, tail),
                 of_old = interval_of_median(old_samples, tail);
  const double value = quantile(new_samples, 0.5) / quantile(old_samples, 0.5);
  if (!std::isfinite(of_new.low) || !std::isfinite(of_old.low)) {
    return {value, 0, std::numeric_limits<double>::infinity()};
  }
  return {value, of_new.low / of_old.high, of_new.high / of_old.low};
}

}  // namespace warpladder::lab
