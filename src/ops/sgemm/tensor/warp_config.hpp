#pragma once
// The tile sizes of a product by warps (mma.sync), the shared memory that they need, and which
// sizes suit an m×n×k product on a machine.

#include <iterator>
#include <utility>

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "ops/sgemm/tuning.hpp"
#include "parts/copy_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A block's tile, its warps along m and n, the ring's stages, and blocks to a multiprocessor.
struct WarpConfig {
  int block_m = 128, block_n = 128, warps_m = 2, warps_n = 4, stages = 3, blocks = 1;
  constexpr int threads() const { return 32 * warps_m * warps_n; }
  constexpr int warp_m() const { return block_m / warps_m; }
  constexpr int warp_n() const { return block_n / warps_n; }
  constexpr std::size_t stage_bytes() const { return std::size_t{128} * (block_m + block_n); }
  constexpr std::size_t ring_bytes() const { return stages * (stage_bytes() + 16); }
  // That a thread may have: the compiler keeps within them.
  constexpr int registers() const {
    const int share = 65536 / (threads() * blocks) / 8 * 8;
    return share < 255 ? share : 255;
  }
  bool operator==(const WarpConfig&) const = default;
};
constexpr bool valid(WarpConfig c) {
  return c.warp_m() % 16 == 0 && c.warp_n() % 16 == 0 && c.stages >= 3 &&
         c.block_m % (c.threads() / 8) == 0 && c.block_n % (c.threads() / 8) == 0;
}

// 128×256 where shared memory holds four stages, or three. 128×128 where it holds but 99 KB. Small
// tiles, of which several blocks fit, where large ones would leave multiprocessors idle.
constexpr WarpConfig kLarge{128, 256, 2, 4, 4, 1}, kLargeOfThree{128, 256, 2, 4, 3, 1}, kMiddle{},
    kSmall{64, 64, 2, 2, 4, 3};

// nvcc rejects struct-valued template arguments on kernels, so this wraps the value in a type.
template <WarpConfig config>
struct WarpConfigType {
  static_assert(valid(config));
  static constexpr WarpConfig value = config;
  using Ring = parts::CopyRing<config.block_m, config.block_n, config.stages>;
  using Copies = parts::LineCopies<Ring, config.block_m, config.block_n, config.threads()>;
};

// The origin of tile `tile` of a schedule.
template <class Config>
__device__ __forceinline__ TileOrigin warp_tile(const TileSchedule& schedule, unsigned tile) {
  const TileIndex at = schedule.index(static_cast<int>(tile));
  return {at.row * Config::value.block_m, at.column * Config::value.block_n};
}
inline TileSchedule schedule_of(const Gemm& g, WarpConfig c) {
  return TileSchedule(g, c.block_m, c.block_n);
}

// Whether a block's ring, and the little that lies beside it, has room.
inline bool fits(WarpConfig c, const runtime::Machine& machine) {
  return c.ring_bytes() + 64 <= static_cast<std::size_t>(machine.shared_bytes_per_block);
}

// How many waves of blocks a product takes.
inline std::int64_t waves_of(const Gemm& g, WarpConfig c, const runtime::Machine& machine) {
  const std::int64_t kept_back = 1024,  // of each block's shared memory, by CUDA
      room = machine.shared_bytes_per_multiprocessor /
             (static_cast<std::int64_t>(c.ring_bytes()) + kept_back),
                     blocks = room < c.blocks ? (room > 0 ? room : 1) : c.blocks;
  return tiles(tiles(g.m, c.block_m) * tiles(g.n, c.block_n),
               static_cast<int>(blocks * machine.multiprocessors));
}

// Calls run.template operator()<config>() with the tiles that suit an m×n×k product by the number
// of their waves. On an H100 a wave of small tiles takes 0.45 of the time of one of 128×256, and
// one of 128×128 0.51.
template <class Run>
void with_warp_config_by_waves(const Gemm& g, const runtime::Machine& machine, const Run& run) {
  const std::int64_t small = 45 * waves_of(g, kSmall, machine);
  if (fits(kLargeOfThree, machine)) {
    if (small < 100 * waves_of(g, kLarge, machine)) return run.template operator()<kSmall>();
    return fits(kLarge, machine) ? run.template operator()<kLarge>()
                                 : run.template operator()<kLargeOfThree>();
  }
  if (small < 51 * waves_of(g, kMiddle, machine)) return run.template operator()<kSmall>();
  run.template operator()<kMiddle>();
}

constexpr WarpConfig found_warp(int place) {
  const auto& v = kWarpFound[place];
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}
// The same with the configuration that was found for the shape, if it has room.
template <class Run>
void with_warp_config(const Gemm& g, const runtime::Machine& machine, const Run& run) {
  const int found = found_for(kWarpShapes, g.m, g.n, g.k, machine, -1);
  const auto run_if_found = [&]<int kPlace>() {
    constexpr WarpConfig kConfig = found_warp(kPlace);
    if (found != kPlace || !fits(kConfig, machine)) return false;
    run.template operator()<kConfig>();
    return true;
  };
  const auto was_found = [&]<int... kPlaces>(std::integer_sequence<int, kPlaces...>) {
    return (run_if_found.template operator()<kPlaces>() || ...);
  };
  constexpr int kCount = std::size(kWarpFound);
  if (was_found(std::make_integer_sequence<int, kCount>())) return;
  with_warp_config_by_waves(g, machine, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
