#pragma once
// How a product on float64 tensor cores is cut into tiles of C and slices of k, and what time that
// takes by a model. Host code of rungs and of plan().

#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile of C; its warps multiply warp_rows×32 each. So many CTAs are resident on a
// multiprocessor.
template <int kRows, int kColumns, int kWarpRows, int kResident>
struct DoubleConfig {
  static constexpr int rows = kRows, columns = kColumns, warp_rows = kWarpRows, warp_columns = 32,
                       resident = kResident, depth = 16, step = 4,
                       warps_across = columns / warp_columns,
                       threads = 32 * (rows / warp_rows) * warps_across;
  // Multiply-adds take rows·columns/128 cycles per k, and conversions to float64 (rows +
  // columns)/16 on top. Relative to a tile of 128×128.
  static constexpr double loss = (1 + 8.0 / rows + 8.0 / columns) / (1 + 16.0 / 128);
};

// What `count` slices of `rounds` steps of 16 k take. CTAs of a multiprocessor share its tensor
// cores. A step takes at least the latency of its loads.
template <class C>
double double_time(std::int64_t m, std::int64_t n, std::int64_t k, int count, std::int64_t rounds,
                   const runtime::Machine& machine) {
  const Tuning& tuning = tuning_of(machine);
  constexpr double kEnds = 2.003;  // steps' time of a CTA's first loads and of its last stores
  const auto ctas = static_cast<double>(tiles(m, C::rows) * tiles(n, C::columns)) * count;
  const double on_one = std::ceil(ctas / machine.multiprocessors),
               rate = tuning.f64_share * machine.f64_tensor_flops_per_s / machine.multiprocessors,
               step_s = std::max(on_one * 2 * C::rows * C::columns * C::depth * C::loss / rate,
                                 std::ceil(on_one / C::resident) * tuning.f64_step_s);
  const auto steps = static_cast<double>((rounds + count - 1) / count);
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double memory_s = 4.0 * static_cast<double>(m + n) * static_cast<double>(k) /
                          (tuning.f64_memory_share * machine.memory_bytes_per_s),
               l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors,
               l2_s = ctas * steps * 4.0 * (C::rows + C::columns) * C::depth / l2_rate;
  const double store_share = n % 4 == 0 ? tuning.large_store_share : tuning.ragged_store_share,
               end_s = count == 1 ? 4.0 * mn / (store_share * machine.memory_bytes_per_s)
                                  : tuning.join_s + 8.0 * count * mn / l2_rate;
  return tuning.launch_s + std::max({(steps + kEnds) * step_s, memory_s, l2_s}) + end_s;
}

template <class C>
Slices double_slices_of(std::int64_t m, std::int64_t n, std::int64_t k,
                        const runtime::Machine& machine) {
  const std::int64_t of_c = std::max<std::int64_t>(1, tiles(m, C::rows) * tiles(n, C::columns)),
                     rounds = tiles(k, C::depth);
  return fastest_slices(m, n, k, line_of_slice(n), of_c, rounds, 1, 4 * C::resident, machine,
                        [&](int count) { return double_time<C>(m, n, k, count, rounds, machine); });
}

// row_14_double_split_k: `run` gets the tile's configuration and its slices.
template <class Run>
auto with_double_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<DoubleConfig<64, 64, 32, 3>, DoubleConfig<32, 128, 32, 3>,
                           DoubleConfig<128, 32, 32, 3>, DoubleConfig<32, 32, 16, 4>>(
      {m, n, k}, machine, [&]<class C>() { return double_slices_of<C>(m, n, k, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
