#include "lab/time_left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpladder::lab {

double seconds_left(double elapsed_s, double done_at_begin, double done) {
  constexpr double kLeastSeconds = 1, kLeastShare = 0.01;
  const double share = done - done_at_begin;
  if (elapsed_s < kLeastSeconds || share < kLeastShare) {
    return std::numeric_limits<double>::infinity();
  }
  return elapsed_s * std::max(0.0, 1 - done) / share;
}

std::string time_left_text(double seconds) {
  if (seconds < 90) return fmt::format("about {:.0f} s left", std::ceil(seconds));
  if (seconds < 90 * 60) return fmt::format("about {:.0f} min left", seconds / 60);
  return fmt::format("about {:.1f} h left", seconds / 3600);
}

}  // namespace warpladder::lab
