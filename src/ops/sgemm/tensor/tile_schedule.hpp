#pragma once
// Which tiles a product of C consists of, in which order they are computed, and how many persistent
// thread blocks compute them. Host code plans it; the kernel reads it.

#include <algorithm>
#include <cmath>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tensor/config.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A tile's place in the grid of tiles: counts tiles, where TileOrigin counts elements.
struct TileIndex {
  std::int64_t row, column;
};

// Tiles go in bands of 8 tile rows, down each column of a band. Tiles that are computed at the same
// time then share what they read.
//
// A cluster of two `sharers` computes a pair of neighbouring tiles. Tiles that cannot fill a pair
// come last, in this order:
// - column_edge: the last tile column, if it is a single one, as pairs of tiles along m;
// - row_edge_transposed: the last rows, if block_n or fewer, as columns of C's transpose. The
//   corner that lies in both edges belongs to column_edge.
// Edge tiles with at most kNarrow columns (or rows) are narrow: less work each.
struct TileSchedule {
  static constexpr int kNarrow = 32;
  int tiles_m = 0, tiles_n = 0, column_edge = 0, row_edge_transposed = 0;
  int narrow = 0;                   // how many of the last tiles are narrow
  int edge_workers = 0;             // so many of the last workers compute only narrow tiles
  std::int64_t transposed_end = 0;  // columns of C from here on are not in row_edge_transposed
  TileSchedule(const Gemm& g, int block_m, int block_n, int sharers = 1)
      : tiles_m(static_cast<int>(tiles(g.m, block_m))),
        tiles_n(static_cast<int>(tiles(g.n, block_n * sharers))) {
    if (sharers != 2) return;
    if (tiles(g.n, block_n) % 2 == 1) {
      --tiles_n;
      column_edge = (tiles_m + 1) / 2;
      if (g.n - std::int64_t{tiles_n} * sharers * block_n <= kNarrow) narrow = column_edge;
    }
    if (g.m - std::int64_t{tiles_m - 1} * block_m <= block_n) {
      --tiles_m;
      transposed_end = column_edge > 0 ? std::int64_t{tiles_n} * sharers * block_n : g.n;
      row_edge_transposed = static_cast<int>(tiles(transposed_end, 2 * block_m));
      narrow = g.m - std::int64_t{tiles_m} * block_m <= kNarrow ? narrow + row_edge_transposed : 0;
    }
  }
  // The pairs of neighbours along n that share loads of A; then all tiles; then all that are not
  // narrow.
  __host__ __device__ __forceinline__ int paired() const { return tiles_m * tiles_n; }
  __host__ __device__ __forceinline__ int count() const {
    return paired() + column_edge + row_edge_transposed;
  }
  __host__ __device__ __forceinline__ int full_width() const { return count() - narrow; }
  // Where a paired tile lies; its column counts pairs.
  __device__ __forceinline__ TileIndex index(int tile) const {
    constexpr int kBand = 8;
    const int first = tile / (kBand * tiles_n) * kBand, in_band = tile % (kBand * tiles_n);
    const int rows = tiles_m - first < kBand ? tiles_m - first : kBand;
    return {first + in_band % rows, in_band / rows};
  }
};

// The fewest workers, at most `most`, that finish in the minimum number of waves. Power is the
// limit, and a worker that idles in the last wave wastes its share of it.
inline unsigned fewest_workers(unsigned tile_count, unsigned most) {
  if (tile_count == 0) return 0;
  const unsigned waves = (tile_count + most - 1) / most;
  return (tile_count + waves - 1) / waves;
}

// The number of clusters that run at the same time. Each is one worker.
template <TensorConfig config>
unsigned most_workers(const runtime::Machine& machine) {
  const unsigned workers = static_cast<unsigned>(machine.multiprocessors) / config.cluster();
  return workers > 0 ? workers : 1;
}

// The schedule of a product; the tiles of a cluster's sharers count as one.
template <TensorConfig config>
TileSchedule schedule_of(const Gemm& g, const runtime::Machine& machine) {
  TileSchedule schedule(g, config.block_m, config.block_n, config.sharers);
  // Workers that full-width tiles leave idle take the narrow ones, if they finish first; otherwise
  // narrow tiles come last.
  const unsigned most = most_workers<config>(machine),
                 idle = most - fewest_workers(schedule.full_width(), most);
  if (idle > 0 && 6 * tiles(schedule.narrow, idle) < 10 * tiles(schedule.full_width(), most) + 6) {
    schedule.edge_workers = static_cast<int>(fewest_workers(schedule.narrow, idle));
  }
  return schedule;
}

