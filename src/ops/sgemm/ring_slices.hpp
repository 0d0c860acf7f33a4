#pragma once
// Products and batches in small tiles of C and slices of k (row_26_small_tiles). Here are the time
// that they take by a model, and the tile and the slices that it chooses. Host code of rungs and of
// plan().

#include <cmath>

#include "ops/sgemm/parity_batches.hpp"
#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile of C; a thread has kThreadRows×kThreadColumns elements of it, and kLanesDown of a
// warp's lanes lie below each other. In groups of warps, each takes other steps of k. Then a CTA's
// step along k, the steps that are under way or in use, and the CTAs that are resident on a
// multiprocessor.
template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kLanesDown, int kGroups,
          int kDepth, int kStages, int kResident>
struct RingTile : ParityShape<kRows, kColumns, kDepth, kResident, kGroups,
                              WarpShape<kThreadRows, kThreadColumns, kLanesDown>> {
  static constexpr int stages = kStages;
  static_assert(kDepth % (8 * kGroups) == 0 && stages > 2);
};
using RingFlat = RingTile<16, 32, 4, 4, 4, 2, 16, 4, 8>;
using RingSteep = RingTile<32, 16, 4, 4, 8, 2, 16, 4, 8>;
using RingFlatDeep = RingTile<16, 32, 4, 4, 4, 4, 32, 3, 6>;
using RingSteepDeep = RingTile<32, 16, 4, 4, 8, 4, 32, 3, 6>;
using RingSquare = RingTile<32, 32, 4, 4, 4, 1, 16, 4, 8>;
using RingLarge = RingTile<64, 64, 8, 4, 4, 1, 16, 3, 5>;

// Microseconds of an H100's multiprocessor for a step along k, where a CTA is alone, and where
// others hide its latencies. And those for a CTA's ends. Fitted to 600 products and batches on an
// H200.
struct RingTiming {
  double alone, busy, ends;
};
template <class C>
constexpr RingTiming kRingTiming{};
template <>
constexpr RingTiming kRingTiming<RingFlat>{0.103, 0.0472, 0.102};
template <>
constexpr RingTiming kRingTiming<RingFlatDeep>{0.0694, 0.0977, 0.179};
template <>
constexpr RingTiming kRingTiming<RingSteep>{0.104, 0.0470, 0.108};
template <>
constexpr RingTiming kRingTiming<RingSteepDeep>{0.0838, 0.0978, 0.181};
template <>
constexpr RingTiming kRingTiming<RingSquare>{0.151, 0.0888, 0.104};
template <>
constexpr RingTiming kRingTiming<RingLarge>{0.293, 0.310, 0.400};

// What `slices` slices of k of a batch take. An operand that lies along k, or whose lines are no
// multiples of 4 elements, is copied word by word.
template <class C>
double ring_time(const ThreadedShape& s, int slices, const runtime::Machine& machine) {
  constexpr double kCopyAlone_s = 97e-12, kCopyBusy_s = 61e-12;  // of a copy of all threads
  constexpr double kLaunches = 1.503, kJoins = 0.516;  // of a launch's time, and of a join's
  constexpr double kShareOfL2 = 1.152, kShareOfSums = 0.479;
  constexpr RingTiming kTiming = kRingTiming<C>;
  static_assert(kTiming.busy > 0);
  const Tuning& tuning = tuning_of(machine);
  const std::int64_t of_c = tiles(s.m, C::rows) * tiles(s.n, C::columns) * s.count;
  const double on_one = std::ceil(static_cast<double>(of_c) * slices / machine.multiprocessors),
               steps = static_cast<double>(tiles(tiles(s.k, C::depth), slices)),
               clock = h100_share_of(machine) * machine.multiprocessors;
  const int of_a = s.trans_a && s.m % 4 == 0 ? 4 : 1, of_b = !s.trans_b && s.n % 4 == 0 ? 4 : 1,
            copies = C::depth * (C::rows / of_a + C::columns / of_b);
  const double alone_s = steps * clock * (1e-6 * kTiming.alone + kCopyAlone_s * copies),
               busy_s =
                   on_one * clock *
                   (steps * (1e-6 * kTiming.busy + kCopyBusy_s * copies) + 1e-6 * kTiming.ends);
  const double l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors,
               sums = 8 * static_cast<double>(s.m) * static_cast<double>(s.n) *
                      static_cast<double>(s.count);
  return kLaunches * tuning.launch_s +
         std::hypot(alone_s, busy_s, bytes_of(s) / (kShareOfL2 * l2_rate)) +
         (slices > 1 ? kJoins * tuning.join_s + kShareOfSums * slices * sums / l2_rate : 0);
}

template <class C>
Slices ring_slices_of(const ThreadedShape& s, const runtime::Machine& machine) {
  return slices_of_batch<C>(s.m, s.n, s.k, s.count, C::groups, machine,
                            [&](int slices) { return ring_time<C>(s, slices, machine); });
}

inline ThreadedShape ring_shape(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a,
                                bool trans_b, std::int64_t count) {
  return {m, n, k, count, trans_a, trans_b, has_whole_lines(m, n, k, trans_a, trans_b)};
}

// `run` gets the tile's configuration and its slices.
template <class Run>
auto with_ring_tile(const ThreadedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<RingSquare, RingFlat, RingSteep, RingLarge, RingFlatDeep, RingSteepDeep>(
      asked_of(s), machine, [&]<class C>() { return ring_slices_of<C>(s, machine); }, run);
}

// Whatever the tile.
inline bool fits_ring(std::int64_t m, std::int64_t n, std::int64_t count) {
  const std::int64_t of_c = std::max(tiles(m, RingFlat::rows) * tiles(n, RingFlat::columns),
                                     tiles(m, RingSteep::rows) * tiles(n, RingSteep::columns));
  return fits_grid(of_c, count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
