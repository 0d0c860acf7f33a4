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
  static constexpr int warp_x = 32, warp_y = 32;
  static constexpr bool shares_registers = warps == 16;  // the producers leave theirs to the others
};

// On CUDA cores.
template <int kLaneY, int kWarpsX, int kWarpsY, int kProducers, int kStages, int kResident>
struct FloatTile : SlicedConfig<4, kLaneY, kWarpsX, kWarpsY, 1, 16, kStages, kResident> {
  static constexpr int consumers = 32 * kWarpsX * kWarpsY, producers = 32 * kProducers;
  static constexpr int warp_x = 32, warp_y = 8 * kLaneY;
  static constexpr bool shares_registers = false;
};

// What a tile takes of a multiprocessor: its multiply-adds at a share of the peak, and its end.
// Fitted to 55 batches on an H100.
struct StreamedTiming {
  double share, end_s;
};
template <class C>
constexpr StreamedTiming kStreamedTiming{};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<4, 4, 4, 4, 1>>{0.984, 1.743e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<2, 2, 1, 4, 3>>{1.155, 0.662e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<4, 1, 1, 4, 3>>{1.100, 0.542e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<1, 2, 2, 4, 4>>{0.878, 0.440e-6};
template <>
constexpr StreamedTiming kStreamedTiming<DoubleTile<1, 1, 1, 4, 8>>{0.498, 0.237e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<8, 2, 2, 2, 4, 2>>{0.739, 1.480e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<8, 2, 1, 1, 4, 4>>{0.770, 0.644e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<4, 2, 1, 2, 4, 4>>{0.603, 0.312e-6};
template <>
constexpr StreamedTiming kStreamedTiming<FloatTile<4, 2, 1, 1, 4, 6>>{0.479, 0.188e-6};

// How many neighbours are copied at once where all of `sizes` are multiples of them.
template <class... Sizes>
int width_for(Sizes... sizes) {
  const auto bits = (sizes | ...);
  return bits % 4 == 0 ? 4 : bits % 2 == 0 ? 2 : 1;
}

// A batch, and how many neighbours are copied at once.
struct StreamedShape {
  std::int64_t m, n, k, count;
  int width;
};
inline runtime::Asked asked_of(const StreamedShape& s) { return {s.m, s.n, s.k, s.count, s.width}; }

// Seconds in tiles of C, where the whole machine has `flops_per_s`.
template <class C>
double streamed_time(const StreamedShape& s, const runtime::Machine& machine, double flops_per_s) {
  // Of the memory's bandwidth: what streams reach at most, and what shows where others bind.
  constexpr double kMostOfMemory = 0.7, kHiddenShare = 4.5;
  constexpr double kPiece_s = 15e-9;  // of a producer, for a warp's copies
  constexpr StreamedTiming kTiming = kStreamedTiming<C>;
  static_assert(kTiming.share > 0);
  const std::int64_t rows = tiles(s.m, C::tile_x), columns = tiles(s.n, C::tile_y);
  const double per_product = static_cast<double>(rows * columns),
               all = per_product * static_cast<double>(s.count);
  // So many CTAs of a multiprocessor share it.
  const double on_one = std::max<double>(std::ceil(all / machine.multiprocessors), C::resident);
  // Warps without an element of C multiply nothing; the others gain half of their time by it.
  const double warps_area =
      static_cast<double>(tiles(s.m, C::warp_x) * C::warp_x * tiles(s.n, C::warp_y) * C::warp_y);
  const double area = (C::tile_x * C::tile_y + warps_area / per_product) / 2;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k);
  const double multiply_s = 2 * area * static_cast<double>(tiles(s.k, C::depth) * C::depth) *
                            machine.multiprocessors / (kTiming.share * flops_per_s);
  const double copies =
      (m / static_cast<double>(rows) + n / static_cast<double>(columns)) * k / (32.0 * s.width);
  const double copy_s = kPiece_s * copies / (C::resident * (C::producers / 32));
  const double bytes = static_cast<double>(s.count) * 4.0 * ((m + n) * k + m * n);
  const double memory_s = bytes / machine.memory_bytes_per_s;
  return tuning_of(machine).launch_s +
         std::max(on_one * (multiply_s + copy_s + kTiming.end_s) + memory_s / kHiddenShare,
                  memory_s / kMostOfMemory);
}

// row_16_streamed, on CUDA cores: `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_float_stream(const StreamedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<FloatTile<8, 2, 2, 2, 4, 2>, FloatTile<8, 2, 1, 1, 4, 4>,
                           FloatTile<4, 2, 1, 2, 4, 4>, FloatTile<4, 2, 1, 1, 4, 6>>(
      asked_of(s), machine,
      [&]<class C>() { return streamed_time<C>(s, machine, machine.fp32_flops_per_s); }, run);
}

// row_17_streamed_double.
template <class Run>
auto with_double_stream(const StreamedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<DoubleTile<4, 4, 4, 4, 1>, DoubleTile<2, 2, 1, 4, 3>,
                           DoubleTile<4, 1, 1, 4, 3>, DoubleTile<1, 2, 2, 4, 4>,
                           DoubleTile<1, 1, 1, 4, 8>>(
      asked_of(s), machine,
      [&]<class C>() { return streamed_time<C>(s, machine, machine.f64_tensor_flops_per_s); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
