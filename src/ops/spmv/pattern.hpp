#pragma once
// How far apart neighbouring entries ask for x, estimated from a sample: what decides between ways
// to multiply.

#include <cstdint>

namespace warpladder::spmv {

// Columns of up to kMost runs of 32 neighbouring entries.
struct PatternSample {
  static constexpr std::int64_t kRun = 32, kMost = 4096;
  std::int64_t runs = 0;
  std::int32_t columns[kMost][kRun];
};

// So many runs, `apart` entries from each other's beginnings, cover a matrix evenly.
struct SampledRuns {
  std::int64_t runs, apart;
};
inline SampledRuns sampled_runs(std::int64_t nnz) {
  const std::int64_t fit = nnz / PatternSample::kRun,
                     runs = fit < PatternSample::kMost ? fit : PatternSample::kMost;
  return {runs, runs > 0 ? (nnz - PatternSample::kRun + 1) / runs : 0};
}

// Sectors of x, of eight floats, that a run touches on average; 0 of an empty sample. 4 is the
// least for distinct columns.
double sectors_of_x(const PatternSample& sample);

// Three of four entries of a run have a sector of their own.
inline bool is_scattered(double sectors) { return sectors > 24; }
// Nearly all have: no columns are more frequent than others by much.
inline bool is_even(double sectors) { return sectors > 31; }

}  // namespace warpladder::spmv
