#pragma once
// How a product by FP32 multiply-adds is cut into row_07's tiles of C and slices of k, and what
// time that takes by a model. Host code of rungs and of plan().

#include <iterator>
#include <utility>

#include "ops/sgemm/rung_parity_kernel.hpp"
#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The numbers of a ParityShape.
struct ParityConfig {
  int rows = 128, columns = 128, depth = 8, resident = 2;
  static constexpr int warp_rows = ParityWarp::warp_rows, warp_columns = ParityWarp::warp_columns;
  constexpr int threads() const { return 32 * (rows / warp_rows) * (columns / warp_columns); }
  constexpr int shared_bytes() const { return 2 * 4 * depth * (rows + columns); }
  // That a thread may have: the compiler keeps within them.
  constexpr int registers() const {
    const int share = 65536 / (threads() * resident) / 8 * 8;
    return share < 255 ? share : 255;
  }
  bool operator==(const ParityConfig&) const = default;
};
// A thread holds 64 sums and 32 factors; and it fetches whole float4 of A and of B.
constexpr bool valid(ParityConfig c) {
  constexpr int kLeastRegisters = 112, kMostShared = 48 << 10;
  if (c.rows % c.warp_rows != 0 || c.columns % c.warp_columns != 0 || c.depth % 8 != 0)
    return false;
  if (c.threads() > 1024 || c.resident < 1 || c.registers() < kLeastRegisters) return false;
  const auto fetches = [&](int outer) {
    return outer * c.depth % (4 * c.threads()) == 0 && c.threads() % (outer / 4) == 0 &&
           c.threads() % (c.depth / 4) == 0;
  };
  return fetches(c.rows) && fetches(c.columns) && c.shared_bytes() <= kMostShared;
}

// nvcc rejects struct-valued template arguments on kernels, so this wraps the value in a type.
template <ParityConfig config>
struct ParityTileOf : ParityShape<config.rows, config.columns, config.depth, config.resident> {
  static_assert(valid(config));
};
using ParityTile = ParityTileOf<ParityConfig{}>;  // row_07's own, where none was found
using ParityWide = ParityTileOf<ParityConfig{64, 128, 8, 4}>;
using ParityTall = ParityTileOf<ParityConfig{128, 64, 8, 4}>;

// row_07: `run` gets the configuration that was found for the shape, if its lines lie as those of
// the shapes did: at multiples of 4 elements.
constexpr ParityConfig found_parity(int place) {
  const auto& v = kParityFound[place];
  return {v[0], v[1], v[2], v[3]};
}
template <class Run>
void with_parity_config(std::int64_t m, std::int64_t n, std::int64_t k, bool aligned,
                        const runtime::Machine& machine, const Run& run) {
  const int found = aligned ? found_for(kParityShapes, m, n, k, machine, -1) : -1;
  const auto was_found = [&]<int... kPlaces>(std::integer_sequence<int, kPlaces...>) {
    return ((found == kPlaces && (run.template operator()<found_parity(kPlaces)>(), true)) || ...);
  };
  constexpr int kCount = std::size(kParityFound);
  if (!was_found(std::make_integer_sequence<int, kCount>())) {
    run.template operator()<ParityConfig{}>();
  }
}

// What `count` slices of steps of 8 k take. Few CTAs of a multiprocessor leave some issue
// slots empty.
template <class C>
double parity_time(std::int64_t m, std::int64_t n, std::int64_t k, int count,
                   const runtime::Machine& machine) {
  const Tuning& tuning = tuning_of(machine);
  constexpr double kShare = C::rows == C::columns ? 1.0 : 0.84;  // of what large tiles reach
  constexpr double kEnds = 1.741;  // steps' time of a CTA's first loads and of its last stores
  constexpr int kLargeTile = 128 * 128;
  const auto ctas = static_cast<double>(tiles(m, C::rows) * tiles(n, C::columns)) * count;
  const double on_one = std::ceil(ctas / machine.multiprocessors),
               filled = tuning.large_ctas_that_fill * kLargeTile / (C::rows * C::columns),
               rate = kShare * tuning.fma_share_of_large_tiles * machine.fp32_flops_per_s /
                      machine.multiprocessors,
               step_s = std::max(on_one, filled) * 2 * C::rows * C::columns * C::depth / rate;
  const auto steps = static_cast<double>(tiles(tiles(k, C::depth), count));
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors,
               store_share = n % 4 == 0 ? tuning.large_store_share : tuning.ragged_store_share,
               end_s = count == 1 ? 4.0 * mn / (store_share * machine.memory_bytes_per_s)
                                  : tuning.join_s + 8.0 * count * mn / l2_rate;
  return tuning.launch_s + (steps + kEnds) * step_s + end_s;
}

template <class C>
Slices parity_slices_of(std::int64_t m, std::int64_t n, std::int64_t k,
                        const runtime::Machine& machine) {
  const std::int64_t of_c = std::max<std::int64_t>(1, tiles(m, C::rows) * tiles(n, C::columns)),
                     rounds = tiles(k, C::depth);
  return fastest_slices(m, n, k, line_of_slice(n), of_c, rounds, least_slices(of_c, k, machine),
                        4 * C::resident, machine,
                        [&](int count) { return parity_time<C>(m, n, k, count, machine); });
}

// row_20_parity_split_k: `run` gets the tile's configuration and its slices.
template <class Run>
auto with_parity_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<ParityTile, ParityWide, ParityTall>(
      [&]<class C>() { return parity_slices_of<C>(m, n, k, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
