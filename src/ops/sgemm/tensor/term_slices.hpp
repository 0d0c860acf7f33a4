#pragma once
// How a product in three bfloat16 terms is cut into tiles of C and slices of k. And what time that
// takes by a model, as slices.hpp has it for CUDA cores. Host code of rungs and of plan().

#include "ops/sgemm/streams.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A CTA's tile of C: tile_x of the lines of which there are fewer, 64 of the others for each of the
// warpgroups that consume. `depth` of k are brought at a time. The producers leave registers to the
// consumers.
template <int kColumns, int kConsumers, int kProducers, int kStages, int kResident = 1,
          int kProducerRegisters = 64>
struct TermConfig {
  // Two CTAs leave room in shared memory for what lines take that begin at any word: of 96, none.
  static constexpr bool has_room = kColumns != 96, shifted = false;
  static constexpr int tile_x = kColumns, tile_y = 64 * kConsumers, depth = 32, stages = kStages,
                       consumers = 128 * kConsumers, producers = 128 * kProducers,
                       threads = consumers + producers, warps = consumers / 32,
                       resident = kResident;
  // What the compiler may give to each thread, and what the producers keep of it.
  static constexpr int registers = 65536 / (threads * kResident) / 8 * 8,
                       producer_registers = kProducerRegisters,
                       consumer_registers =
                           std::min(240, (registers * threads - producer_registers * producers) /
                                             consumers / 8 * 8);
  // Whether a consumer keeps the sums of smaller products for all rounds, or where not, may keep
  // what its long sums round off (TermSums).
  static constexpr bool of_all_rounds = consumer_registers > 128,
                        may_be_exact = !of_all_rounds && tile_x <= 32;
};

// Of up to so many lines, all along k, cublasSgemm's sums are rounded in many places at once, and
// so little. To be as near, sums must be exact (TermSums).
constexpr std::int64_t kMostExactLines = 11;

// Whether a row-major product has them, and whether its sums are exact.
inline bool has_few_lines_along_k(const Problem& p) {
  return !p.trans_a && p.trans_b && std::min(p.m, p.n) <= kMostExactLines;
}
template <class C>
bool has_exact_sums(const Problem& p) {
  return C::may_be_exact && has_few_lines_along_k(p);
}

// The same for operands whose lines begin at any word (term_shifts.hpp).
template <class C>
struct Shifted : C {
  static constexpr bool shifted = true;
};

// `run` gets the configuration for lines that begin at any word, or C, which copies words of them.
template <class C, class Run>
void with_shifts(bool shifts, const Run& run) {
  if constexpr (C::has_room) {
    if (shifts) return run.template operator()<Shifted<C>>();
  }
  run.template operator()<C>();
}

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

// The fastest slices in tiles of C, of up to most_each CTAs for a multiprocessor, by
// time(count, rounds).
template <class C, class Time>
Slices slices_in_tiles(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t most_each,
                       const runtime::Machine& machine, const Time& time) {
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  const std::int64_t ctas = std::max<std::int64_t>(1, tiles(x, C::tile_x) * tiles(y, C::tile_y)),
                     rounds = tiles(k, C::depth);
  return fastest_slices(m, n, k, n, ctas, rounds, 1, most_each, machine,
                        [&](int count) { return time(count, rounds); });
}

template <class C>
Slices term_slices(std::int64_t m, std::int64_t n, std::int64_t k,
                   const runtime::Machine& machine) {
  return slices_in_tiles<C>(m, n, k, 4, machine, [&](int count, std::int64_t rounds) {
    return term_time<C>(m, n, k, count, rounds, machine);
  });
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
      {m, n, k}, machine, [&]<class C>() { return term_slices<C>(m, n, k, machine); }, run);
}

// Whether a tile of one product with few lines ends before shifted copies pay: so many rounds, or
// fewer. Words are on their way sooner: tc_19 takes 12.4 µs for 12544×64×147 on an H100, not 14.1.
inline bool is_brief(const StreamedShape& s, std::int64_t rounds, std::int64_t most) {
  constexpr std::int64_t kFewLines = 64;
  return s.count == 1 && std::min(s.m, s.n) <= kFewLines && rounds <= most;
}

// tc_18_streamed_terms: what a round of a tile takes of a multiprocessor whose CTAs are all at
// work, and its end. What a round takes a lone CTA, and what it takes longer where lines begin at
// any word. Fitted to 375 products and batches on an H200, the last to 22 on an H100.
struct TermStreamTiming {
  double round_s, end_s, lone_round_s, ragged_s;
};
template <class C>
constexpr TermStreamTiming kTermStreamTiming{};
using StreamOf64 = TermConfig<64, 1, 1, 4, 2, 80>;  // 64×64, two of them on a multiprocessor
using StreamOf96 = TermConfig<96, 1, 1, 3, 2, 80>;
using StreamOf32 = TermConfig<32, 1, 1, 6, 2, 80>;
using StreamOf128 = TermConfig<128, 2, 2, 4, 1, 64>;
template <>
constexpr TermStreamTiming kTermStreamTiming<StreamOf64>{0.503e-6, 0.673e-6, 0.775e-6, 0.060e-6};
template <>
constexpr TermStreamTiming kTermStreamTiming<StreamOf96>{0.677e-6, 0.919e-6, 1.013e-6, 0.450e-6};
template <>
constexpr TermStreamTiming kTermStreamTiming<StreamOf32>{0.403e-6, 0.420e-6, 0.651e-6, 0.050e-6};
template <>
constexpr TermStreamTiming kTermStreamTiming<StreamOf128>{1.365e-6, 2.701e-6, 1.365e-6, 0.120e-6};

template <class C>
double term_stream_time(const StreamedShape& s, const runtime::Machine& machine) {
  constexpr TermStreamTiming kTiming = kTermStreamTiming<C>;
  static_assert(kTiming.round_s > 0);
  constexpr double kOddEnd = C::has_room ? 1.25 : 1.6, kMostOfMemory = 0.8, kLaunch_s = 4e-6,
                   kFirstRagged_s = 0.5e-6;
  const std::int64_t rows = tiles(s.m, C::tile_y), columns = tiles(s.n, C::tile_x),
                     all = rows * columns * s.count;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k), count = static_cast<double>(s.count),
             rounds = static_cast<double>(std::max<std::int64_t>(1, tiles(s.k, C::depth)));
  const double ragged_s = s.width == 4 ? 0.0 : kTiming.ragged_s,
               end_s = s.n % 2 == 0 ? kTiming.end_s : kOddEnd * kTiming.end_s;
  const auto on_one = static_cast<double>(tiles(all, machine.multiprocessors)),
             of_cta = static_cast<double>(tiles(all, C::resident * machine.multiprocessors));
  const double memory_s =
      4.0 * count * ((m + n) * k + m * n) / (kMostOfMemory * machine.memory_bytes_per_s);
  return kLaunch_s + (s.width == 4 ? 0 : kFirstRagged_s) +
         std::max({on_one * (rounds * (kTiming.round_s + ragged_s) + end_s),
                   of_cta * (rounds * (kTiming.lone_round_s + ragged_s * C::resident / 2) +
                             end_s * C::resident / 2),
                   memory_s});
}

// `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_term_stream(const StreamedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<StreamOf64, StreamOf128, StreamOf96, StreamOf32>(
      asked_of(s), machine, [&]<class C>() { return term_stream_time<C>(s, machine); }, run);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
