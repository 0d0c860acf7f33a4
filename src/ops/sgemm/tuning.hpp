#pragma once
// The constants of the model by which plan() and the rungs choose, one row for each architecture.
// Shares are of the machine's own rates (runtime::Machine), so that a row serves every GPU of an
// architecture.

#include "runtime/machine.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct Tuning {
  int capability;  // of this one and higher ones, up to the next row
  // The first kernel's launch, a second one's, and those of the pairs' two.
  double launch_s, join_s, pairs_launch_s;
  // Of the FP32 peak: where a lane has 8×8 elements, where it has 8×4, and of tiles of 128×128.
  double fma_share, fma_share_of_narrow_lanes, fma_share_of_large_tiles;
  double ctas_that_fill, large_ctas_that_fill;  // so many keep a multiprocessor busy
  // Of the memory's bandwidth: reading; storing C by 512 bytes, by 128, at the end of large tiles,
  // and there word by word; the pairs' pass.
  double memory_share, store_share, narrow_store_share, large_store_share, ragged_store_share,
      pass_share;
  double l2_bytes_per_s;          // that a multiprocessor gets
  double f64_share, pairs_share;  // of the tensor cores' peaks
  double f64_step_s;              // of one CTA, in which it waits for loads
  double f64_memory_share;        // of the memory's bandwidth, that its loads reach
};

// 9.0: fitted to the times of every rung on 357 products on an H100. The other rows are estimates.
constexpr Tuning kTuning[] = {
    {75,   5e-6, 3e-6, 0,    0.60, 0.50, 0.70, 2.0, 1.0, 0.80,
     0.70, 0.60, 0.70, 0.20, 0,    16e9, 0,    0,   0,   0},
    {80,   5e-6, 3e-6, 0,    0.65, 0.50, 0.70, 2.0, 1.0, 0.85,
     0.70, 0.60, 0.70, 0.20, 0,    32e9, 0,    0,   0,   0},
    {86,   5e-6, 3e-6, 0,    0.55, 0.45, 0.60, 2.0, 1.0, 0.85,
     0.70, 0.60, 0.70, 0.20, 0,    24e9, 0,    0,   0,   0},
    {89,   4e-6, 3e-6, 0,    0.55, 0.45, 0.60, 2.0, 1.0, 0.85,
     0.70, 0.60, 0.70, 0.20, 0,    30e9, 0,    0,   0,   0},
    {90,     2.8075e-06, 3.2097e-06, 1.0262e-05, 0.46025,    0.4193,  0.90636,
     2.2347, 1.1455,     0.78199,    1.2962,     0.46123,    0.95703, 0.2985,
     1.461,  3.0381e+10, 0.87477,    0.3413,     2.9654e-07, 0.5112},
    {100,  4e-6, 3e-6, 0,    0.65, 0.50, 0.70, 2.0, 1.0, 0.85,
     0.70, 0.60, 0.70, 0.20, 0,    38e9, 0,    0,   0,   0},
};

template <class Row, int count>
constexpr const Row& row_for(const Row (&rows)[count], const runtime::Machine& machine) {
  const Row* row = rows;
  for (const Row& other : rows) {
    if (other.capability <= machine.capability) row = &other;
  }
  return *row;
}
inline const Tuning& tuning_of(const runtime::Machine& machine) {
  return row_for(kTuning, machine);
}

// The constants of tc_13_mma_sync: its three launches; what its pass gets of the memory's
// bandwidth, and its products of the tensor cores' peak, at three multiplications each. GeForce
// cards of 8.6, 8.9 and 12.0 add halves to FP32 sums at half of the peak; a capability does not
// tell them from others. 9.0: fitted to 1024³ … 8192³ on an H100; the other rows are
// estimates.
struct WarpTuning {
  int capability;
  double launch_s, pass_share, pairs_share;
};
constexpr WarpTuning kWarpTuning[] = {{80, 10e-6, 0.60, 0.22},  {86, 10e-6, 0.60, 0.11},
                                      {89, 10e-6, 0.60, 0.11},  {90, 10e-6, 1.40, 0.157},
                                      {100, 10e-6, 0.60, 0.07}, {120, 10e-6, 0.60, 0.11}};

inline const WarpTuning& warp_tuning_of(const runtime::Machine& machine) {
  return row_for(kWarpTuning, machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
