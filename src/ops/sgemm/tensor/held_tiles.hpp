#pragma once
// The tiles of a product whose k is short, and what time they take by a model. X's terms lie in
// shared memory for all of k (held_terms.hpp). Host code of a rung and of plan().

#include <limits>

#include "ops/sgemm/tensor/term_slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile_x lines of X, and its warpgroups, of tile_y lines of Y each. They have tiles of
// their own, or share one tile's k (kShared). most_depth: of k, for which shared memory has room.
template <int kColumns, int kWarpgroups, bool kShared, int kMostDepth>
struct HeldConfig {
  static constexpr int tile_x = kColumns, blocks = kColumns / 32, tile_y = 64, depth = 32,
                       warpgroups = kWarpgroups, threads = 128 * warpgroups,
                       slices = kShared ? warpgroups : 1, own_tiles = warpgroups / slices,
                       most_depth = kMostDepth;
  static constexpr bool of_all_rounds = true;  // as TermConfig has it
};
using HeldOf32 = HeldConfig<32, 4, false, 1024>;
using HeldTogether = HeldConfig<32, 4, true, 1024>;
using HeldOf64 = HeldConfig<64, 3, false, 512>;
constexpr std::int64_t kMostHeldDepth = 1024;

// X are A's rows where these are fewer, and either few or C's rows even. Else they are B's columns,
// and odd rows of C are stored whole.
inline bool rows_are_held(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kFew = 128;
  return m < n && (m <= kFew || n % 2 == 0);
}
// Whether the grid has room for the tiles.
inline bool fits_held(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
  constexpr std::int64_t kMostTiles = 65535;
  if (count > kMostTiles) return false;
  const bool rows = rows_are_held(m, n);
  return k <= kMostHeldDepth && tiles(rows ? m : n, 64) <= kMostTiles / 2 &&
         tiles(rows ? n : m, 64) <= INT32_MAX;
}

// CTAs of a tile of X, and the seconds that all take by the model.
struct HeldPlan {
  unsigned ctas;
  double time_s;
};
inline double seconds_of(const HeldPlan& plan) { return plan.time_s; }

// What a launch takes, and a round of X until its terms are there. What a round of Y takes in a
// lone warpgroup, and longer for each other one; the same of a tile's end. What a round takes where
// lines begin at any word, and what a multiprocessor's share of the L2 cache gives. Fitted to 420
// products on an H100, on average to 6 %.
struct HeldTiming {
  double launch_s, hold_s, round_s, round_more_s, end_s, end_more_s, ragged_s, l2_bytes_per_s;
};
template <class C>
constexpr HeldTiming kHeldTiming{};
template <>
constexpr HeldTiming kHeldTiming<HeldOf32>{4.275e-6, 0.228e-6, 0.470e-6, 0.150e-6,
                                           0.571e-6, 0.395e-6, 0.062e-6, 19.2e9};
template <>
constexpr HeldTiming kHeldTiming<HeldTogether>{4.052e-6, 0.104e-6, 0.624e-6, 0.250e-6,
                                               0.228e-6, 0.019e-6, 0.050e-6, 15.0e9};
template <>
constexpr HeldTiming kHeldTiming<HeldOf64>{4.299e-6, 0.376e-6, 0.530e-6, 0.235e-6,
                                           1.404e-6, 0.492e-6, 0.094e-6, 33.3e9};

template <class C>
HeldPlan held_plan(const StreamedShape& s, const runtime::Machine& machine) {
  constexpr HeldTiming kTiming = kHeldTiming<C>;
  static_assert(kTiming.round_s > 0);
  const bool rows = rows_are_held(s.m, s.n);
  const std::int64_t tiles_x = std::max<std::int64_t>(1, tiles(rows ? s.m : s.n, C::tile_x)),
                     tiles_y = std::max<std::int64_t>(1, tiles(rows ? s.n : s.m, C::tile_y)),
                     all_x = tiles_x * std::max<std::int64_t>(1, s.count),
                     ctas = std::clamp<std::int64_t>(machine.multiprocessors / all_x, 1, tiles_y);
  if (s.k > C::most_depth) return {1, std::numeric_limits<double>::infinity()};
  const auto waves = static_cast<double>(tiles(all_x * ctas, machine.multiprocessors)),
             own = static_cast<double>(tiles(tiles_y, static_cast<int>(ctas) * C::own_tiles)),
             held = static_cast<double>(tiles(tiles(s.k, C::depth), C::warpgroups)),
             rounds = static_cast<double>(tiles(tiles(s.k, C::depth), C::slices));
  const auto others = static_cast<double>(
      C::slices > 1
          ? C::warpgroups - 1
          : std::min<std::int64_t>(C::own_tiles, tiles(tiles_y, static_cast<int>(ctas))) - 1);
  const double round_s = kTiming.round_s + kTiming.round_more_s * others +
                         (s.width == 4 ? 0.0 : kTiming.ragged_s),
               end_s = kTiming.end_s + kTiming.end_more_s * others;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k);
  const double bytes = 4 * static_cast<double>(s.count) *
                       (static_cast<double>(tiles_x) * (rows ? n : m) * k + m * n),
               l2_s = bytes / (kTiming.l2_bytes_per_s * machine.multiprocessors);
  return {static_cast<unsigned>(ctas),
          kTiming.launch_s +
              std::max(waves * (kTiming.hold_s * held + own * (rounds * round_s + end_s)), l2_s)};
}

// `run` gets the tile of the shortest time, and its plan.
template <class Run>
auto with_held_tile(const StreamedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<HeldOf32, HeldTogether, HeldOf64>(
      asked_of(s), machine, [&]<class C>() { return held_plan<C>(s, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
