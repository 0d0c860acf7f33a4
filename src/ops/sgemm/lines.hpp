#pragma once
// Which products row_19_few_lines takes, how it shares their lines out among warps, and for which
// plan() considers it. Host code of the rung and of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tuning.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kWarpsOfLines = 8, kMostFewLines = 8;
template <int kRows>
constexpr int kLinesOfWarp = 32 / kRows;

// `p` is row-major. The smaller operand has few lines, and the larger one's lie along k.
inline bool has_few_lines(const Problem& p) {
  return (p.m <= kMostFewLines && p.trans_b && (p.trans_a || p.m <= p.n)) ||
         (p.n <= kMostFewLines && !p.trans_a && (!p.trans_b || p.n < p.m));
}

struct LinesSplit {
  std::int64_t ctas;
  int parts;  // warps of a CTA that share lines
};
// As few parts, for they share no rows of the small operand, as keep the multiprocessors busy.
inline LinesSplit split_lines(std::int64_t rows, std::int64_t lines,
                              const runtime::Machine& machine) {
  constexpr double kLostByParting = 0.08;
  const int of_warp = rows > 4 ? kLinesOfWarp<8> : kLinesOfWarp<4>;
  const double slots = 2.0 * machine.multiprocessors;
  LinesSplit best{};
  double most = -1;
  for (int parts = 1, times = 0; parts <= kWarpsOfLines; parts *= 2, ++times) {
    const std::int64_t ctas = tiles(lines, of_warp * kWarpsOfLines / parts);
    const double waves = static_cast<double>(ctas) / slots,
                 busy = waves / std::ceil(waves) - kLostByParting * times;
    if (busy > most) most = busy, best = {ctas, parts};
  }
  return best;
}

// Lines enough for all multiprocessors, long enough, and bytes enough, to keep memory busy. Longer
// sums of a lane would lose more than cublasSgemm's do.
inline bool are_for_lines(const Problem& p) {
  constexpr std::int64_t kShortest = 2 << 10, kLongest = 32 << 10, kLeastElements = 8 << 20,
                         kLeastLines = 1536;
  const bool by_rows = p.layout == Layout::row_major;
  const bool along = by_rows != p.trans_a && by_rows == p.trans_b;  // both operands, along k
  return along && std::min(p.m, p.n) <= kMostFewLines && p.k >= kShortest && p.k <= kLongest &&
         std::max(p.m, p.n) >= std::max(kLeastLines, kLeastElements / p.k);
}

inline double time_of_lines(const Problem& p, const runtime::Machine& machine) {
  constexpr double kOfTiles = 1.1;  // of the bandwidth that row_11 reaches
  constexpr double kOfWords = 0.6;  // lines that begin at any word, of others' bandwidth
  const Tuning& tuning = tuning_of(machine);
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  return tuning.launch_s + 4 * ((m + n) * k + m * n) /
                               ((p.k % 4 == 0 ? 1 : kOfWords) * kOfTiles * tuning.memory_share *
                                machine.memory_bytes_per_s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