// What the waves of these tiles take per element of k. A multiprocessor's 128×128 sums take 22.5
// units alone, which were ns on an H100. Large tiles read least from the L2 cache, and
// run faster where idle multiprocessors leave them power. Small ones sum up in two levels. Of a
// tile whose k clusters share, each block has a part.
template <TensorConfig config>
double time_of_waves(const Gemm& g, const runtime::Machine& machine) {
  const TileSchedule schedule = schedule_of<config>(g, machine);
  constexpr double kNarrow = 0.6;  // a narrow tile's time, of a full-width tile's
  const std::int64_t most = most_workers<config>(machine), full_width = schedule.full_width();
  const double narrow = kNarrow * schedule.narrow, count = static_cast<double>(full_width) + narrow;
  // Edge workers compute their tiles beside the others.
  const double waves = schedule.edge_workers > 0
                           ? std::max(static_cast<double>(tiles(full_width, most)),
                                      kNarrow * tiles(schedule.narrow, schedule.edge_workers))
                           : std::ceil(std::ceil(count) / static_cast<double>(most));
  const double busy = count / (waves * static_cast<double>(most));
  const double of_tile = config.blocks_k > 1     ? 1.6 + 22.5 / config.blocks_k
                         : config.block_m == 256 ? 11.4 + 7.4 * busy
                         : config.block_n == 192 ? 20.2
                                                 : 22.5;
  return waves * config.block_m * config.block_n / (128 * 128) * of_tile;
}

// Calls run.template operator()<config>() with the tiles that suit an m×n×k product. Clusters of 4
// and 8 leave some SMs idle, because a cluster must fit into one GPC.
template <class Run>
void with_tensor_config(const Gemm& g, std::int64_t depth, const runtime::Machine& machine,
                        const Run& run) {
  constexpr TensorConfig kSmall{1, 1, 128, 6}, kWide{1, 1, 128, 5, 192}, kLarge{2, 1, 256, 4};
  // Thresholds are in tiles per 132 SMs, an H200's.
  const std::int64_t multiprocessors = machine.multiprocessors;
  const std::int64_t small = tiles(g.m, 128) * tiles(g.n, 128);
  if (132 * small <= 12 * multiprocessors && depth >= 1024) {
    return run.template operator()<TensorConfig{1, 8, 128, 6}>();
  }
  if (132 * small <= 28 * multiprocessors && depth >= 512) {
    return run.template operator()<TensorConfig{1, 4, 128, 6}>();
  }
  if (2 * small <= multiprocessors && depth >= 256) {
    return run.template operator()<TensorConfig{1, 2, 128, 6}>();
  }
  // Products that fill less than two waves of small tiles cuBLAS sums up in parts of k. Small
  // tiles, with two levels of sums, are as accurate.
  const bool sums_in_levels = 2 * small <= 3 * multiprocessors;
  const double in_small = time_of_waves<kSmall>(g, machine),
               in_wide = time_of_waves<kWide>(g, machine),
               in_large = time_of_waves<kLarge>(g, machine);
  if (sums_in_levels || (in_small <= in_wide && in_small <= in_large)) {
    run.template operator()<kSmall>();
  } else if (in_wide <= in_large) {
    run.template operator()<kWide>();
  } else {
    run.template operator()<kLarge>();
  }
}

// Whether the last wave of full-width tiles has room for all narrow ones, or all are narrow.
template <TensorConfig config>
bool narrow_tiles_fit_last_wave(const TileSchedule& schedule, const runtime::Machine& machine) {
  const unsigned most = most_workers<config>(machine);
  const int full_width = schedule.full_width();
  return full_width == 0 || tiles(full_width, static_cast<int>(most)) * most >= schedule.count();
}

// The size of the grid, in thread blocks.
template <TensorConfig config>
unsigned blocks_of(const TileSchedule& schedule, const runtime::Machine& machine) {
  const unsigned most = most_workers<config>(machine);
  const bool one_group =
      schedule.edge_workers == 0 && narrow_tiles_fit_last_wave<config>(schedule, machine);
  const unsigned workers =
      one_group ? fewest_workers(schedule.count(), most)
                : fewest_workers(schedule.full_width(), most) + schedule.edge_workers;
  return workers * config.cluster();
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
