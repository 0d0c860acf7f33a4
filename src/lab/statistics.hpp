#pragma once
// Statistics of few samples. Intervals come from the order of the samples alone, so they assume no
// distribution.

#include <cstddef>
#include <vector>

namespace warpladder::lab {

struct Statistics {
  double median = 0, q1 = 0, q3 = 0;  // quartiles interpolated between neighbours
  // The median's 95 % confidence interval. With fewer than 6 samples the interval has no bounds.
  double low = 0, high = 0;

  double spread() const { return (q3 - q1) / median; }          // interquartile range, relative
  double uncertainty() const { return (high - low) / median; }  // of the median, relative
};
// Of at least one sample.
Statistics statistics(std::vector<double> samples);

// The new median over the old one. With a probability of at least 95 % the interval holds the ratio
// of the true medians. It divides the ends of the two medians' intervals, each right with a
// probability of √0.95. Fewer than kLeastSamples of either give no bounds.
struct Ratio {
  static constexpr std::size_t kLeastSamples = 7;
  double value = 0, low = 0, high = 0;
};
// Of at least one sample each, all above 0.
Ratio ratio_of_medians(std::vector<double> new_samples, std::vector<double> old_samples);

}  // namespace warpladder::lab
