#include "ops/lab/judge.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace warpladder::ops {

float poison() { return std::bit_cast<float>(kPoisonBits); }

void ElementJudge::look_at(std::size_t index, float actual, const Expected& expected) {
  ++seen_;
  double ratio = 0.0;
  if (!std::isfinite(expected.value)) {
    const bool same = std::isnan(expected.value) ? std::isnan(actual)
                                                 : static_cast<double>(actual) == expected.value;
    ratio = same ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (std::isinf(actual)) {
    constexpr double kRoundsToInfinity = 0x1.ffffffp127;
    const double truth = std::copysign(1.0, actual) * expected.value;
    const bool overflows = truth + expected.bound >= kRoundsToInfinity;
    ratio = overflows ? 0.0 : std::numeric_limits<double>::infinity();
  } else {
    const double error = std::abs(static_cast<double>(actual) - expected.value);
    ratio = error == 0.0 ? 0.0 : error / expected.bound;
    if (std::isnan(ratio)) ratio = std::numeric_limits<double>::infinity();
  }
  if (std::bit_cast<std::uint32_t>(actual) == kPoisonBits) {
    ratio = std::numeric_limits<double>::infinity();
  }
  if (ratio > worst_) worst_ = ratio;
  if (!(ratio <= 1.0) && wrong_++ == 0) {
    first_ = std::bit_cast<std::uint32_t>(actual) == kPoisonBits
                 ? fmt::format("{} was never written", place_(index))
                 : fmt::format("{} is {:.9g}, but should be {:.9g} within {:.3g}", place_(index),
                               actual, expected.value, expected.bound);
  }
}

Verdict ElementJudge::verdict() const {
  Verdict v{worst_, ""};
  if (wrong_) v.failure = fmt::format("{} ({} of {} elements are wrong)", first_, wrong_, seen_);
  return v;
}

std::string first_changed(std::span<const float> before, std::span<const float> after,
                          const char* what) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(before[i]) != std::bit_cast<std::uint32_t>(after[i])) {
      return fmt::format("{} changed at element {}: {:.9g} became {:.9g}", what, i, before[i],
                         after[i]);
    }
  }
  return "";
}

}  // namespace warpladder::ops
