#pragma once
// How a product on CUDA cores is cut into tiles of C and slices of k, and what time that takes by a
// model. The model has bytes, multiply-adds, rounds of CTAs on a multiprocessor, and launches. Host
// code of rungs and of plan().

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tuning.hpp"
#include "runtime/remembered.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile: `groups` of warps, each of which multiplies C::depth of k in a round. A warp's
// lanes stand in lanes_x by lanes_y, a lane has lane_x by lane_y elements.
template <int kLanesX, int kLaneY, int kWarpsX, int kWarpsY, int kGroups, int kDepth, int kStages,
          int kResident>
struct SlicedConfig {
  static constexpr int lanes_x = kLanesX, lanes_y = 32 / kLanesX, lane_x = 8, lane_y = kLaneY,
                       warps_x = kWarpsX, warps_y = kWarpsY, groups = kGroups, depth = kDepth,
                       stages = kStages, resident = kResident, group_warps = warps_x * warps_y,
                       threads = 32 * group_warps * groups, tile_x = lanes_x * lane_x * warps_x,
                       tile_y = lanes_y * lane_y * warps_y;
  static_assert(stages == 1 || stages > 2);
};

// Slices of k, of so many rounds in all. The first rows or columns of C may be multiplied whole.
struct Slices {
  int count, rounds;
  double time_s;  // by the model
  std::int64_t whole_rows = 0, whole_columns = 0;
};

// What `count` slices take. A multiprocessor's CTAs share its multiply-adds; few of them leave some
// issue slots empty.
template <class C>
double sliced_time(std::int64_t m, std::int64_t n, std::int64_t k, int count, std::int64_t rounds,
                   const runtime::Machine& machine) {
  const Tuning& tuning = tuning_of(machine);
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const auto ctas = static_cast<double>(tiles(x, C::tile_x) * tiles(y, C::tile_y)) * count;
  const double on_one = std::ceil(ctas / machine.multiprocessors);
  const double fma_share = C::lane_y == 8 ? tuning.fma_share : tuning.fma_share_of_narrow_lanes;
  const double flops_of_round = 2.0 * C::tile_x * C::tile_y * C::depth * C::groups;
  const double rate = fma_share * machine.fp32_flops_per_s / machine.multiprocessors;
  const auto rounds_of_slice = static_cast<double>((rounds + count - 1) / count);
  const double multiply_s =
      std::max(on_one, tuning.ctas_that_fill) * rounds_of_slice * flops_of_round / rate;
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double memory_s = 4.0 * static_cast<double>(m + n) * static_cast<double>(k) /
                          (tuning.memory_share * machine.memory_bytes_per_s),
               store_s = 4.0 * mn / (tuning.narrow_store_share * machine.memory_bytes_per_s);
  const double l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors;
  const double l2_s =
      ctas * rounds_of_slice * 4.0 * (C::tile_x + C::tile_y) * C::depth * C::groups / l2_rate;
  const double end_s = count == 1 ? store_s : tuning.join_s + 8.0 * count * mn / l2_rate;
  return tuning.launch_s + std::max({multiply_s, memory_s, l2_s}) + end_s;
}

// Slices of rows·line sums each that fit into workspace_bytes(): 4 bytes a sum, in 8·(m + n)·k.
inline std::int64_t slices_that_fit(std::int64_t m, std::int64_t n, std::int64_t k,
                                    std::int64_t rows, std::int64_t line) {
  constexpr double kMost = 4096;
  const double room = 2.0 * static_cast<double>(k) * static_cast<double>(m + n) /
                      std::max(1.0, static_cast<double>(rows) * static_cast<double>(line));
  return static_cast<std::int64_t>(std::min(room, kMost));
}

// The fastest of the numbers of slices that fill the multiprocessors evenly, from `least` on, by
// time(count). `line`: elements from a row of a slice's sums to the next one; they must fit into
// workspace_bytes().
template <class Time>
Slices fastest_slices(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t line,
                      std::int64_t tiles_of_c, std::int64_t rounds, std::int64_t least,
                      std::int64_t most_each, const runtime::Machine& machine, const Time& time) {
  const std::int64_t most =
      std::max<std::int64_t>(1, std::min(rounds, slices_that_fit(m, n, k, m, line)));
  least = std::clamp<std::int64_t>(least, 1, most);
  Slices best{};
  int last = 0;  // the number that was tried last: most are tried again where tiles are many
  for (std::int64_t each = 0; each <= most_each; ++each) {
    const auto count = static_cast<int>(
        std::clamp<std::int64_t>(each * machine.multiprocessors / tiles_of_c, least, most));
    if (count == last) continue;
    last = count;
    const double time_s = time(count);
    if (best.count == 0 || time_s < best.time_s) best = {count, static_cast<int>(rounds), time_s};
  }
  return best;
}

// The slices' sums lie in the workspace as rows that begin at multiples of 16 bytes.
inline std::int64_t line_of_slice(std::int64_t n) { return (n + 3) / 4 * 4; }
inline std::size_t bytes_of_product_slices(const Slices& slices, const Problem& p) {
  return slices.count == 1
             ? 0
             : sizeof(float) * static_cast<std::size_t>(slices.count) *
                   static_cast<std::size_t>(p.m - slices.whole_rows) *
                   static_cast<std::size_t>(line_of_slice(p.n - slices.whole_columns));
}

