#pragma once
// Products in even shares of large tiles (row_30_even_tiles, row_31_packed_operands): their tile,
// how CTAs share the work, and the time that it takes by a model. Host code of the rungs and of
// plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/ring_slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

using EvenTile = RingTile<128, 128, 16, 8, 4, 1, 8, 4, 2>;

// A tile takes `rounds` of EvenTile::depth along k. CTAs share all tiles evenly: whole ones, a CTA
// each, or, where they are `parted`, their rounds. Or they are `joined`: as many CTAs have a part
// of each tile. They store it as slices of C, and a second launch adds these up.
struct EvenShares {
  int tiles, rounds, ctas;
  bool parted, joined;
  double time_s;

  int slices() const { return joined ? ctas / tiles : 0; }
  double pieces() const {  // of a CTA
    return parted ? static_cast<double>(tiles) / ctas + 1 : 1;
  }
  std::int64_t most_rounds() const {  // of a CTA
    return sgemm::tiles(std::int64_t{tiles} * rounds, ctas);
  }
};

// How an operand of row_30 comes, as far as sizes tell: by fours, or word by word. Those of row_31
// come by fours, when so many elements are packed.
struct EvenCopies {
  bool a_fours, b_fours;
  double to_pack;
};
inline EvenCopies copies_as_they_are(const Problem& p) {
  return {p.trans_a && p.m % 4 == 0, !p.trans_b && p.n % 4 == 0, 0};
}
inline EvenCopies packed_copies(const Problem& p) {
  const EvenCopies as_they_are = copies_as_they_are(p);
  const std::int64_t of_a = as_they_are.a_fours ? 0 : p.m, of_b = as_they_are.b_fours ? 0 : p.n;
  return {true, true, static_cast<double>(of_a + of_b) * static_cast<double>(p.k)};
}

// A product as it is launched: with alpha = 0 its k is 0.
inline Problem problem_of(const Gemm& g, bool trans_a, bool trans_b) {
  return compact(g.m, g.n, g.k, Layout::row_major, trans_a, trans_b);
}

// Rounds are counted in 31 bits.
template <class C>
bool fits_even_tiles(const Problem& p, std::int64_t count = 1) {
  const std::int64_t of_product = tiles(p.m, C::rows) * tiles(p.n, C::columns);
  return p.k <= INT32_MAX && fits_grid(of_product, count) &&
         fits_grid(of_product * count, tiles(p.k, C::depth) + 1);
}

// Of a pair of CTAs, or of a lone one, whose waits nobody fills. share: the rate of its rounds, of
// row_07's large tiles'. ends: what pieces of tiles add at their ends, in rounds. Fitted to 5,217
// times of 1,600 products on an H200.
struct EvenTiming {
  double share, ends;
};
inline double even_time(const EvenCopies& copies, const EvenShares& s,
                        const runtime::Machine& machine) {
  using C = EvenTile;
  constexpr EvenTiming kPair{0.87, 2.6}, kAlone{0.815, 4.7};
  constexpr double kOfWords = 0.028;  // more time where an operand comes word by word
  constexpr double kLaunches = 1.51, kPart_s = 0.91e-6;  // to add one of others' parts
  constexpr double kPass_s = 3.3e-6, kShareOfMemory = 0.5;
  const Tuning& tuning = tuning_of(machine);
  const auto ctas = static_cast<double>(s.ctas), on_one = std::ceil(ctas / machine.multiprocessors),
             of_cta = s.tiles / ctas;
  const EvenTiming& timing = on_one > 1 ? kPair : kAlone;
  const double rate = timing.share * tuning.fma_share_of_large_tiles * machine.fp32_flops_per_s /
                      machine.multiprocessors,
               words = kOfWords * (!copies.a_fours + !copies.b_fours),
               round_s = 2 * C::rows * C::columns * C::depth / rate,
               rounds =
                   (1 + words) * static_cast<double>(s.most_rounds()) + timing.ends * s.pieces();
  const double before_s =
      copies.to_pack > 0
          ? kPass_s + 8 * copies.to_pack / (kShareOfMemory * machine.memory_bytes_per_s)
          : 0;
  return kLaunches * tuning.launch_s + before_s + on_one * rounds * round_s +
         (s.parted ? kPart_s * std::max(0.0, 1 / of_cta - 1) : 0);
}

