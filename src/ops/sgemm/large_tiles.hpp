#pragma once
// What rungs of large tiles take by the model: row_08, tc_10 and tc_13. Host code of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/cuts.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr double kLargeTile = 128;
inline double tiles_of(const Problem& p) {
  return std::ceil(static_cast<double>(p.m) / kLargeTile) *
         std::ceil(static_cast<double>(p.n) / kLargeTile);
}

// A and B once, and C. Not minimal_bytes(): a caller that asks for a workspace knows no beta.
inline double bytes_of(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  return sizeof(float) * ((m + n) * k + m * n);
}

// Seconds by the model (slices.hpp, tuning.hpp). Of a kernel of large tiles, what C takes at their
// end: lines that are no multiples of 4 elements are stored word by word.
inline double time_of_large_stores(const Problem& p, const runtime::Machine& machine) {
  const Tuning& tuning = tuning_of(machine);
  const bool whole = p.n % 4 == 0;
  return bytes_of(p) / ((whole ? tuning.large_store_share : tuning.ragged_store_share) *
                        machine.memory_bytes_per_s);
}
// row_08_double: float64 on tensor cores, in tiles of which smaller ones lose more time to loads.
inline WithCut<double> taken_in_float64(const Problem& p, const runtime::Machine& machine) {
  struct Square {
    int tile;
    double elements;  // of C, in all rounds, each as long as in the largest tiles
  };
  const auto square = [&](int tile, double loss) {
    const auto all = static_cast<double>(tiles(p.m, tile) * tiles(p.n, tile));
    return Square{tile, std::ceil(all / machine.multiprocessors) * tile * tile * loss};
  };
  const auto [tile, elements] = std::ranges::min(
      {square(128, 1.0), square(64, 1.15), square(32, 1.5)}, {}, &Square::elements);
  const Tuning& tuning = tuning_of(machine);
  constexpr int kStep = 16;  // of its tiles along k
  const double multiply_s = 2 * elements * static_cast<double>(p.k) * machine.multiprocessors /
                            (tuning.f64_share * machine.f64_tensor_flops_per_s),
               steps_s = tuning.f64_step_s * static_cast<double>(tiles(p.k, kStep));
  return {tuning.launch_s + std::max(multiply_s, steps_s) + time_of_large_stores(p, machine),
          {tile, tile, 1, tiles(p.k, kStep)}};
}
// tc_10_full_range: pairs of halves, into which a pass splits the operands, or A alone, first.
inline double time_in_pairs(const Problem& p, const runtime::Machine& machine, bool prepared) {
  const Tuning& tuning = tuning_of(machine);
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  // 8 bytes an element, read and written.
  const double bytes = 16 * (prepared ? m : m + n) * k;
  // Two multiprocessors share a tile's k where tiles are few.
  const double busy = std::min<double>(2 * tiles_of(p), machine.multiprocessors);
  const double rate =
      tuning.pairs_share * machine.f16_tensor_flops_per_s * busy / machine.multiprocessors;
  return tuning.pairs_launch_s + bytes / (tuning.pass_share * machine.memory_bytes_per_s) +
         tiles_of(p) * kLargeTile * kLargeTile * 2 * k / rate +
         4 * m * n / (tuning.store_share * machine.memory_bytes_per_s);
}

// tc_13_mma_sync: the same with large tiles, one on a multiprocessor, or small ones, three, which
// lose more time to loads.
inline double time_by_warps(const Problem& p, const runtime::Machine& machine) {
  const WarpTuning& tuning = tuning_row_of(machine).pairs_by_warps;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const auto waves = [&](int rows, int columns, int on_one, double loss) {
    const auto all = static_cast<double>(tiles(p.m, rows) * tiles(p.n, columns));
    return std::ceil(all / (on_one * machine.multiprocessors)) * on_one * rows * columns * loss;
  };
  const double elements = std::min(waves(128, 256, 1, 1.0), waves(64, 64, 3, 1.2));
  return tuning.launch_s + 16 * (m + n) * k / (tuning.pass_share * machine.memory_bytes_per_s) +
         2 * elements * k * machine.multiprocessors /
             (tuning.pairs_share * machine.f16_tensor_flops_per_s) +
         4 * m * n / (tuning_of(machine).store_share * machine.memory_bytes_per_s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
