#pragma once
// What plan() and the rungs know from measurements: the row of a machine, and the configuration
// that was found for a shape.

#include <cmath>
#include <cstdint>

#include "ops/sgemm/tuning_table.hpp"
#include "runtime/machine.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

inline const TuningRow& tuning_row_of(const runtime::Machine& machine) {
  const TuningRow* row = kTuning;
  for (const TuningRow& other : kTuning) {
    if (other.capability <= machine.capability) row = &other;
  }
  return *row;
}
inline const Tuning& tuning_of(const runtime::Machine& machine) {
  return tuning_row_of(machine).model;
}

// The place of the configuration that was found for the shape nearest to m×n×k. It is `none` where
// each has a size that is more than twice as large or as small.
template <int count>
int found_for(const TunedShape (&shapes)[count], std::int64_t m, std::int64_t n, std::int64_t k,
              const runtime::Machine& machine, int none) {
  constexpr float kFarthest = 1;  // of the logarithms to base 2
  const int capability = tuning_row_of(machine).capability;
  const auto log2_of = [](std::int64_t size) { return std::log2(static_cast<float>(size)); };
  const float log_m = log2_of(m), log_n = log2_of(n), log_k = log2_of(k);
  int found = none;
  float nearest = 0;
  for (const TunedShape& shape : shapes) {
    if (shape.capability != capability) continue;
    const float of_m = std::abs(shape.log_m - log_m), of_n = std::abs(shape.log_n - log_n),
                of_k = std::abs(shape.log_k - log_k), distance = of_m + of_n + of_k;
    const bool is_near = of_m <= kFarthest && of_n <= kFarthest && of_k <= kFarthest;
    if (!is_near || (found != none && distance >= nearest)) continue;
    found = shape.found;
    nearest = distance;
  }
  return found;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
