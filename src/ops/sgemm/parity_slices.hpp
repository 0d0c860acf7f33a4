#pragma once
// How a product by FP32 multiply-adds is cut into row_07's tiles of C and slices of k, and what
// time that takes by a model. Host code of rungs and of plan().

#include <iterator>
#include <utility>

#include "ops/sgemm/rung_parity_kernel.hpp"
#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The numbers of a ParityShape.
struct ParityConfig {
  int rows = 128, columns = 128, depth = 8, resident = 2;
  static constexpr int warp_rows = ParityWarp::warp_rows, warp_columns = ParityWarp::warp_columns;
  constexpr int threads() const { return 32 * (rows / warp_rows) * (columns / warp_columns); }
  constexpr int shared_bytes() const { return 2 * 4 * depth * (rows + columns); }
  // That a thread may have: the compiler keeps within them.
  constexpr int registers() const {
    const int share = 65536 / (threads() * resident) / 8 * 8;
    return share < 255 ? share : 255;
  }
  bool operator==(const ParityConfig&) const = default;
};
// A thread holds 64 sums and 32 factors; and it fetches whole float4 of A and of B.
constexpr bool valid(ParityConfig c) {
  constexpr int kLeastRegisters = 112, kMostShared = 48 << 10;
  if (c.rows % c.warp_rows != 0 || c.columns % c.warp_columns != 0 || c.depth % 8 != 0)
    return false;
  if (c.threads() > 1024 || c.resident < 1 || c.registers() < kLeastRegisters) return false;
  const auto fetches = [&](int outer) {
    return outer * c.depth % (4 * c.threads()) == 0 && c.threads() % (outer / 4) == 0 &&
           c.threads() % (c.depth / 4) == 0;
  };
  return fetches(c.rows) && fetches(c.columns) && c.shared_bytes() <= kMostShared;
}

// nvcc rejects struct-valued template arguments on kernels, so this wraps the value in a type.
template <ParityConfig config>
struct ParityTileOf : ParityShape<config.rows, config.columns, config.depth, config.resident> {
  static_assert(valid(config));
};
using ParityTile = ParityTileOf<ParityConfig{}>;  // row_07's own, where none was found
using ParityWide = ParityTileOf<ParityConfig{64, 128, 8, 4}>;
using ParityTall = ParityTileOf<ParityConfig{128, 64, 8, 4}>;

// row_07: `run` gets the configuration that was found for the shape, if its lines lie at multiples
// of 4 elements. Those of the shapes did.
constexpr ParityConfig found_parity(int place) {
  const auto& v = kParityFound[place];
  return {v[0], v[1], v[2], v[3]};
}
// Of C's elements, those of the multiprocessor that has most tiles.
inline std::int64_t most_of_one(ParityConfig c, std::int64_t m, std::int64_t n,
                                const runtime::Machine& machine) {
  return tiles(tiles(m, c.rows) * tiles(n, c.columns), machine.multiprocessors) * c.rows *
         c.columns;
}
// A configuration that was found for a shape nearby may leave a last wave that is emptier here.
inline bool has_idle_wave(int found, std::int64_t m, std::int64_t n,
                          const runtime::Machine& machine) {
  constexpr double kGain = 1.03;  // of the found ones over row_07's own
  return static_cast<double>(most_of_one(found_parity(found), m, n, machine)) >
         kGain * static_cast<double>(most_of_one(ParityConfig{}, m, n, machine));
}
template <class Run>
void with_parity_config(std::int64_t m, std::int64_t n, std::int64_t k, bool aligned,
                        const runtime::Machine& machine, const Run& run) {
  int found = aligned ? found_for(kParityShapes, m, n, k, machine, -1) : -1;
  if (found >= 0 && has_idle_wave(found, m, n, machine)) found = -1;
  const auto was_found = [&]<int... kPlaces>(std::integer_sequence<int, kPlaces...>) {
    return ((found == kPlaces && (run.template operator()<found_parity(kPlaces)>(), true)) || ...);
  };
  constexpr int kCount = std::size(kParityFound);
  if (!was_found(std::make_integer_sequence<int, kCount>())) {
    run.template operator()<ParityConfig{}>();
  }
}

// What a CTA takes of a multiprocessor, in seconds, for so many steps of 8 k and its ends. The ends
// are its first loads and its last stores.
template <class C>
double parity_cta_time(std::int64_t steps, const runtime::Machine& machine) {
  constexpr double kShare = C::rows == C::columns ? 1.0 : 0.84;  // of what large tiles reach
  constexpr double kEnds = 1.741;                                // in steps
  const double rate = kShare * tuning_of(machine).fma_share_of_large_tiles *
                      machine.fp32_flops_per_s / machine.multiprocessors;
  return (static_cast<double>(steps) + kEnds) * 2 * C::rows * C::columns * C::depth / rate;
}
// CTAs that keep a multiprocessor busy: fewer leave some issue slots empty.
template <class C>
double parity_ctas_that_fill(const runtime::Machine& machine) {
  constexpr int kLargeTile = 128 * 128;
  return tuning_of(machine).large_ctas_that_fill * kLargeTile / (C::rows * C::columns);
}
// Of an m by n part of C, the last stores, or the join of `count` slices.
inline double parity_end_time(std::int64_t m, std::int64_t n, int count,
                              const runtime::Machine& machine) {
  const Tuning& tuning = tuning_of(machine);
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors,
               store_share = n % 4 == 0 ? tuning.large_store_share : tuning.ragged_store_share;
  return count == 1 ? 4.0 * mn / (store_share * machine.memory_bytes_per_s)
                    : tuning.join_s + 8.0 * count * mn / l2_rate;
}