// Whole tiles of C, a CTA each, of `count` products.
template <class C>
EvenShares whole_shares(const Problem& p, std::int64_t count = 1) {
  const auto all = static_cast<int>(
                 std::max<std::int64_t>(1, tiles(p.m, C::rows) * tiles(p.n, C::columns) * count)),
             rounds = static_cast<int>(std::max<std::int64_t>(1, tiles(p.k, C::depth)));
  return {all, rounds, all, false, false, 0};
}
// What a second launch takes, and slices on their way to it. Fitted to 280 products on an H200.
inline double join_s(const Problem& p, const EvenShares& s, const runtime::Machine& machine) {
  constexpr double kLaunch_s = 2.65e-6, kShareOfMemory = 1.81;
  const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) * s.slices();
  return s.joined ? kLaunch_s + 8 * elements / (kShareOfMemory * machine.memory_bytes_per_s) : 0;
}
// The fastest shares of `whole` tiles, by time(EvenShares) and join_s(). `most_parts`: of a tile,
// where one CTA adds them up. kJoins: tiles may be joined.
template <class C, bool kJoins = true, class Time>
EvenShares fastest_shares(const Problem& p, const EvenShares& whole, std::int64_t most_parts,
                          const runtime::Machine& machine, const Time& time) {
  EvenShares best = whole;
  best.time_s = time(best);
  const auto consider = [&](int ctas, bool joined) {
    EvenShares s = best;
    s.ctas = ctas;
    s.parted = !joined;
    s.joined = joined;
    s.time_s = time(s) + join_s(p, s, machine);
    if (s.time_s < best.time_s) best = s;
  };
  for (int each = 1; each <= C::resident && best.rounds > 1; ++each) {
    const std::int64_t most = std::min<std::int64_t>(best.rounds, most_parts) * best.tiles,
                       slots = std::int64_t{each} * machine.multiprocessors;
    consider(static_cast<int>(std::min(most, slots)), false);
    const std::int64_t slices = std::min<std::int64_t>(best.rounds, slots / best.tiles);
    if (kJoins && slices > 1) consider(static_cast<int>(slices * best.tiles), true);
  }
  return best;
}
inline double seconds_of(const EvenShares& s) { return s.time_s; }

inline EvenShares even_shares(const Problem& p, const EvenCopies& copies,
                              const runtime::Machine& machine) {
  constexpr std::int64_t kMostParts = 8;
  return fastest_shares<EvenTile>(
      p, whole_shares<EvenTile>(p), kMostParts, machine,
      [&](const EvenShares& s) { return even_time(copies, s, machine); });
}

// Where tiles are parted, CTAs lay down sums, and say so; or slices. Rows of C may be p's columns.
template <class C>
std::size_t bytes_of_even_shares(const Problem& p, const EvenShares& s) {
  if (s.joined) {
    return sizeof(float) * static_cast<std::size_t>(s.slices()) *
           static_cast<std::size_t>(line_of_slice(p.m) * line_of_slice(p.n));
  }
  return s.parted ? (sizeof(float) * C::rows * C::columns + sizeof(unsigned long long)) *
                        static_cast<std::size_t>(s.ctas)
                  : 0;
}
// Leading dimensions and addresses may make a launch pack either operand. Packed lines lie across
// k, in whole fours, as a slice's sums do.
inline std::size_t bytes_of_packed(const Problem& p, const EvenShares& s) {
  return sizeof(float) * static_cast<std::size_t>(line_of_slice(p.m) + line_of_slice(p.n)) *
             static_cast<std::size_t>(p.k) +
         bytes_of_even_shares<EvenTile>(p, s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
