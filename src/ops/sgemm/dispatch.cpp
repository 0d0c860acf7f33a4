#include "ops/sgemm/dispatch.hpp"

#include <cmath>

namespace warpladder::sgemm {

namespace {

constexpr double kTile = 128;
double tiles_of(const Problem& p) {
  return std::ceil(static_cast<double>(p.m) / kTile) * std::ceil(static_cast<double>(p.n) / kTile);
}

// Seconds that a product takes on one H200, in round numbers from LADDER.md: in float64 on tensor
// cores, and in pairs of halves, into which the operands are split first.
double time_in_float64(const Problem& p) { return 3e-6 + flops(p) / 57e12; }
double time_in_pairs(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const double split_s = 16 * (m + n) * k / 2.8e12;  // 8 bytes an element, read and written
  return 12e-6 + split_s + tiles_of(p) * kTile * kTile * 2 * k / 235e12;
}

// Whether pairs are as accurate as cublasSgemm, which splits k where tiles are few. Of short sums
// it loses less than they do.
bool pairs_are_accurate(const Problem& p) {
  return p.k >= 1024 || (p.k >= 256 && tiles_of(p) >= 64);
}

}  // namespace

const ladder::AnyRung& choose(const Problem& problem, runtime::Target target) {
  // The executor pays for loads and barriers, too: tiles in registers help it as they help a GPU.
  // What the later rungs add hides latencies that it does not have.
  if (target == runtime::Target::cpu) return ladder::find_rung("sgemm", "row_04_vector_load");

  // Of the rungs that take every problem, and want nothing done beforehand.
  const bool pairs =
      pairs_are_accurate(problem) && time_in_pairs(problem) < time_in_float64(problem);
  return ladder::find_rung("sgemm", pairs ? "tc_10_full_range" : "row_08_double");
}

}  // namespace warpladder::sgemm