// What `count` slices take.
template <class C>
double parity_time(std::int64_t m, std::int64_t n, std::int64_t k, int count,
                   const runtime::Machine& machine) {
  const auto ctas = static_cast<double>(tiles(m, C::rows) * tiles(n, C::columns)) * count;
  const double on_one = std::ceil(ctas / machine.multiprocessors);
  return tuning_of(machine).launch_s +
         std::max(on_one, parity_ctas_that_fill<C>(machine)) *
             parity_cta_time<C>(tiles(tiles(k, C::depth), count), machine) +
         parity_end_time(m, n, count, machine);
}

// The same where only `sliced` of so many tiles are sliced: slices fill the holes that whole tiles
// leave on multiprocessors.
template <class C>
double partly_sliced_time(std::int64_t all, std::int64_t sliced, std::int64_t k, int count,
                          const runtime::Machine& machine) {
  const std::int64_t rounds = tiles(k, C::depth), whole = all - sliced;
  const double whole_s = parity_cta_time<C>(rounds, machine),
               slice_s = parity_cta_time<C>(tiles(rounds, count), machine),
               of_whole = static_cast<double>(tiles(whole, machine.multiprocessors)) * whole_s,
               work_s = (static_cast<double>(whole) * whole_s +
                         static_cast<double>(sliced * count) * slice_s) /
                        machine.multiprocessors,
               evened_s = std::ceil(work_s / slice_s) * slice_s;
  return tuning_of(machine).launch_s +
         std::max({of_whole, evened_s, parity_ctas_that_fill<C>(machine) * whole_s}) +
         parity_end_time(sliced * C::rows, C::columns, count, machine);
}

// Where the last wave of tiles leaves multiprocessors idle, the last rows or columns of C are in
// slices. Whole tiles then fill all waves before, or all but one. `best` if that gains too little.
template <class C>
Slices partly_sliced_of(const Slices& best, std::int64_t m, std::int64_t n, std::int64_t k,
                        const runtime::Machine& machine) {
  constexpr int kMostEach = 6;       // slices of a multiprocessor
  constexpr double kWorthIt = 0.95;  // of the time: the model errs by as much
  const std::int64_t tiles_m = tiles(m, C::rows), tiles_n = tiles(n, C::columns),
                     all = tiles_m * tiles_n, waves = all / machine.multiprocessors;
  Slices found = best;
  found.time_s *= kWorthIt;
  const auto consider = [&](std::int64_t sliced, std::int64_t rows, std::int64_t columns) {
    const std::int64_t most = std::min<std::int64_t>(
        best.rounds, slices_that_fit(m, n, k, m - rows, line_of_slice(n - columns)));
    for (int each = 1; each <= kMostEach; ++each) {
      const std::int64_t count = each * machine.multiprocessors / sliced;
      if (count < 2 || count > most) continue;
      const double time_s = partly_sliced_time<C>(all, sliced, k, static_cast<int>(count), machine);
      if (time_s < found.time_s) {
        found = {static_cast<int>(count), best.rounds, time_s, rows, columns};
      }
    }
  };
  for (std::int64_t full = std::max<std::int64_t>(1, waves - 1); full <= waves; ++full) {
    const std::int64_t whole = full * machine.multiprocessors, down = whole / tiles_n,
                       across = whole / tiles_m;
    if (down > 0 && down < tiles_m) consider((tiles_m - down) * tiles_n, down * C::rows, 0);
    if (across > 0 && across < tiles_n)
      consider((tiles_n - across) * tiles_m, 0, across * C::columns);
  }
  return found.whole_rows + found.whole_columns > 0 ? found : best;
}

template <class C>
Slices parity_slices_of(std::int64_t m, std::int64_t n, std::int64_t k,
                        const runtime::Machine& machine) {
  const std::int64_t of_c = std::max<std::int64_t>(1, tiles(m, C::rows) * tiles(n, C::columns)),
                     rounds = tiles(k, C::depth);
  const Slices all = fastest_slices(
      m, n, k, line_of_slice(n), of_c, rounds, least_slices(of_c, k, machine), 4 * C::resident,
      machine, [&](int count) { return parity_time<C>(m, n, k, count, machine); });
  return partly_sliced_of<C>(all, m, n, k, machine);
}

// row_20_parity_split_k: `run` gets the tile's configuration and its slices.
template <class Run>
auto with_parity_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<ParityTile, ParityWide, ParityTall>(
      {m, n, k}, machine, [&]<class C>() { return parity_slices_of<C>(m, n, k, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
