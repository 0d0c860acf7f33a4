#pragma once
// The tiles of batched products that pass through a ring as one stream (rung_streamed.hpp), and
// what they take by the model. Host code of rungs and of plan().

#include <algorithm>
#include <cmath>

#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile on the tensor cores' float64: kWarpsX by kWarpsY warps of 32×32 elements, and
// kProducers warps that copy.
template <int kWarpsX, int kWarpsY, int kProducers, int kStages, int kResident>
struct DoubleTile {
  static constexpr int warps_x = kWarpsX, warps_y = kWarpsY, warps = kWarpsX * kWarpsY,
                       consumers = 32 * warps, producers = 32 * kProducers, tile_x = 32 * kWarpsX,
                       tile_y = 32 * kWarpsY, depth = 16, stages = kStages, resident = kResident;
};

// On CUDA cores.
template <int kLaneY, int kWarpsX, int kWarpsY, int kProducers, int kStages, int kResident>
struct FloatTile : SlicedConfig<4, kLaneY, kWarpsX, kWarpsY, 1, 16, kStages, kResident> {
  static constexpr int consumers = 32 * kWarpsX * kWarpsY, producers = 32 * kProducers;
};

// What a tile of C takes of a multiprocessor: its multiply-adds at a share of the peak, and its
// end. Fitted to 48 batches on an H200.
struct StreamedTiming {
  double share, end_s;
};
template <class C>
constexpr StreamedTiming kStreamedTiming{};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<4, 4, 2, 4, 1>>{0.734, 1.787e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<2, 2, 2, 4, 2>>{0.734, 0.816e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<2, 2, 1, 4, 3>>{0.701, 0.591e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<4, 1, 1, 4, 3>>{0.631, 0.462e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<1, 2, 1, 4, 5>>{0.657, 0.444e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<1, 1, 1, 4, 8>>{0.435, 0.258e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<8, 2, 2, 2, 4, 2>>{0.635, 1.360e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<8, 2, 1, 1, 4, 4>>{0.583, 0.649e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<8, 1, 1, 1, 4, 6>>{0.360, 0.546e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<4, 1, 1, 1, 4, 6>>{0.303, 0.240e-6};

// Seconds for `count` products in tiles of C, where the whole machine has `flops_per_s`.
template <class C>
double streamed_time(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                     const runtime::Machine& machine, double flops_per_s) {
  constexpr double kMemoryShare = 2.64;  // most of what memory takes is hidden
  constexpr StreamedTiming kTiming = kStreamedTiming<C>;
  static_assert(kTiming.share > 0);
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n),
             depth = static_cast<double>(k), products = static_cast<double>(count);
  const double all = static_cast<double>(tiles(m, C::tile_x) * tiles(n, C::tile_y)) * products;
  // So many CTAs of a multiprocessor share it.
  const double on_one = std::max<double>(std::ceil(all / machine.multiprocessors), C::resident);
  const double flops =
      2.0 * C::tile_x * C::tile_y * static_cast<double>(tiles(k, C::depth) * C::depth);
  const double tile_s =
      flops * machine.multiprocessors / (kTiming.share * flops_per_s) + kTiming.end_s;
  const double bytes = products * 4.0 * ((rows + columns) * depth + rows * columns);
  return tuning_of(machine).launch_s + on_one * tile_s +
         bytes / (kMemoryShare * machine.memory_bytes_per_s);
}

// row_16_streamed, on CUDA cores: `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_float_stream(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                       const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<FloatTile<8, 2, 2, 2, 4, 2>, FloatTile<8, 2, 1, 1, 4, 4>,
                           FloatTile<8, 1, 1, 1, 4, 6>, FloatTile<4, 1, 1, 1, 4, 6>>(
      [&]<class C>() {
        return streamed_time<C>(m, n, k, count, machine, machine.fp32_flops_per_s);
      },
      run);
}

// row_17_streamed_double.
template <class Run>
auto with_double_stream(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count,
                        const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<DoubleTile<4, 4, 2, 4, 1>, DoubleTile<2, 2, 2, 4, 2>,
                           DoubleTile<2, 2, 1, 4, 3>, DoubleTile<4, 1, 1, 4, 3>,
                           DoubleTile<1, 2, 1, 4, 5>, DoubleTile<1, 1, 1, 4, 8>>(
      [&]<class C>() {
        return streamed_time<C>(m, n, k, count, machine, machine.f64_tensor_flops_per_s);
      },
      run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
