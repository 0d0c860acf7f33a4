#pragma once
// The tiles of batched products that pass through a ring as one stream (rung_streamed.hpp), and
// what they take by the model. Host code of rungs and of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile on the tensor cores' float64: kWarpsX by kWarpsY warps of 32×32 elements.
template <int kWarpsX, int kWarpsY, int kStages, int kResident>
struct DoubleTile {
  static constexpr int warps_x = kWarpsX, warps_y = kWarpsY, warps = kWarpsX * kWarpsY,
                       consumers = 32 * warps, tile_x = 32 * kWarpsX, tile_y = 32 * kWarpsY,
                       depth = 16, stages = kStages, resident = kResident;
};

// On CUDA cores.
template <int kLaneY, int kWarpsX, int kWarpsY, int kStages, int kResident>
struct FloatTile : SlicedConfig<4, kLaneY, kWarpsX, kWarpsY, 1, 16, kStages, kResident> {
  static constexpr int consumers = 32 * kWarpsX * kWarpsY;
};

// Seconds for `count` products in tiles of C, at `flops_per_s` of the whole machine.
template <class C>
double streamed_time(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                     const runtime::Machine& machine, double flops_per_s) {
  constexpr double kWarpsThatFill = 8;
  const Tuning& tuning = tuning_of(machine);
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n),
             depth = static_cast<double>(k), products = static_cast<double>(count);
  const double all = static_cast<double>(tiles(m, C::tile_x) * tiles(n, C::tile_y)) * products;
  const double on_one = std::max(std::ceil(all / machine.multiprocessors),
                                 kWarpsThatFill * 32 / static_cast<double>(C::consumers));
  const double multiply_s = on_one * 2.0 * C::tile_x * C::tile_y *
                            static_cast<double>(tiles(k, C::depth) * C::depth) *
                            machine.multiprocessors / flops_per_s;
  const double l2_s = all * 4.0 * (C::tile_x + C::tile_y) * depth /
                      (tuning.l2_bytes_per_s * machine.multiprocessors);
  const double memory_s =
      products * 4.0 *
      ((rows + columns) * depth / tuning.memory_share + rows * columns / tuning.store_share) /
      machine.memory_bytes_per_s;
  return tuning.launch_s + std::max({multiply_s, l2_s, memory_s});
}

// row_16_streamed, on CUDA cores: `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_float_stream(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                       const runtime::Machine& machine, const Run& run) {
  const double rate = tuning_of(machine).fma_share * machine.fp32_flops_per_s;
  return with_fastest_tile<FloatTile<8, 2, 2, 4, 2>, FloatTile<8, 2, 1, 4, 4>,
                           FloatTile<4, 1, 1, 4, 6>>(
      [&]<class C>() { return streamed_time<C>(m, n, k, count, machine, rate); }, run);
}

// row_17_streamed_double.
template <class Run>
auto with_double_stream(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                        const runtime::Machine& machine, const Run& run) {
  const double rate = tuning_of(machine).f64_share * machine.f64_tensor_flops_per_s;
  return with_fastest_tile<DoubleTile<4, 2, 6, 1>, DoubleTile<2, 2, 4, 3>, DoubleTile<1, 1, 4, 8>>(
      [&]<class C>() { return streamed_time<C>(m, n, k, count, machine, rate); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
