#pragma once
// Tiles of C that fit small products (row_29_fitted_tiles): their sizes, and the time that a batch
// takes in them by a model. Host code of the rung and of plan().

#include <cmath>

#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kMostFittedWarps = 4;

// A warp's tile: 4·kLaneX lines by 8·kLaneY, of which a lane has kLaneX×kLaneY sums. `resident`:
// CTAs of kMostFittedWarps warps on a multiprocessor.
template <int kLaneX, int kLaneY>
struct FittedTile {
  static constexpr int lane_x = kLaneX, lane_y = kLaneY, lanes_x = 4, lanes_y = 8,
                       tile_x = lanes_x * lane_x, tile_y = lanes_y * lane_y, depth = 16,
                       resident = lane_x * lane_y > 32 ? 4 : 5;
};

// Which side of C lies along tile_x, and how many warps part a tile's k.
struct FittedPlan {
  bool rows_are_x;
  int warps;
  double time_s;
};
inline double seconds_of(const FittedPlan& plan) { return plan.time_s; }

// What a tile takes as many times as long as its multiply-adds and loads say. Fitted to 8,154 times
// of 816 products and batches on an H200, as are the constants below.
template <class C>
constexpr double kFittedTimes = 0;
template <>
constexpr double kFittedTimes<FittedTile<3, 4>> = 0.923;
template <>
constexpr double kFittedTimes<FittedTile<4, 4>> = 1.070;
template <>
constexpr double kFittedTimes<FittedTile<5, 4>> = 0.918;
template <>
constexpr double kFittedTimes<FittedTile<4, 5>> = 0.981;
template <>
constexpr double kFittedTimes<FittedTile<5, 5>> = 0.987;
template <>
constexpr double kFittedTimes<FittedTile<6, 4>> = 0.986;
template <>
constexpr double kFittedTimes<FittedTile<4, 6>> = 1.064;
template <>
constexpr double kFittedTimes<FittedTile<6, 6>> = 0.977;
template <>
constexpr double kFittedTimes<FittedTile<8, 5>> = 0.933;

// Loads that bring a lane so many words of a line across k: of four, of two and of one.
constexpr int loads_of(int words) { return words / 4 + words % 4 / 2 + words % 2; }

// Nanoseconds of an H100's multiprocessor for copying 32 elements of an operand.
inline double copy_ns(bool along, bool fours) { return along ? 0.645 : fours ? 0.259 : 0.825; }
// The same for storing 32 elements.
inline double store_ns(bool rows_are_x, bool fours) {
  return rows_are_x ? (fours ? 4.34 : 4.64) : (fours ? 3.23 : 6.49);
}

// Whether a lane has fours of C's neighbours alone, and a lone warp may store them as such.
template <class C>
constexpr bool stores_fours(bool rows_are_x) {
  return (rows_are_x ? C::lane_y : C::lane_x) % 4 == 0;
}

template <class C>
double fitted_time(const ThreadedShape& s, bool rows_are_x, int warps,
                   const runtime::Machine& machine) {
  constexpr double kLaunch_s = 4.13e-6, kShareOfMemory = 1.24;
  constexpr double kFma_ns = 0.625, kLoad_ns = 4.80;                              // of four of k
  constexpr double kTurn_ns = 65, kCopy = 7.12, kSum_ns = 24.6, kJoin_ns = 1340;  // of a warp alone
  static_assert(kFittedTimes<C> > 0);
  constexpr int kSums = C::lane_x * C::lane_y;
  const std::int64_t lines_x = rows_are_x ? s.m : s.n, lines_y = rows_are_x ? s.n : s.m,
                     slots = machine.multiprocessors * (C::resident * kMostFittedWarps / warps);
  const auto count = static_cast<double>(tiles(lines_x, C::tile_x) * tiles(lines_y, C::tile_y)) *
                     static_cast<double>(s.count);
  const auto fours = static_cast<double>(tiles(s.k, 4)),
             steps = static_cast<double>(tiles(s.k, C::depth)),
             turns = static_cast<double>(tiles(s.k, C::depth * warps));
  const double of_a = copy_ns(!s.trans_a, s.m % 4 == 0), of_b = copy_ns(s.trans_b, s.n % 4 == 0),
               copies_ns = 2 * C::lane_x * (rows_are_x ? of_a : of_b) +
                           4 * C::lane_y * (rows_are_x ? of_b : of_a);
  const bool direct = s.n % 4 == 0 && stores_fours<C>(rows_are_x) && warps == 1;
  const double busy_ns =
      kFittedTimes<C> *
          (fours * (kSums * kFma_ns + (loads_of(C::lane_x) + loads_of(C::lane_y)) * kLoad_ns) +
           warps * kSums * store_ns(rows_are_x, direct)) +
      steps * copies_ns;
  const double alone_ns =
      turns * (kTurn_ns + kCopy * copies_ns + kSum_ns * kSums) + (warps > 1 ? kJoin_ns : 0);
  const double share = h100_share_of(machine),
               waves = std::ceil(count / static_cast<double>(slots));
  return kLaunch_s + std::hypot(1e-9 * count * busy_ns * share,
                                1e-9 * waves * alone_ns * share * machine.multiprocessors,
                                bytes_of(s) / (kShareOfMemory * machine.memory_bytes_per_s));
}

template <class C>
FittedPlan fitted_plan_of(const ThreadedShape& s, const runtime::Machine& machine) {
  FittedPlan best{};
  for (const bool rows_are_x : {true, false}) {
    for (int warps = 1; warps <= kMostFittedWarps; warps *= 2) {
      if (warps > 1 && s.k < 2 * C::depth * warps) continue;
      const double time_s = fitted_time<C>(s, rows_are_x, warps, machine);
      if (best.warps == 0 || time_s < best.time_s) best = {rows_are_x, warps, time_s};
    }
  }
  return best;
}

// `run` gets the tile's configuration and its plan.
template <class Run>
auto with_fitted_tile(const ThreadedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<FittedTile<4, 4>, FittedTile<3, 4>, FittedTile<5, 4>, FittedTile<6, 4>,
                           FittedTile<4, 5>, FittedTile<5, 5>, FittedTile<4, 6>, FittedTile<6, 6>,
                           FittedTile<8, 5>>(
      asked_of(s), machine, [&]<class C>() { return fitted_plan_of<C>(s, machine); }, run);
}

// Whatever the tile. Sizes are counted in 31 bits.
inline bool fits_fitted(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
  using Least = FittedTile<3, 4>;
  const std::int64_t of_c = std::max(tiles(m, Least::tile_x) * tiles(n, Least::tile_y),
                                     tiles(m, Least::tile_y) * tiles(n, Least::tile_x));
  return std::max({m, n, k}) <= INT32_MAX - kMostFittedWarps * Least::depth &&
         fits_grid(of_c, count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
