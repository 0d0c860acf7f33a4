#pragma once
// Few lines of X times many of Y in even shares (row_28_even_shares). Here are its configurations,
// how CTAs share the work, and the time that it takes by a model. Host code of the rung and of
// plan().

#include <cmath>

#include "ops/sgemm/lines.hpp"
#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A warp's round: kDepth of k of kLines lines of Y. Those along k are copied to shared memory,
// kWidth elements at a time; those across k are read straight into registers.
template <int kRows, int kLines, int kDepth, bool kAlong, int kWidth>
struct LineShare {
  static constexpr int rows = kRows, lines = kLines, depth = kDepth, width = kWidth;
  static constexpr bool along = kAlong;
  static_assert(along || width == 1);
};
template <int kRows, int kWidth>
using ShareAlong = LineShare<kRows, 32, 32, true, kWidth>;
template <int kRows, int kLines>
using ShareAcross = LineShare<kRows, kLines, 16, false, 1>;

// The warps of a CTA part a tile's k 2^part_bits times: so many lines are left of its tile.
template <class C>
__host__ __device__ constexpr int lines_of_tile(int part_bits) {
  return (kWarpsOfLines >> part_bits) * C::lines;
}

// A tile takes `turns`, in each of which every warp multiplies a round. CTAs share all tiles
// evenly: whole ones, or, where they are `parted`, their turns.
struct SharedTiles {
  int part_bits, rounds, turns, ctas;
  std::int64_t tiles;
  bool parted;
  double time_s;

  std::int64_t most_turns() const {  // of a CTA
    return parted ? sgemm::tiles(tiles * turns, ctas) : sgemm::tiles(tiles, ctas) * turns;
  }
};

// Microseconds of an H200's CTA for a turn, where latencies bind it, and of its multiprocessor,
// where other CTAs hide them. And those for the end of a tile. Fitted to 2,370 times of 260
// products.
struct ShareTiming {
  double alone, busy, end;
};
template <class C>
constexpr ShareTiming kShareTiming{};
template <>
constexpr ShareTiming kShareTiming<ShareAcross<4, 32>>{0.455, 0.255, 0.098};
template <>
constexpr ShareTiming kShareTiming<ShareAcross<4, 64>>{0.604, 0.320, 0};
template <>
constexpr ShareTiming kShareTiming<ShareAcross<8, 32>>{0.594, 0.360, 0.270};
template <>
constexpr ShareTiming kShareTiming<ShareAcross<8, 64>>{0.734, 0.539, 0.442};
template <>
constexpr ShareTiming kShareTiming<ShareAlong<4, 1>>{0.537, 0.663, 0};
template <>
constexpr ShareTiming kShareTiming<ShareAlong<4, 4>>{0.361, 0.563, 0.005};
template <>
constexpr ShareTiming kShareTiming<ShareAlong<8, 1>>{0.929, 0.861, 0};
template <>
constexpr ShareTiming kShareTiming<ShareAlong<8, 4>>{0.675, 0.625, 0.056};

template <class C>
double shared_time(const LinesShape& s, const SharedTiles& shared,
                   const runtime::Machine& machine) {
  constexpr double kStart_s = 4.19e-6, kJoin_s = 0.69e-6, kJoinOfCta_s = 0.031e-6;
  constexpr double kOfMemory = 0.87;  // of the data sheet's bandwidth
  constexpr ShareTiming kTiming = kShareTiming<C>;
  static_assert(kTiming.busy > 0);
  const double clock = h100_share_of(machine) * machine.multiprocessors,
               on_one = std::ceil(static_cast<double>(shared.ctas) / machine.multiprocessors),
               turns = static_cast<double>(shared.most_turns()),
               tiles = shared.parted ? static_cast<double>(shared.tiles) / shared.ctas + 1
                                     : std::ceil(static_cast<double>(shared.tiles) / shared.ctas),
               ends = tiles * kTiming.end;
  const double alone_s = 1e-6 * clock * (turns * kTiming.alone + ends),
               busy_s = 1e-6 * clock * on_one * (turns * kTiming.busy + ends / 2),
               memory_s = bytes_of_lines(s) / (kOfMemory * machine.memory_bytes_per_s),
               contributors = std::max(
                   1.0, static_cast<double>(shared.ctas) / static_cast<double>(shared.tiles));
  return kStart_s + std::hypot(alone_s, busy_s, memory_s) +
         (shared.parted ? kJoin_s + kJoinOfCta_s * contributors : 0);
}

