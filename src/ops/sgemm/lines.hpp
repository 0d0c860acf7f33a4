#pragma once
// Products of few rows or columns, X, with many lines, Y, that lie along k or across it. Here is
// which they are, how warps share out those along k (row_19_few_lines), and the time that they take
// by a model. Host code of the rungs and of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tuning.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kWarpsOfLines = 8, kMostFewLines = 8;

// `p` is row-major. Whether B has lines that lie so, for few rows of A; or A, for few columns of B.
inline bool has_few_rows(const Problem& p, bool along) {
  return p.m <= kMostFewLines && p.trans_b == along;
}
inline bool has_few_columns(const Problem& p, bool along) {
  return p.n <= kMostFewLines && p.trans_a != along;
}
// Whether B is Y, where one of them is.
inline bool are_rows_few(const Problem& p, bool along) {
  return has_few_rows(p, along) && (!has_few_columns(p, along) || p.m <= p.n);
}
// Whether each CTA of a grid that ends behind INT32_MAX gets at least 32 lines.
inline bool has_few_lines(const Problem& p, bool along, std::int64_t products) {
  constexpr std::int64_t kLeastOfCta = 32;
  return (has_few_rows(p, along) || has_few_columns(p, along)) &&
         fits_grid(tiles(std::max(p.m, p.n), kLeastOfCta), products);
}

// `count` products. `strides`: X does not lie as Y does. `words`: lines of Y, or of both where they
// lie along k, are no multiples of 4 elements.
struct LinesShape {
  std::int64_t few, lines, k, count;
  bool words, strides;
};
inline LinesShape lines_shape(const Problem& p, bool along, std::int64_t count) {
  const bool rows = are_rows_few(p, along), strides = (rows ? !p.trans_a : p.trans_b) != along;
  const std::int64_t lines = rows ? p.n : p.m;
  return {rows ? p.m : p.n, lines, p.k, count, along ? strides || p.k % 4 : lines % 4 != 0,
          strides};
}
inline double bytes_of_lines(const LinesShape& s) {
  const auto few = static_cast<double>(s.few), lines = static_cast<double>(s.lines),
             k = static_cast<double>(s.k);
  return 4 * static_cast<double>(s.count) * ((few + lines) * k + few * lines);
}

struct LinesSplit {
  std::int64_t blocks;  // CTAs of a product
  int parts;            // warps of a CTA that share lines
  double time_s;
};
// Warps of `of_warp` lines that add `of_round` of k at a time. As few parts as keep memory busy,
// for they share no rows of X. The times were found on an H100.
inline LinesSplit split_lines(const LinesShape& s, int of_warp, int of_round,
                              const runtime::Machine& machine) {
  constexpr double kRound_s = 0.6e-6, kEnds_s = 1.5e-6;  // of a CTA
  constexpr double kLostByParting = 0.02, kLostByTail = 0.3, kLeastBusy = 0.25;
  constexpr double kOfMemory = 1.18, kOfMemoryByWords = 0.95;  // of the bandwidth of narrow tiles
  const Tuning& tuning = tuning_of(machine);
  const double slots = 2.0 * machine.multiprocessors,
               memory_s = bytes_of_lines(s) / ((s.words ? kOfMemoryByWords : kOfMemory) *
                                               tuning.memory_share * machine.memory_bytes_per_s);
  LinesSplit best{};
  for (int parts = 1, times = 0; parts <= kWarpsOfLines; parts *= 2, ++times) {
    const std::int64_t blocks = tiles(s.lines, of_warp * kWarpsOfLines / parts);
    const double waves = static_cast<double>(blocks * s.count) / slots,
                 whole = std::max(1.0, std::ceil(waves)),
                 reads = waves < 1 ? std::sqrt(waves) : 1 - kLostByTail * (1 - waves / whole),
                 busy = std::max(kLeastBusy, reads - kLostByParting * times);
    const auto rounds = static_cast<double>(tiles(tiles(s.k, of_round), parts));
    const double time_s =
        tuning.launch_s + std::max(memory_s / busy, whole * (rounds * kRound_s + kEnds_s));
    if (best.blocks == 0 || time_s < best.time_s) best = {blocks, parts, time_s};
  }
  return best;
}

// Along k a warp has `lines` of Y, and reads `in_flight` pieces of each at once, of kWidth
// elements. They are as many as registers allow, for these are what memory is kept busy with.
template <int kRows_, int kLines_, int kWidth_>
struct AlongConfig {
  static constexpr int rows = kRows_, lines = kLines_, width = kWidth_, sums = rows * lines,
                       in_flight = width == 1                 ? (rows == 8 ? 16 : 32) / lines
                                   : lines == 8 || sums == 32 ? 1
                                                              : 2,
                       pieces = 32 * in_flight;
};
// Many lines of a warp share what it reads of X; few leave more warps, and shorter ways along k,
// where X lies so, too.
template <class Many, class Few, class Run>
auto with_fewer_lines(const LinesShape& s, const runtime::Machine& machine, const Run& run) {
  const LinesSplit many = split_lines(s, Many::lines, Many::pieces * Many::width, machine),
                   few = split_lines(s, Few::lines, Few::pieces * Few::width, machine);
  constexpr double kWorthIt = 0.9;
  return !s.strides && few.time_s < kWorthIt * many.time_s ? run.template operator()<Few>(few)
                                                           : run.template operator()<Many>(many);
}
template <int kWidth, class Run>
auto with_width_along(const LinesShape& s, const runtime::Machine& machine, const Run& run) {
  if (s.few > 4) {
    return with_fewer_lines<AlongConfig<8, 4, kWidth>, AlongConfig<8, 2, kWidth>>(s, machine, run);
  }
  if (s.few > 2) {
    return with_fewer_lines<AlongConfig<4, 8, kWidth>, AlongConfig<4, 2, kWidth>>(s, machine, run);
  }
  return with_fewer_lines<AlongConfig<2, 8, kWidth>, AlongConfig<2, 4, kWidth>>(s, machine, run);
}
template <class Run>
auto with_along(const LinesShape& s, const runtime::Machine& machine, const Run& run) {
  return s.words ? with_width_along<1>(s, machine, run) : with_width_along<4>(s, machine, run);
}

// Longer sums of a lane lose more than cublasSgemm's do.
constexpr std::int64_t kLongestLines = 32 << 10;
// Whether those of all rungs on CUDA cores do so, too. That is so for 5 to 8 rows of long lines,
// all along k, which cublasSgemm shares out among many threads.
inline bool loses_by_lines(const Problem& p) {
  constexpr std::int64_t kShortest = 1 << 10, kLeastElements = 8 << 20, kLeastLines = 1536,
                         kFew = 4;
  const LinesShape s = lines_shape(p, true, 1);
  return p.trans_b && !p.trans_a && s.few > kFew && s.few <= kMostFewLines && p.k >= kShortest &&
         p.k <= kLongestLines && s.lines >= std::max(kLeastLines, kLeastElements / p.k);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
