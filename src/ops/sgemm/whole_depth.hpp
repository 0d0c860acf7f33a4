#pragma once
// Tiles that several warps share, with all of k at once (row_32_whole_depth). Here are their sizes,
// and the time that a product or a batch takes in them by a model. Host code of the rung and of
// plan().

#include <bit>
#include <cmath>
#include <limits>

#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kMostWholeWarps = 8;

// A lane has kLaneX rows by four columns of C.
template <int kLaneX>
struct WholeTile {
  static constexpr int lane_x = kLaneX, lane_y = 4, lanes_x = 4, lanes_y = 8,
                       warp_x = lane_x * lanes_x, warp_y = lane_y * lanes_y;
  // CTAs of kMostWholeWarps warps on a multiprocessor. Lines along k take four registers each.
  static constexpr int resident(bool both_along) { return lane_x == 4 ? 4 : both_along ? 2 : 3; }
};
using WholeFlat = WholeTile<4>;    // 16×32
using WholeSquare = WholeTile<8>;  // 32×32

// Of k, what a CTA's shared memory has at once: all of it up to kMostWholeDepth, else a part, as
// even as fours allow.
constexpr int kMostWholeDepth = 128;
inline int whole_depth(std::int64_t k) {
  const std::int64_t parts = std::max<std::int64_t>(tiles(k, kMostWholeDepth), 1);
  return static_cast<int>(tiles(std::max<std::int64_t>(tiles(k, static_cast<int>(parts)), 1), 4)) *
         4;
}

// The distance of an operand's lines in shared memory, where they lie along k. It is an odd
// multiple of 4, so that fours of eight lines lie on different banks.
constexpr int pitch_along(int depth) { return depth | 4; }
// Words of shared memory for so many lines.
constexpr int whole_words(int lines, int depth, bool along) {
  return lines * (along ? pitch_along(depth) : depth);
}

// So many lanes, as a power of two, copy a row of memory of which a CTA needs so many pieces.
inline int shift_of_lanes(int pieces) {
  return std::min(5, static_cast<int>(std::bit_width(static_cast<unsigned>(pieces - 1))));
}

struct WholePlan {
  int warps_x, warps_y;
  double time_s;
};
inline double seconds_of(const WholePlan& plan) { return plan.time_s; }

// Nanoseconds of an H100's multiprocessor. Fitted to 9,103 times of 711 products and batches on an
// H200, as are the constants below.
inline double whole_copy_ns(int width) { return width == 4 ? 3.616 : width == 2 ? 2.879 : 2.063; }
inline double whole_store_ns(bool along, bool fours) {
  return along ? 2.885 : fours ? 3.640 : 4.719;
}
// What a warp copies of an operand, for each of the CTA's 32 lanes.
inline double whole_copies_ns(std::int64_t lines, int tile, int depth, std::int64_t k, bool along) {
  const int there = static_cast<int>(std::min<std::int64_t>(lines, tile)),
            width = width_for(along ? k : lines),
            pieces = static_cast<int>(tiles(along ? depth : there, width)),
            shift = shift_of_lanes(pieces), rows = along ? there : depth;
  return whole_copy_ns(width) * rows * static_cast<double>(tiles(pieces, 1 << shift) << shift) / 32;
}

template <class C>
double whole_time(const ThreadedShape& s, int warps_x, int warps_y,
                  const runtime::Machine& machine) {
  constexpr double kLaunch_s = 4.5e-6, kFma_ns = 0.795, kCta_ns = 16.93;
  constexpr double kFmaAlone_ns = 2.415, kCopyAlone = 9.458;
  constexpr double kShareOfMemory = 1.082, kShortRows = 3.782;
  constexpr double kPhaseOfMemory = 1.637, kPhase = 0.1565;  // lost where few CTAs take turns
  constexpr double kTimes = C::lane_x == 4 ? 1 : 0.9657;
  constexpr int kSums = C::lane_x * C::lane_y, kMostCtas = 32, kReserved = 1024;
  const int warps = warps_x * warps_y, rows = warps_x * C::warp_x, columns = warps_y * C::warp_y,
            depth = whole_depth(s.k);
  const bool a_along = !s.trans_a, b_along = s.trans_b;
  const int bytes = 4 * (whole_words(rows, depth, a_along) + whole_words(columns, depth, b_along)) +
                    kReserved,
            resident =
                std::min({kMostCtas, kMostWholeWarps * C::resident(a_along && b_along) / warps,
                          machine.shared_bytes_per_multiprocessor / bytes});
  const auto count = static_cast<double>(s.count),
             of_c = static_cast<double>(tiles(s.m, C::warp_x) * tiles(s.n, C::warp_y)) * count,
             ctas = static_cast<double>(tiles(s.m, rows) * tiles(s.n, columns)) * count,
             fours = static_cast<double>(tiles(s.k, 4)),
             parts = static_cast<double>(tiles(s.k, depth));
  const double copies_ns = parts * (whole_copies_ns(s.m, rows, depth, s.k, a_along) +
                                    whole_copies_ns(s.n, columns, depth, s.k, b_along)),
               warp_ns = kTimes * kSums * (fours * kFma_ns + whole_store_ns(b_along, s.n % 4 == 0));
  const double on_one = ctas / machine.multiprocessors,
               phases = std::min<double>(resident, std::max(1.0, on_one)),
               busy_ns = (of_c / ctas * warp_ns + copies_ns + kCta_ns) * std::ceil(on_one),
               alone_ns = std::ceil(on_one / resident) *
                          (kCopyAlone * copies_ns / warps + kFmaAlone_ns * fours * kSums);
  const double of_c_bytes = 4 * static_cast<double>(s.m) * static_cast<double>(s.n) * count,
               memory_s = (bytes_of(s) + of_c_bytes * kShortRows * warps / columns) /
                          (kShareOfMemory * machine.memory_bytes_per_s);
  const double clock = 1e-9 * h100_share_of(machine) * machine.multiprocessors;
  return kLaunch_s + std::hypot(clock * busy_ns * (1 + kPhase / phases), clock * alone_ns,
                                memory_s * (1 + kPhaseOfMemory / phases));
}

template <class C>
WholePlan whole_plan_of(const ThreadedShape& s, const runtime::Machine& machine) {
  WholePlan best{1, 1, std::numeric_limits<double>::infinity()};
  const int depth = whole_depth(s.k);
  for (int x = 1; x <= std::min<std::int64_t>(kMostWholeWarps, tiles(s.m, C::warp_x)); ++x) {
    for (int y = 1; x * y <= kMostWholeWarps && y <= tiles(s.n, C::warp_y); ++y) {
      const int words = whole_words(x * C::warp_x, depth, !s.trans_a) +
                        whole_words(y * C::warp_y, depth, s.trans_b);
      constexpr int kLeastCtas = 2;  // on a multiprocessor, for one computes while another waits
      if (kLeastCtas * 4 * words > machine.shared_bytes_per_block) continue;
      const double time_s = whole_time<C>(s, x, y, machine);
      if (time_s < best.time_s) best = {x, y, time_s};
    }
  }
  return best;
}

// `run` gets the tile's configuration and its plan.
template <class Run>
auto with_whole_tile(const ThreadedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<WholeFlat, WholeSquare>(
      asked_of(s), machine, [&]<class C>() { return whole_plan_of<C>(s, machine); }, run);
}

// Whatever the tile. Sizes are counted in 31 bits.
inline bool fits_whole(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
  return std::max({m, n, k}) <= INT32_MAX - kMostWholeDepth &&
         fits_grid(tiles(m, WholeFlat::warp_x) * tiles(n, WholeFlat::warp_y), count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
