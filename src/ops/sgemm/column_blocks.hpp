#pragma once
// How row_22_columns_stay cuts a product of short k, and what time that takes by a model. Host code
// of the rung and of plan().

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr std::int64_t kMostDepth = 48;  // of a launch

// A CTA has 128 columns, four a lane, of which it keeps kDepth of k, and blocks of 32 rows.
template <int kDepth>
struct ColumnBlock {
  static constexpr int depth = kDepth, columns = 128, rows = 32, threads = 128,
                       resident = kDepth <= 8    ? 5
                                  : kDepth <= 16 ? 4
                                  : kDepth <= 32 ? 3
                                                 : 2;
};

// `run` gets the least depth that holds k.
template <class Run>
auto with_column_block(std::int64_t k, const Run& run) {
  if (k <= 4) return run.template operator()<ColumnBlock<4>>();
  if (k <= 8) return run.template operator()<ColumnBlock<8>>();
  if (k <= 16) return run.template operator()<ColumnBlock<16>>();
  if (k <= 24) return run.template operator()<ColumnBlock<24>>();
  if (k <= 32) return run.template operator()<ColumnBlock<32>>();
  if (k <= 40) return run.template operator()<ColumnBlock<40>>();
  return run.template operator()<ColumnBlock<48>>();
}

// How many blocks of rows each CTA has, so that all CTAs are at work at the same time, and how many
// CTAs there are.
struct ColumnGrid {
  std::int64_t blocks, ctas;
};
template <class C>
ColumnGrid column_grid(std::int64_t m, std::int64_t n, const runtime::Machine& machine) {
  const std::int64_t down = tiles(m, C::rows), across = tiles(n, C::columns),
                     slots = std::int64_t{C::resident} * machine.multiprocessors,
                     blocks =
                         std::max<std::int64_t>(1, std::min(down, tiles(down * across, slots)));
  return {blocks, tiles(down, blocks) * across};
}

// Up to kMostDepth. A multiprocessor's CTAs share its multiply-adds, which hide what C takes but
// for a sixth. Fitted to 34 products on an H100.
inline double time_of_column_blocks(std::int64_t m, std::int64_t n, std::int64_t k,
                                    const runtime::Machine& machine) {
  constexpr double kFirst_s = 1.4e-6, kBeginOfDepth_s = 25e-9, kFmaShare = 0.546,
                   kStoreShare = 0.877, kShown = 0.165;
  return with_column_block(k, [&]<class C>() {
    const ColumnGrid grid = column_grid<C>(m, n, machine);
    const double ctas = std::ceil(static_cast<double>(grid.ctas) / machine.multiprocessors),
                 rate = kFmaShare * machine.fp32_flops_per_s / machine.multiprocessors,
                 block_s = 2.0 * C::rows * C::columns * C::depth / rate;
    const double multiply_s =
        ctas * (static_cast<double>(grid.blocks) * block_s + kBeginOfDepth_s * C::depth);
    const auto mn = static_cast<double>(m) * static_cast<double>(n);
    const double bytes = 4.0 * (mn + static_cast<double>(m + n) * static_cast<double>(k)),
                 memory_s = bytes / (kStoreShare * machine.memory_bytes_per_s);
    return tuning_of(machine).launch_s + kFirst_s + std::max(multiply_s, memory_s) +
           kShown * std::min(multiply_s, memory_s);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
