#pragma once
// Which products row_19_few_lines takes, how it shares their lines out among warps, and what that
// takes by the model. Host code of the rung and of plan().

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
  constexpr double kLostByParting = 0.03;
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

inline double time_of_lines(const Problem& p, const runtime::Machine& machine) {
  constexpr double kStep_s = 1e-6;  // the latency of a warp's loads
  const Tuning& tuning = tuning_of(machine);
  const std::int64_t rows = std::min(p.m, p.n), lines = std::max(p.m, p.n);
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const LinesSplit split = split_lines(rows, lines, machine);
  const double of_step = 128.0 * (rows > 4 ? 2 : 1) * split.parts;
  const double bytes = 4 * ((m + n) * k + m * n);
  return tuning.launch_s + std::max(bytes / (tuning.memory_share * machine.memory_bytes_per_s),
                                    std::ceil(k / of_step) * kStep_s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
