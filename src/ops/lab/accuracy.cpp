#include "ops/lab/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpladder::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ratio(double error, double size) {
  if (error == 0) return 0;
  return size == 0 ? kInfinity : error / size;
}

}  // namespace

void ErrorMeter::look_at(float actual, DoubleDouble truth, double magnitude) {
  squared_truth_ += truth.high * truth.high;  // fp32 squared is far from float64's ends
  if (!std::isfinite(actual)) {
    ++not_finite_;
    return;
  }
  const double error = std::abs((static_cast<double>(actual) - truth.high) - truth.low);
  squared_error_ += error * error;
  componentwise_ = std::max(componentwise_, ratio(error, magnitude));
}

Errors ErrorMeter::errors() const {
  if (not_finite_ > 0) return {kInfinity, kInfinity, not_finite_};
  return {ratio(std::sqrt(squared_error_), std::sqrt(squared_truth_)), componentwise_, 0};
}

}  // namespace warpladder::ops
