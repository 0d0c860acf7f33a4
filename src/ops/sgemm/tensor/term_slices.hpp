#pragma once
// How a product in three bfloat16 terms is cut into tiles of C and slices of k, and what time that
// takes by a model, as slices.hpp has it for CUDA cores. Host code of rungs and of plan().

#include "ops/sgemm/slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile of C: tile_x of the lines of which there are fewer, 64 of the others for each of the
// warpgroups that consume. `depth` of k are brought at a time. The producers leave registers to the
// consumers.
template <int kColumns, int kConsumers, int kProducers, int kStages>
struct TermConfig {
  static constexpr int tile_x = kColumns, tile_y = 64 * kConsumers, depth = 32, stages = kStages,
                       consumers = 128 * kConsumers, producers = 128 * kProducers,
                       threads = consumers + producers, warps = consumers / 32;
  static constexpr int producer_registers = 64, consumer_registers = kConsumers == 2   ? 192
                                                                     : kProducers == 2 ? 88
                                                                                       : 104;
};

template <class C>
double term_time(std::int64_t m, std::int64_t n, std::int64_t k, int count, std::int64_t rounds,
                 const runtime::Machine& machine) {
  const TermTuning& terms = tuning_row_of(machine).terms;
  const Tuning& tuning = tuning_of(machine);
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const auto ctas = static_cast<double>(tiles(x, C::tile_x) * tiles(y, C::tile_y)) * count;
  const auto rounds_of_slice = static_cast<double>((rounds + count - 1) / count);
  const double rounds_s = std::ceil(ctas / machine.multiprocessors) * rounds_of_slice *
                          (terms.round_s + terms.element_s * C::tile_x * C::tile_y +
                           terms.line_s * (C::tile_x + C::tile_y));
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double memory_s = (4.0 * static_cast<double>(m + n) * static_cast<double>(k) + 4.0 * mn) /
                          (terms.memory_share * machine.memory_bytes_per_s);
  const double l2_rate = tuning.l2_bytes_per_s * machine.multiprocessors,
               join_s = count == 1 ? 0.0 : tuning.join_s + 8.0 * count * mn / l2_rate;
  return tuning.launch_s + terms.ends_s + std::max(rounds_s, memory_s) + join_s;
}

template <class C>
Slices term_slices(std::int64_t m, std::int64_t n, std::int64_t k,
                   const runtime::Machine& machine) {
  constexpr std::int64_t kMostEach = 4;
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const std::int64_t ctas = std::max<std::int64_t>(1, tiles(x, C::tile_x) * tiles(y, C::tile_y)),
                     rounds = tiles(k, C::depth);
  return fastest_slices(m, n, k, n, ctas, rounds, 1, kMostEach, machine,
                        [&](int count) { return term_time<C>(m, n, k, count, rounds, machine); });
}

// `run` gets the configuration that takes the shortest time by the model, and its slices.
template <class Run>
auto with_term_tile(std::int64_t m, std::int64_t n, std::int64_t k, const runtime::Machine& machine,
                    const Run& run) {
  using Narrow = TermConfig<32, 4, 2, 5>;  // 32×256
  using Middle = TermConfig<64, 4, 1, 5>;  // 64×256
  using Small = TermConfig<64, 2, 2, 6>;   // 64×128
  using Wide = TermConfig<128, 2, 2, 5>;   // 128×128
  return with_fastest_tile<Wide, Middle, Small, Narrow>(
      [&]<class C>() { return term_slices<C>(m, n, k, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
