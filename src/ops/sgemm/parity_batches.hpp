#pragma once
// Batches in row_07's tiles and slices of k (row_24_batched_parity, row_27_grouped_warps). Here are
// the time that they take by a model, and the tile and the slices that it chooses. Host code of
// rungs and of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/parity_slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Row-major products. `words`: lines of A or B in memory are no multiples of 4 elements.
struct ParityBatch {
  std::int64_t m, n, k, count;
  bool words;
};
inline ParityBatch parity_batch(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a,
                                bool trans_b, std::int64_t count) {
  return {m, n, k, count, !has_whole_lines(m, n, k, trans_a, trans_b)};
}

// Of a tile: its multiply-adds' rate, as a share of what large tiles reach, and how many times as
// long words take. Then how many CTAs keep a multiprocessor busy, and how many steps of k a CTA's
// first loads and last stores take. Fitted to 386 shapes on an H100.
struct ParityTiming {
  double share, words, fill, ends;
};
template <class C>
constexpr ParityTiming kParityTiming{};
using ParitySmall = ParityTileOf<ParityConfig{64, 64, 8, 8}>;
template <>
constexpr ParityTiming kParityTiming<ParityTile>{0.94, 1.08, 1.1, 1.9};
template <>
constexpr ParityTiming kParityTiming<ParityWide>{0.937, 1.155, 2.1, 1.9};
template <>
constexpr ParityTiming kParityTiming<ParityTall>{0.886, 1.11, 2.05, 1.9};
template <>
constexpr ParityTiming kParityTiming<ParitySmall>{0.801, 1.2, 3.7, 1.9};

// row_27's tiles, whose groups of warps share k. Fitted to 1,620 products and batches on an H200.
using GroupsWide = ParityShape<64, 128, 8, 1, 3>;
using GroupsTall = ParityShape<128, 64, 8, 1, 3>;
using GroupsSquare = ParityShape<64, 64, 8, 2, 4>;
using GroupsSmall = ParityShape<32, 32, 16, 8, 1, WarpShape<4, 4, 4>>;
using GroupsFlat = ParityShape<16, 32, 8, 6, 4, WarpShape<4, 4, 4>>;
using GroupsSteep = ParityShape<32, 16, 8, 6, 4, WarpShape<4, 4, 8>>;
template <>
constexpr ParityTiming kParityTiming<GroupsWide>{0.86, 1.069, 1.0, 2.34};
template <>
constexpr ParityTiming kParityTiming<GroupsTall>{0.874, 1.08, 1.0, 2.39};
template <>
constexpr ParityTiming kParityTiming<GroupsSquare>{0.864, 1.098, 1.151, 2.36};
template <>
constexpr ParityTiming kParityTiming<GroupsSmall>{0.565, 1.092, 2.222, 0.481};
template <>
constexpr ParityTiming kParityTiming<GroupsFlat>{0.497, 1.096, 1.658, 0.995};
template <>
constexpr ParityTiming kParityTiming<GroupsSteep>{0.477, 1.071, 1.655, 0.922};

// Seconds in `slices` slices of k.
template <class C>
double parity_batch_time(const ParityBatch& b, int slices, const runtime::Machine& machine) {
  // Of the memory's bandwidth, what is reached; of its time, what shows where others bind.
  constexpr double kMostOfMemory = 0.565, kMemoryShown = 0.36, kStoresOfWordsShown = 0.68;
  constexpr double kLaunches = 1.5, kJoins = 0.43;  // of a launch's time, and of a join's
  constexpr ParityTiming kTiming = kParityTiming<C>;
  static_assert(kTiming.share > 0);
  const Tuning& tuning = tuning_of(machine);
  const auto m = static_cast<double>(b.m), n = static_cast<double>(b.n),
             k = static_cast<double>(b.k), count = static_cast<double>(b.count);
  const double ctas = static_cast<double>(tiles(b.m, C::rows) * tiles(b.n, C::columns)) * count *
                      slices,
               on_one = std::ceil(ctas / machine.multiprocessors);
  const double rate = kTiming.share * tuning.fma_share_of_large_tiles * machine.fp32_flops_per_s /
                      machine.multiprocessors / (b.words ? kTiming.words : 1.0);
  const double step_s =
      std::max(on_one, kTiming.fill) * 2 * C::rows * C::columns * C::depth * C::groups / rate;
  const auto steps = static_cast<double>(tiles(tiles(tiles(b.k, C::depth), slices), C::groups));
  const double memory_s = 4 * count * ((m + n) * k + m * n) / machine.memory_bytes_per_s,
               store_s = 4 * count * m * n / machine.memory_bytes_per_s,
               l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors;
  const double end_s = slices > 1 ? kJoins * tuning.join_s + 8 * slices * count * m * n / l2_rate
                       : b.n % 4  ? kStoresOfWordsShown * store_s
                                  : 0;
  return kLaunches * tuning.launch_s +
         std::max((steps + kTiming.ends) * step_s + kMemoryShown * memory_s,
                  memory_s / kMostOfMemory) +
         end_s;
}

template <class C>
Slices parity_slices_of(const ParityBatch& b, const runtime::Machine& machine) {
  return slices_of_batch<C>(b.m, b.n, b.k, b.count, C::groups, machine,
                            [&](int slices) { return parity_batch_time<C>(b, slices, machine); });
}

// Tiles among which the model chooses: `run` gets the fastest one's configuration and slices.
template <class... Tiles>
struct AmongTiles {
  // Whatever the tile.
  static bool fit(std::int64_t m, std::int64_t n, std::int64_t count) {
    return (fits_grid(tiles(m, Tiles::rows) * tiles(n, Tiles::columns), count) && ...);
  }
  template <class Run>
  static auto with(const ParityBatch& b, const runtime::Machine& machine, const Run& run) {
    return with_fastest_tile<Tiles...>(
        {b.m, b.n, b.k, b.count, b.words}, machine,
        [&]<class C>() { return parity_slices_of<C>(b, machine); }, run);
  }
};
using BatchedParity = AmongTiles<ParityTile, ParityWide, ParityTall, ParitySmall>;  // row_24's
using GroupedParity = AmongTiles<GroupsWide, GroupsTall, GroupsSquare, GroupsSmall, GroupsFlat,
                                 GroupsSteep>;  // row_27's

// Sums of slices, of all products.
inline std::size_t bytes_of_batch_slices(const Slices& slices, const Problem& p,
                                         std::int64_t count) {
  return static_cast<std::size_t>(count) * bytes_of_product_slices(slices, p);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
