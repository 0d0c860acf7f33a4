#pragma once
// The constants of the model by which plan() and the rungs choose. Their values are data, one file
// for each architecture: tuning/sm_*/sgemm.json. Shares are of the machine's own rates
// (runtime::Machine), so that a file serves every GPU of an architecture.

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct Tuning {
  // The first kernel's launch, a second one's, and those of the pairs' two.
  double launch_s = 0, join_s = 0, pairs_launch_s = 0;
  // Of the FP32 peak: where a lane has 8×8 elements, where it has 8×4, and of tiles of 128×128.
  double fma_share = 0, fma_share_of_narrow_lanes = 0, fma_share_of_large_tiles = 0;
  double ctas_that_fill = 0, large_ctas_that_fill = 0;  // so many keep a multiprocessor busy
  // Of the memory's bandwidth: reading, and the pairs' pass. And storing C by 512 bytes, by 128, at
  // the end of large tiles, and there word by word.
  double memory_share = 0, store_share = 0, narrow_store_share = 0, large_store_share = 0,
         ragged_store_share = 0, pass_share = 0;
  double l2_bytes_per_s = 0;              // that a multiprocessor gets
  double f64_share = 0, pairs_share = 0;  // of the tensor cores' peaks
  double f64_step_s = 0;                  // of one CTA, in which it waits for loads
  double f64_memory_share = 0;            // of the memory's bandwidth, that its loads reach
};

// How many times as long a rung takes where it copies words. It does so where lines of A or B in
// memory, or of C too, are no multiples of 4 elements.
struct TimesOfWords {
  double parity = 0, narrow = 0, square = 0, float64 = 0, float64_slices = 0, terms = 0;
};

// Of tc_13_mma_sync: its three launches; what its pass gets of the memory's bandwidth, and its
// products of the tensor cores' peak, at three multiplications each. GeForce cards of 8.6, 8.9 and
// 12.0 add halves to FP32 sums at half of the peak; a capability does not tell them from others.
struct WarpTuning {
  double launch_s = 0, pass_share = 0, pairs_share = 0;
};

// Of tc_15_split_on_the_way.
struct TermTuning {
  // What a CTA's round of 32 along k takes: in all, for each element of its tile, for each of X's
  // and Y's lines.
  double round_s = 0, element_s = 0, line_s = 0;
  double ends_s = 0;  // until the first round, and behind the last
  double memory_share = 0;
};

struct TuningRow {
  int capability = 0;  // of this one and higher ones, up to the next row
  Tuning model = {};
  TimesOfWords words = {};
  WarpTuning pairs_by_warps = {};
  TermTuning terms = {};
};

// A shape for which `warpladder tune` found a configuration, of which the table holds several.
struct TunedShape {
  int capability = 0;                     // of a row
  float log_m = 0, log_n = 0, log_k = 0;  // to base 2
  int found = 0;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
