#pragma once
// Products in even shares of tiles that are lower than row_30's (row_33_low_tiles): the tiles, and
// the time that shares take by a model. Host code of the rung and of plan().

#include <cmath>

#include "ops/sgemm/even_tiles.hpp"
#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

using Low32 = RingTile<32, 128, 8, 4, 4, 1, 8, 4, 4>;
using Low32Narrow = RingTile<32, 64, 8, 4, 4, 1, 8, 4, 8>;
using Low64 = RingTile<64, 128, 8, 8, 4, 1, 8, 4, 3>;
using Low64Narrow = RingTile<64, 64, 8, 4, 4, 1, 8, 4, 4>;
using Low96 = RingTile<96, 128, 12, 8, 4, 1, 8, 4, 3>;

// The product whose C is Cᵀ = op(B)ᵀ·op(A)ᵀ.
inline Problem transposed(const Problem& p) {
  return compact(p.n, p.m, p.k, Layout::row_major, !p.trans_b, !p.trans_a);
}
// A tile, and whether the smaller operand is packed in front, unless it lies across k in fours. The
// smaller operand is A: where C has fewer columns than rows, its transpose is multiplied.
template <class C, bool kPacks>
struct LowForm {
  using Tile = C;
  static constexpr bool packs = kPacks;
  static bool is_turned(const Problem& p) { return p.m > p.n; }
};
// The product as it is multiplied.
template <class Form>
Problem in_form(const Problem& p) {
  return Form::is_turned(p) ? transposed(p) : p;
}
inline Problem smaller_first(const Problem& p) { return p.m > p.n ? transposed(p) : p; }
template <class Form>
bool packs_smaller(const Problem& p) {
  return Form::packs && !copies_as_they_are(p).a_fours;
}

// How much more a round takes where an operand comes word by word, along k or across it.
struct WordsTiming {
  double along, across;
};
// Microseconds of an H100's multiprocessor. alone: of a round where a CTA is alone. busy: of each
// CTA's, where others hide its latencies. ends: what pieces of tiles add at their ends, in rounds.
// of_b, of_a: what words add. Fitted to 12,753 times of 820 products on an H200.
struct LowTiming {
  double alone, busy, ends;
  WordsTiming of_b, of_a;
};
template <class C>
constexpr LowTiming kLowTiming{};
template <>
constexpr LowTiming kLowTiming<Low32>{0.183, 0.187, 1.70, {0.280, 0.263}, {0.0581, 0.119}};
template <>
constexpr LowTiming kLowTiming<Low32Narrow>{0.165, 0.0922, 2.02, {0.266, 0.208}, {0.0557, 0.171}};
template <>
constexpr LowTiming kLowTiming<Low64>{0.280, 0.315, 2.65, {0.136, 0.182}, {0.0461, 0.116}};
template <>
constexpr LowTiming kLowTiming<Low64Narrow>{0.191, 0.178, 2.06, {0.0884, 0.162}, {0.0899, 0.185}};
template <>
constexpr LowTiming kLowTiming<Low96>{0.391, 0.466, 2.86, {0.140, 0.169}, {0.063, 0.119}};

// Of a round, where `at_once` CTAs share a multiprocessor. Its warps issue in fours.
template <class C>
double low_round_s(double at_once, const runtime::Machine& machine) {
  constexpr LowTiming kTiming = kLowTiming<C>;
  static_assert(kTiming.busy > 0);
  constexpr double kIssue = 128. / C::threads;  // CTAs
  const double busy = std::ceil(at_once / kIssue) * kIssue * kTiming.busy;
  return 1e-6 * h100_share_of(machine) * machine.multiprocessors *
         std::cbrt(std::pow(kTiming.alone, 3) + std::pow(busy, 3));
}
// By words: what a round takes more.
template <class Form>
double low_words(const Problem& p) {
  constexpr LowTiming kTiming = kLowTiming<typename Form::Tile>;
  const EvenCopies copies = copies_as_they_are(p);
  const auto words = [](bool fours, bool along, const WordsTiming& timing) {
    return fours ? 0 : along ? timing.along : timing.across;
  };
  return words(copies.b_fours, p.trans_b, kTiming.of_b) +
         words(Form::packs || copies.a_fours, !p.trans_a, kTiming.of_a);
}
// Of `count` products whose A is the smaller operand.
template <class Form>
double low_time(const Problem& p, const EvenShares& s, const runtime::Machine& machine,
                std::int64_t count) {
  using C = typename Form::Tile;
  constexpr double kLaunch_s = 4.63e-6, kPass_s = 2.57e-6;
  constexpr double kParted_s = 2.4e-6, kPart_s = 64e-12;  // to add others' parts; an element of one
  constexpr double kShareOfLoads = 1.07, kShareOfStores = 0.667, kShareOfPass = 0.853;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k), ctas = static_cast<double>(s.ctas);
  const double on_one = std::ceil(ctas / machine.multiprocessors),
               at_once = std::min<double>(on_one, C::resident), of_cta = s.tiles / ctas,
               rounds = (1 + low_words<Form>(p)) * static_cast<double>(s.most_rounds()) +
                        kLowTiming<C>.ends * s.pieces(),
               multiply_s = on_one / at_once * rounds * low_round_s<C>(at_once, machine),
               memory_s = 4 * static_cast<double>(count) *
                          ((m + n) * k / kShareOfLoads + m * n / kShareOfStores) /
                          machine.memory_bytes_per_s;
  const double pack_s = packs_smaller<Form>(p)
                            ? kPass_s + 8 * m * k / (kShareOfPass * machine.memory_bytes_per_s)
                            : 0;
  const double parts_s =
      s.parted ? kParted_s + kPart_s * C::rows * C::columns * std::max(0.0, 1 / of_cta - 1) : 0;
  return kLaunch_s + pack_s + std::hypot(multiply_s, memory_s) + parts_s;
}

// The fastest shares of `count` such products. kJoins: tiles may be joined.
template <class Form, bool kJoins>
EvenShares low_shares(const Problem& p, std::int64_t count, const runtime::Machine& machine) {
  using C = typename Form::Tile;
  constexpr std::int64_t kMostParts = 16;
  return fastest_shares<C, kJoins>(
      p, whole_shares<C>(p, count), kMostParts, machine,
      [&](const EvenShares& s) { return low_time<Form>(p, s, machine, count); });
}

// `run` gets the form and its shares.
template <class Run>
auto with_low_tile(const Problem& p, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<LowForm<Low64, true>, LowForm<Low96, true>, LowForm<Low32, true>,
                           LowForm<Low64, false>, LowForm<Low64Narrow, false>,
                           LowForm<Low32Narrow, false>>(
      {p.m, p.n, p.k, 0, p.trans_a + 2 * p.trans_b}, machine,
      [&]<class Form>() { return low_shares<Form, true>(p, 1, machine); }, run);
}

// Whatever the tile.
inline bool fits_low_tiles(const Problem& p) {
  return fits_even_tiles<Low32Narrow>(smaller_first(p));
}

// A packed operand, and what CTAs lay down. A leading dimension or an address may make a launch
// pack what sizes do not.
template <class Form>
std::size_t bytes_of_low_tiles(const Problem& p, const EvenShares& s) {
  const std::size_t packed = Form::packs
                                 ? sizeof(float) * static_cast<std::size_t>(line_of_slice(p.m)) *
                                       static_cast<std::size_t>(p.k)
                                 : 0;
  return packed + bytes_of_even_shares<typename Form::Tile>(p, s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