// Parts of tiles are worth their join where all warps part k, for tiles are smallest then.
template <class C>
SharedTiles shared_tiles_of(const LinesShape& s, const runtime::Machine& machine) {
  constexpr int kMostBits = 3;
  static_assert(1 << kMostBits == kWarpsOfLines);
  const std::int64_t slots = 2 * machine.multiprocessors;
  SharedTiles best{};
  const auto consider = [&](SharedTiles one) {
    one.time_s = shared_time<C>(s, one, machine);
    if (best.ctas == 0 || one.time_s < best.time_s) best = one;
  };
  for (int bits = 0; bits <= kMostBits; ++bits) {
    const std::int64_t rounds = tiles(s.k, C::depth),
                       turns = std::max<std::int64_t>(1, tiles(rounds, 1 << bits)),
                       all = std::max<std::int64_t>(
                           1, tiles(s.lines, lines_of_tile<C>(bits)) * s.count);
    const auto with = [&](std::int64_t ctas, bool parted) {
      consider({bits, static_cast<int>(rounds), static_cast<int>(turns), static_cast<int>(ctas),
                all, parted, 0});
    };
    with(std::min(all, slots), false);
    if (bits < kMostBits || all % slots == 0 || turns == 1) continue;
    with(std::min(all * turns, slots / 2), true);
    with(std::min(all * turns, slots), true);
  }
  return best;
}
inline double seconds_of(const SharedTiles& shared) { return shared.time_s; }

// `run` gets the configuration, and how its tiles are shared. Across k the model chooses.
template <int kRows, class Run>
auto with_shared_rows(const LinesShape& s, bool along, const runtime::Machine& machine,
                      const Run& run) {
  const auto among = [&]<class... Configs>() {
    return with_fastest_tile<Configs...>(
        {s.few, s.lines, s.k, s.count}, machine,
        [&]<class C>() { return shared_tiles_of<C>(s, machine); }, run);
  };
  return !along    ? among.template operator()<ShareAcross<kRows, 64>, ShareAcross<kRows, 32>>()
         : s.words ? among.template operator()<ShareAlong<kRows, 1>>()
                   : among.template operator()<ShareAlong<kRows, 4>>();
}
template <class Run>
auto with_shared_tiles(const LinesShape& s, bool along, const runtime::Machine& machine,
                       const Run& run) {
  return s.few > 4 ? with_shared_rows<8>(s, along, machine, run)
                   : with_shared_rows<4>(s, along, machine, run);
}

// Whether Y's lines lie along k, where a problem has few lines X. Those of the shorter side are X.
inline bool are_along(const Problem& p) { return p.m <= p.n ? p.trans_b : !p.trans_a; }
// Turns are counted in 31 bits, and so is what is left of k.
inline bool fits_shares(const Problem& p, std::int64_t products) {
  constexpr std::int64_t kLeastLines = 32, kLeastDepth = 16;
  return p.k <= INT32_MAX && has_few_lines(p, are_along(p), products) &&
         fits_grid(tiles(std::max(p.m, p.n), kLeastLines) * (tiles(p.k, kLeastDepth) + 1),
                   products);
}
// `words`: Y's lines along k are copied word by word, as far as sizes tell.
inline LinesShape shared_shape(const Problem& p, std::int64_t count) {
  LinesShape s = lines_shape(p, are_along(p), count);
  s.words = p.k % 4 != 0;
  return s;
}

// CTAs lay the sums of a tile that they begin, and of one that they end or pass, down.
inline std::size_t bytes_of_shares(const LinesShape& shape, bool along,
                                   const runtime::Machine& machine) {
  return with_shared_tiles(shape, along, machine, [&]<class C>(const SharedTiles& shared) {
    const std::size_t sums = sizeof(float) * C::rows * lines_of_tile<C>(shared.part_bits);
    return shared.parted ? 2 * sums * static_cast<std::size_t>(shared.ctas) : 0;
  });
}
// Leading dimensions and addresses may make a launch copy word by word.
inline std::size_t most_bytes_of_shares(const Problem& p, std::int64_t count,
                                        const runtime::Machine& machine) {
  LinesShape shape = shared_shape(p, count);
  const std::size_t bytes = bytes_of_shares(shape, are_along(p), machine);
  shape.words = true;
  return std::max(bytes, bytes_of_shares(shape, are_along(p), machine));
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