// Sums of same-sign terms lose accuracy with their length. Where tiles of C are few, slices are at
// least so many that a thread adds up about kLongestSum of its `depth` terms.
inline std::int64_t least_slices(std::int64_t tiles_of_c, std::int64_t depth,
                                 const runtime::Machine& machine) {
  constexpr std::int64_t kLongestSum = 1024;
  return tiles_of_c >= machine.multiprocessors ? 1 : tiles(depth, kLongestSum);
}
template <class C>
Slices slices_of(std::int64_t m, std::int64_t n, std::int64_t k, const runtime::Machine& machine) {
  constexpr std::int64_t kMostEach = 8;
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const std::int64_t ctas = std::max<std::int64_t>(1, tiles(x, C::tile_x) * tiles(y, C::tile_y)),
                     rounds = tiles(k, C::depth * C::groups);
  return fastest_slices(m, n, k, n, ctas, rounds, least_slices(ctas, rounds * C::depth, machine),
                        kMostEach, machine,
                        [&](int count) { return sliced_time<C>(m, n, k, count, rounds, machine); });
}

// The same of `count` products in tiles of C, of whose k a thread adds up a part in `sharers`.
template <class C, class Time>
Slices slices_of_batch(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                       int sharers, const runtime::Machine& machine, const Time& time) {
  constexpr std::int64_t kMostEach = 12;  // CTAs of a multiprocessor
  const std::int64_t of_c =
      std::max<std::int64_t>(1, tiles(m, C::rows) * tiles(n, C::columns) * count);
  return fastest_slices(m, n, k, line_of_slice(n), of_c, tiles(k, C::depth),
                        least_slices(of_c, k / sharers, machine), kMostEach, machine, time);
}
// Whether lines of A and B in memory are multiples of 4 elements, by the sizes alone. A plan's
// workspace must not depend on leading dimensions.
inline bool has_whole_lines(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a,
                            bool trans_b) {
  return ((trans_a ? m : k) | (trans_b ? k : n)) % 4 == 0;
}

inline double seconds_of(double time_s) { return time_s; }
inline double seconds_of(const Slices& slices) { return slices.time_s; }
template <class First, class... Others, class Chosen, class Run>
auto with_tile_number(int which, const Chosen& chosen, const Run& run) {
  if constexpr (sizeof...(Others) > 0) {
    if (which > 0) return with_tile_number<Others...>(which - 1, chosen, run);
  }
  return run.template operator()<First>(chosen);
}
template <class Said>
struct FastestTile {
  int number;
  Said said;
};
template <class... Tiles, class Choice>
auto fastest_tile(const Choice& choice) {
  const auto all = std::to_array({choice.template operator()<Tiles>()...});
  int fastest = 0;
  for (int i = 1; i < static_cast<int>(all.size()); ++i) {
    if (seconds_of(all[i]) < seconds_of(all[fastest])) fastest = i;
  }
  return FastestTile<typename decltype(all)::value_type>{fastest, all[fastest]};
}
template <class Choice, class... Tiles>
struct FastestOf;  // names the question
// `run` gets the tile that takes the shortest time, of two the one that is named first. It also
// gets what choice<Tile>() said of it: Slices, or seconds. Each launch would compare all tiles, so
// the thread remembers the choice: it must follow from `asked` and `machine` alone.
template <class... Tiles, class Choice, class Run>
auto with_fastest_tile(const runtime::Asked& asked, const runtime::Machine& machine,
                       const Choice& choice, const Run& run) {
  const auto choose = [&] { return fastest_tile<Tiles...>(choice); };
  const auto tile = [&] {
    if constexpr (runtime::kThisFlavour == runtime::Flavour::gpu) {
      return runtime::remembered<runtime::About::tiles, FastestOf<Choice, Tiles...>>(asked, machine,
                                                                                     choose);
    } else {  // the executor takes longer
      return choose();
    }
  }();
  return with_tile_number<Tiles...>(tile.number, tile.said, run);
}

// row_11_few_rows: as narrow as C. `run` gets the tile's configuration and its slices.
template <class Run>
auto with_narrow_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  const auto with = [&]<class C>() {
    return run.template operator()<C>(slices_of<C>(m, n, k, machine));
  };
  const std::int64_t x = std::min(m, n);
  if (x <= 8) return with.template operator()<SlicedConfig<1, 4, 1, 1, 4, 8, 3, 3>>();
  if (x <= 16) return with.template operator()<SlicedConfig<2, 8, 1, 1, 4, 8, 3, 3>>();
  return with.template operator()<SlicedConfig<4, 8, 1, 1, 4, 8, 4, 3>>();
}

// row_13_split_k: the tile that takes the shortest time by the model.
using SmallTile = SlicedConfig<4, 4, 1, 1, 4, 8, 4, 4>;   // 32×32
using MiddleTile = SlicedConfig<4, 8, 2, 1, 2, 8, 4, 3>;  // 64×64
using WideTile = SlicedConfig<4, 8, 2, 2, 1, 16, 3, 3>;   // 64×128
template <class Run>
auto with_square_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<WideTile, MiddleTile, SmallTile>(
      {m, n, k}, machine, [&]<class C>() { return slices_of<C>(m, n, k, machine); }, run);
}

inline std::size_t bytes_of_slices(const Slices& slices, const Problem& p) {
  return slices.count == 1 ? 0
                           : sizeof(float) * static_cast<std::size_t>(slices.count) *
                                 static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
