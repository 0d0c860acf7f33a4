#pragma once
// Products in even shares of tiles that are lower than row_30's (row_33_low_tiles): the tiles, and
// the time that shares take by a model. Host code of the rung and of plan().

#include <cmath>

#include "ops/sgemm/even_tiles.hpp"
#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

using Low32 = RingTile<32, 128, 8, 4, 4, 1, 8, 4, 4>;
using Low64 = RingTile<64, 128, 8, 8, 4, 1, 8, 4, 3>;
using Low96 = RingTile<96, 128, 12, 8, 4, 1, 8, 4, 3>;

// The rung multiplies Cᵀ = op(B)ᵀ·op(A)ᵀ where C has fewer columns than rows. Its A is the smaller
// operand, which it packs in front unless it lies across k in fours.
inline bool is_turned(const Problem& p) { return p.m > p.n; }
inline Problem smaller_first(const Problem& p) {
  return is_turned(p) ? compact(p.n, p.m, p.k, Layout::row_major, !p.trans_b, !p.trans_a) : p;
}
inline bool packs_smaller(const Problem& p) { return !copies_as_they_are(p).a_fours; }

// Microseconds of an H100's multiprocessor: of a round where a CTA is alone, and of each CTA's
// where others hide its latencies; what pieces of tiles add at their ends, in rounds; and how much
// more a round takes where B comes word by word, along k or across it. Fitted to 1,050 products on
// an H200.
struct LowTiming {
  double alone, busy, ends, along, across;
};
template <class C>
constexpr LowTiming kLowTiming{};
template <>
constexpr LowTiming kLowTiming<Low32>{0.0909, 0.1695, 2.42, 0.879, 0.794};
template <>
constexpr LowTiming kLowTiming<Low64>{0.2422, 0.3257, 3.52, 0.180, 0.403};
template <>
constexpr LowTiming kLowTiming<Low96>{0.3794, 0.4844, 4.78, 0.042, 0.149};

// Of a product whose A is the smaller operand.
template <class C>
double low_time(const Problem& p, const EvenShares& s, const runtime::Machine& machine) {
  constexpr double kLaunch_s = 5.1e-6, kPass_s = 3.89e-6;
  constexpr double kPart_s = 54e-12;  // to add an element of another CTA's part
  constexpr double kShareOfMemory = 0.727, kShareOfPass = 0.484;
  constexpr LowTiming kTiming = kLowTiming<C>;
  static_assert(kTiming.busy > 0);
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k), ctas = static_cast<double>(s.ctas);
  const double on_one = std::ceil(ctas / machine.multiprocessors),
               at_once = std::min<double>(on_one, C::resident), of_cta = s.tiles / ctas,
               words = copies_as_they_are(p).b_fours ? 0
                       : p.trans_b                   ? kTiming.along
                                                     : kTiming.across,
               rounds = (1 + words) * static_cast<double>(s.most_rounds()) +
                        kTiming.ends * (s.parted ? of_cta + 1 : 1),
               round_s =
                   1e-6 * h100_share_of(machine) * machine.multiprocessors *
                   std::cbrt(std::pow(kTiming.alone, 3) + std::pow(at_once * kTiming.busy, 3)),
               memory_s = 4 * ((m + n) * k + m * n) / (kShareOfMemory * machine.memory_bytes_per_s);
  const double pack_s =
      packs_smaller(p) ? kPass_s + 8 * m * k / (kShareOfPass * machine.memory_bytes_per_s) : 0;
  return kLaunch_s + pack_s + std::hypot(on_one / at_once * rounds * round_s, memory_s) +
         (s.parted ? kPart_s * C::rows * C::columns * std::max(0.0, 1 / of_cta - 1) : 0);
}

// `run` gets the tile's configuration and its shares.
template <class Run>
auto with_low_tile(const Problem& p, const runtime::Machine& machine, const Run& run) {
  constexpr std::int64_t kMostParts = 16;
  return with_fastest_tile<Low64, Low96, Low32>(
      {p.m, p.n, p.k, 0, p.trans_a + 2 * p.trans_b}, machine,
      [&]<class C>() {
        return fastest_shares<C>(p, kMostParts, machine,
                                 [&](const EvenShares& s) { return low_time<C>(p, s, machine); });
      },
      run);
}

// Whatever the tile.
inline bool fits_low_tiles(const Problem& p) { return fits_even_tiles<Low32>(smaller_first(p)); }

// A packed operand, and what CTAs lay down.
template <class C>
std::size_t bytes_of_low_tiles(const Problem& p, const EvenShares& s) {
  return sizeof(float) * static_cast<std::size_t>(line_of_slice(p.m)) *
             static_cast<std::size_t>(p.k) +
         bytes_of_even_shares<C>(s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
