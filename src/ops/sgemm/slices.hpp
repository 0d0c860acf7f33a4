#pragma once
// How a product on CUDA cores is cut into tiles of C and slices of k, and what time that takes by a
// model: bytes, multiply-adds, rounds of CTAs on a multiprocessor, launches. Host code of rungs and
// of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tuning.hpp"

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

struct Slices {
  int count, rounds;
  double time_s;  // by the model
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

// The fastest of the numbers of slices that fill the multiprocessors evenly. Sums of same-sign
// terms lose accuracy with their length: where tiles are few, slices are at least so many that a
// thread adds up about kLongestSum terms. The slices' sums must fit into workspace_bytes().
template <class C>
Slices slices_of(std::int64_t m, std::int64_t n, std::int64_t k, const runtime::Machine& machine) {
  constexpr std::int64_t kLongestSum = 1024, kMostEach = 8;
  constexpr double kMost = 4096;
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const std::int64_t ctas = std::max<std::int64_t>(1, tiles(x, C::tile_x) * tiles(y, C::tile_y)),
                     rounds = tiles(k, C::depth * C::groups);
  // m·n·4 bytes for each slice, in 8·(m + n)·k bytes.
  const double room = 2.0 * static_cast<double>(k) * static_cast<double>(m + n) /
                      std::max(1.0, static_cast<double>(m) * static_cast<double>(n));
  const std::int64_t most = std::max<std::int64_t>(
      1, std::min<std::int64_t>(rounds, static_cast<std::int64_t>(std::min(room, kMost))));
  const std::int64_t least =
      ctas >= machine.multiprocessors
          ? 1
          : std::clamp<std::int64_t>(tiles(rounds * C::depth, kLongestSum), 1, most);
  Slices best{};
  const auto consider = [&](std::int64_t wanted) {
    const auto count = static_cast<int>(std::clamp(wanted, least, most));
    const double time_s = sliced_time<C>(m, n, k, count, rounds, machine);
    if (best.count == 0 || time_s < best.time_s) best = {count, static_cast<int>(rounds), time_s};
  };
  consider(least);
  for (std::int64_t each = 1; each <= kMostEach; ++each) {
    consider(each * machine.multiprocessors / ctas);
  }
  return best;
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
  const Slices small = slices_of<SmallTile>(m, n, k, machine),
               middle = slices_of<MiddleTile>(m, n, k, machine),
               wide = slices_of<WideTile>(m, n, k, machine);
  if (wide.time_s <= middle.time_s && wide.time_s <= small.time_s) {
    return run.template operator()<WideTile>(wide);
  }
  if (middle.time_s <= small.time_s) return run.template operator()<MiddleTile>(middle);
  return run.template operator()<SmallTile>(small);
}

inline std::size_t bytes_of_slices(const Slices& slices, const Problem& p) {
  return slices.count == 1 ? 0
                           : sizeof(float) * static_cast<std::size_t>(slices.count) *
                                 static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
