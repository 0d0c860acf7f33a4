#pragma once
// The constants of the model by which plan() and the rungs choose, one row for each architecture.
// Shares are of the machine's own rates (runtime::Machine), so that a row serves every GPU of an
// architecture.

#include "runtime/machine.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct Tuning {
  int capability;                    // of this one and higher ones, up to the next row
  double launch_s, join_s;           // the first kernel's, and a second one's
  double fma_share;                  // of the FP32 peak, where a lane has 8×8 elements
  double fma_share_of_narrow_lanes;  // where it has 8×4
  double ctas_that_fill;             // so many CTAs keep a multiprocessor busy
  double memory_share;               // of the memory's bandwidth
  double l2_bytes_per_s;             // that a multiprocessor gets
};

// 9.0: to be measured on an H100. The others: its row, scaled by what data sheets say.
constexpr Tuning kTuning[] = {
    {75, 5e-6, 3e-6, 0.60, 0.50, 2.0, 0.80, 16e9}, {80, 5e-6, 3e-6, 0.65, 0.50, 2.0, 0.85, 32e9},
    {86, 5e-6, 3e-6, 0.55, 0.45, 2.0, 0.85, 24e9}, {89, 4e-6, 3e-6, 0.55, 0.45, 2.0, 0.85, 30e9},
    {90, 4e-6, 2e-6, 0.70, 0.50, 2.0, 0.85, 38e9},
};

inline const Tuning& tuning_of(const runtime::Machine& machine) {
  const Tuning* row = kTuning;
  for (const Tuning& other : kTuning) {
    if (other.capability <= machine.capability) row = &other;
  }
  return *row;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
