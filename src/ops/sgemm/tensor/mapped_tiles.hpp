#pragma once
// The tiles and slices of a product whose long operand the copy engine brings (mapped_terms.hpp),
// and what time they take by a model. Host code of a rung and of plan().

#include "ops/sgemm/tensor/term_slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile: tile_x lines of X and, for each warpgroup that consumes, 64 of Y. kParts warpgroups
// have the same 64, and 32 each of a round's k. X is read `ahead` rounds ahead. Copied: what
// multiplies the slices where the copy engine cannot bring Y.
template <int kColumns, int kConsumers, int kParts, int kStages, int kProducerRegisters,
          class OfCopies>
struct MappedConfig {
  using Copied = OfCopies;
  static constexpr int tile_x = kColumns, blocks = (kColumns + 31) / 32, parts = kParts,
                       tile_y = 64 * kConsumers / kParts, depth = 32 * kParts, stages = kStages,
                       ahead = 4, consumers = 128 * kConsumers, producers = 128,
                       threads = consumers + producers, warps = consumers / 32,
                       warpgroups = 1;  // that split X
  static constexpr int registers = 65536 / threads / 8 * 8, producer_registers = kProducerRegisters,
                       consumer_registers =
                           std::min(240, (registers * threads - producer_registers * producers) /
                                             consumers / 8 * 8);
  static constexpr bool shifted = false, of_all_rounds = true, stays = true,
                        may_be_exact = tile_x == 16;  // where lines are so few
};
using MappedOf16 = MappedConfig<16, 4, 2, 4, 80, TermConfig<32, 4, 2, 5>>;   // 16×128
using MappedOf32 = MappedConfig<32, 4, 1, 4, 80, TermConfig<32, 4, 2, 5>>;   // 32×256
using MappedOf64 = MappedConfig<64, 2, 1, 6, 104, TermConfig<64, 2, 2, 6>>;  // 64×128
constexpr std::int64_t kMostMappedLines = 64;                                // of X

// What a slice of a CTA takes at its end, and a round. Fitted to 8,486 times of 4,243 products on
// an H200.
struct MappedTiming {
  double end_s, round_s;
};
template <class C>
constexpr MappedTiming kMappedTiming{};
template <>
constexpr MappedTiming kMappedTiming<MappedOf16>{1.5e-6, 0.86e-6};
template <>
constexpr MappedTiming kMappedTiming<MappedOf32>{2.58e-6, 0.894e-6};
template <>
constexpr MappedTiming kMappedTiming<MappedOf64>{3.04e-6, 0.758e-6};

template <class C>
double mapped_time(std::int64_t m, std::int64_t n, std::int64_t k, int count, std::int64_t rounds,
                   const runtime::Machine& machine) {
  constexpr MappedTiming kTiming = kMappedTiming<C>;
  static_assert(kTiming.round_s > 0);
  constexpr double kLaunch_s = 4.5e-6, kMemory = 1.49, kJoin_s = 2.43e-6;
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const auto tiles_x = static_cast<double>(tiles(x, C::tile_x)),
             slices = tiles_x * static_cast<double>(tiles(y, C::tile_y)) * count;
  const auto of_slice = static_cast<double>(tiles(rounds, count));
  const auto mn = static_cast<double>(m) * static_cast<double>(n);
  const double slices_s = std::ceil(slices / machine.multiprocessors) *
                          (of_slice * kTiming.round_s + kTiming.end_s),
               of_y = tiles_x * static_cast<double>(y) * static_cast<double>(k),
               memory_s = 4 * (of_y + static_cast<double>(x) * static_cast<double>(k) + mn) /
                          (kMemory * machine.memory_bytes_per_s);
  const double l2_rate = tuning_of(machine).l2_bytes_per_s * machine.multiprocessors,
               join_s = count == 1 ? 0.0 : kJoin_s + 8.0 * count * mn / l2_rate;
  return kLaunch_s + std::hypot(slices_s, memory_s) + join_s;
}

template <class C>
Slices mapped_slices(std::int64_t m, std::int64_t n, std::int64_t k,
                     const runtime::Machine& machine) {
  return slices_in_tiles<C>(m, n, k, 6, machine, [&](int count, std::int64_t rounds) {
    return mapped_time<C>(m, n, k, count, rounds, machine);
  });
}

// `run` gets the configuration that takes the shortest time by the model, and its slices.
template <class Run>
auto with_mapped_tile(std::int64_t m, std::int64_t n, std::int64_t k,
                      const runtime::Machine& machine, const Run& run) {
  const auto among = [&]<class... Configs>() {
    return with_fastest_tile<Configs...>(
        {m, n, k}, machine, [&]<class C>() { return mapped_slices<C>(m, n, k, machine); }, run);
  };
  return std::min(m, n) <= MappedOf16::tile_x ? among.template operator()<MappedOf16>()
                                              : among.template operator()<MappedOf32, MappedOf64>();
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
