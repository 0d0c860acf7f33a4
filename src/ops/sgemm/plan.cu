#include <algorithm>
#include <cmath>

// The shapes' model first, for there the flavour's namespace is inline.
// clang-format off
#include "ops/sgemm/add_source.hpp"
#include "ops/sgemm/column_blocks.hpp"
#include "ops/sgemm/corrections.hpp"
#include "ops/sgemm/cuts.hpp"
#include "ops/sgemm/double_slices.hpp"
#include "ops/sgemm/even_batches.hpp"
#include "ops/sgemm/even_tiles.hpp"
#include "ops/sgemm/fitted_tiles.hpp"
#include "ops/sgemm/large_tiles.hpp"
#include "ops/sgemm/line_shares.hpp"
#include "ops/sgemm/lone_warps.hpp"
#include "ops/sgemm/low_tiles.hpp"
#include "ops/sgemm/parity_batches.hpp"
#include "ops/sgemm/ring_slices.hpp"
#include "ops/sgemm/streams.hpp"
#include "ops/sgemm/tensor/cluster_slices.hpp"
#include "ops/sgemm/tensor/held_tiles.hpp"
#include "ops/sgemm/tensor/mapped_tiles.hpp"
#include "ops/sgemm/thread_tiles.hpp"
#include "ops/sgemm/whole_depth.hpp"
#include "ops/sgemm/plan.hpp"
// clang-format on

namespace warpladder::sgemm {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(row_07_register_parity);
WARPLADDER_USES_RUNG(row_10_batched_double);
WARPLADDER_USES_RUNG(row_11_few_rows);
WARPLADDER_USES_RUNG(row_13_split_k);
WARPLADDER_USES_RUNG(row_15_tiny_products);
WARPLADDER_USES_RUNG(row_16_streamed);
WARPLADDER_USES_RUNG(row_18_batched_vectors);
WARPLADDER_USES_RUNG(row_19_few_lines);
WARPLADDER_USES_RUNG(row_20_parity_split_k);
WARPLADDER_USES_RUNG(row_22_columns_stay);
WARPLADDER_USES_RUNG(row_23_lone_warps);
WARPLADDER_USES_RUNG(row_24_batched_parity);
WARPLADDER_USES_RUNG(row_26_small_tiles);
WARPLADDER_USES_RUNG(row_27_grouped_warps);
WARPLADDER_USES_RUNG(row_28_even_shares);
WARPLADDER_USES_RUNG(row_29_fitted_tiles);
WARPLADDER_USES_RUNG(row_30_even_tiles);
WARPLADDER_USES_RUNG(row_31_packed_operands);
WARPLADDER_USES_RUNG(row_32_whole_depth);
WARPLADDER_USES_RUNG(row_33_low_tiles);
WARPLADDER_USES_RUNG(row_34_even_batches);
WARPLADDER_USES_RUNG(tc_13_mma_sync);
#if WARPLADDER_HOPPER_CODE  // 0: this build holds no code for compute capability 9.0
WARPLADDER_USES_RUNG(row_08_double);
WARPLADDER_USES_RUNG(row_14_double_split_k);
WARPLADDER_USES_RUNG(row_17_streamed_double);
WARPLADDER_USES_RUNG(tc_10_full_range);
WARPLADDER_USES_RUNG(tc_14_prepared_full_range);
WARPLADDER_USES_RUNG(tc_15_split_on_the_way);
WARPLADDER_USES_RUNG(tc_18_streamed_terms);
WARPLADDER_USES_RUNG(tc_19_cluster_slices);
WARPLADDER_USES_RUNG(tc_20_held_terms);
WARPLADDER_USES_RUNG(tc_21_mapped_lines);
#endif

namespace {

constexpr std::int64_t kFewRows = 128;  // what row_11 is for

// Plans, and the seconds that they take by the model (slices.hpp).
struct Considered {
  std::array<Candidate, kMostCandidates> all = {};
  std::array<Corrected, kMostCandidates> rungs = {};
  int count = 0;

  void consider(double model_s, const Plan& plan, Corrected rung = Corrected::none,
                const Cut& cut = {}) {
    rungs[count] = rung;
    all[count++] = {plan, model_s, cut};
  }
  void consider(const WithCut<double>& one, const Plan& plan, Corrected rung) {
    consider(one.taken, plan, rung, one.cut);
  }
  // By the model; of so many products like `p`, as measurements have corrected it.
  Candidate fastest() const {
    return fastest_by([](const Candidate& one, Corrected) { return one.model_s; });
  }
  Candidate fastest(const Problem& p, std::int64_t products,
                    const runtime::Machine& machine) const {
    const Corrections* const corrections = corrections_of(machine);
    if (!corrections) return fastest();
    Bins bins;  // only those of traits are asked for
    set_bins(bins, *corrections, 0, traits_of(p, products));
    return fastest_by([&](const Candidate& one, Corrected rung) {
      if (rung == Corrected::none) return one.model_s;
      set_bins(bins, *corrections, kShapeTraits, traits_of(one, p, products));
      return one.model_s * correction_of(corrections->of(rung), bins);
    });
  }

 private:
  template <class Time>
  Candidate fastest_by(const Time& time) const {
    constexpr double kMostTimes = 2;  // no correction makes up for more
    double least_s = all[0].model_s;
    for (int i = 1; i < count; ++i) least_s = std::min(least_s, all[i].model_s);
    Candidate best;
    for (int i = 0; i < count; ++i) {
      if (all[i].model_s > kMostTimes * least_s) continue;
      Candidate one = all[i];
      one.model_s = time(one, rungs[i]);
      if (!best.plan.rung || one.model_s < best.model_s) best = one;
    }
    return best;
  }
};

// The plan of a rung that was found fastest on another machine; the fastest one where it is none.
Plan own_plan(const Candidate& found, const Considered& own) {
  for (int i = 0; i < own.count; ++i) {
    if (own.all[i].plan.rung == found.plan.rung) return own.all[i].plan;
  }
  return own.fastest().plan;
}

// How many neighbours may be copied at once. A caller that asks for a workspace knows no leading
// dimensions, so these are the least.
int width_of_copies(const Problem& p) {
  return width_for(p.trans_a ? p.m : p.k, p.trans_b ? p.k : p.n);
}

constexpr TimesOfWords kTimesOfFour{1, 1, 1, 1, 1, 1};

const TimesOfWords& times_of(const Problem& p, const runtime::Machine& machine) {
  return width_of_copies(p) < 4 ? tuning_row_of(machine).words : kTimesOfFour;
}

void consider_lines_along(Considered& plans, const Problem& p, std::int64_t count,
                          const runtime::Machine& machine, Corrected rung) {
  if (!has_few_lines(p, true, count) || p.k > kLongestLines) return;
  const LinesShape shape = lines_shape(p, true, count);
  plans.consider(with_along(shape, machine, AndCutOfLines{shape, are_rows_few(p, true)}),
                 {WARPLADDER_PLANNED(row_19_few_lines)}, rung);
}
void consider_even_shares(Considered& plans, const Problem& p, std::int64_t count,
                          const runtime::Machine& machine, Corrected rung) {
  if (!fits_shares(p, count) || !ladder::runs_on(machine, rung_row_28_even_shares)) return;
  const bool along = are_along(p);
  const auto [shared, cut] = with_shared_tiles(shared_shape(p, count), along, machine,
                                               AndCutOfShares{are_rows_few(p, along)});
  plans.consider(shared.time_s,
                 {WARPLADDER_PLANNED(row_28_even_shares), most_bytes_of_shares(p, count, machine)},
                 rung, cut);
}

// How a thread may sum up its k.
enum class Sums { any, in_parts, at_once };

// For with_..._tile(): considers a rung in the tile, for `count` products.
struct ConsiderSlices {
  Considered& plans;
  const Problem& p;
  std::int64_t count;
  Sums sums;
  Plan planned;
  Corrected rung;

  template <class C>
  void operator()(const Slices& s) const {
    if (sums == (C::parted ? Sums::at_once : Sums::in_parts)) return;
    Plan plan = planned;
    plan.workspace_bytes = bytes_of_batch_slices(s, p, count);
    plans.consider(s.time_s, plan, rung, AndCut{p}.operator()<C>(s).cut);
  }
};

// `planned`: the rung that multiplies in `Tiles`, which are AmongTiles.
template <class Tiles>
void consider_batches_by_parity(Considered& plans, const Problem& p, std::int64_t count,
                                const runtime::Machine& machine, Sums sums, const Plan& planned,
                                Corrected rung) {
  if (!Tiles::fit(p.m, p.n, count)) return;
  Tiles::with(parity_batch(p.m, p.n, p.k, p.trans_a, p.trans_b, count), machine,
              ConsiderSlices{plans, p, count, sums, planned, rung});
}
struct ParityRungs {
  Corrected batched, grouped;
};
void consider_batches_by_parity(Considered& plans, const Problem& p, std::int64_t count,
                                const runtime::Machine& machine, Sums sums,
                                const ParityRungs& rungs) {
  consider_batches_by_parity<BatchedParity>(
      plans, p, count, machine, sums, {WARPLADDER_PLANNED(row_24_batched_parity)}, rungs.batched);
  consider_batches_by_parity<GroupedParity>(
      plans, p, count, machine, sums, {WARPLADDER_PLANNED(row_27_grouped_warps)}, rungs.grouped);
}

// Where nothing is sliced, the kernel still differs from row_07's: its loads may be vectors where
// its stores cannot be.
void consider_parity_slices(Considered& plans, const Problem& p, const runtime::Machine& machine,
                            const TimesOfWords& times) {
  const auto [s, cut] = with_parity_tile(p.m, p.n, p.k, machine, AndCut{p});
  plans.consider(times.parity * s.time_s,
                 {WARPLADDER_PLANNED(row_20_parity_split_k), bytes_of_product_slices(s, p)},
                 Corrected::row_20_parity_split_k, cut);
}

void consider_small_tiles(Considered& plans, const Problem& p, std::int64_t count,
                          const runtime::Machine& machine, Sums sums, Corrected rung) {
  if (!fits_ring(p.m, p.n, count) || !ladder::runs_on(machine, rung_row_26_small_tiles)) return;
  with_ring_tile(
      ring_shape(p.m, p.n, p.k, p.trans_a, p.trans_b, count), machine,
      ConsiderSlices{plans, p, count, sums, {WARPLADDER_PLANNED(row_26_small_tiles)}, rung});
}

void consider_fitted_tiles(Considered& plans, const Problem& p, std::int64_t count,
                           const runtime::Machine& machine, Corrected rung) {
  if (!fits_fitted(p.m, p.n, p.k, count)) return;
  if (!ladder::runs_on(machine, rung_row_29_fitted_tiles)) return;
  plans.consider(with_fitted_tile(threaded_shape(p, count), machine, AndCutOfFitted{p}),
                 {WARPLADDER_PLANNED(row_29_fitted_tiles)}, rung);
}

void consider_whole_depth(Considered& plans, const Problem& p, std::int64_t count,
                          const runtime::Machine& machine, Corrected rung) {
  constexpr std::int64_t kLongest = 2 * kMostWholeDepth;  // others bring parts of k ahead
  if (p.k > kLongest || !fits_whole(p.m, p.n, p.k, count)) return;
  if (!ladder::runs_on(machine, rung_row_32_whole_depth)) return;
  plans.consider(with_whole_tile(threaded_shape(p, count), machine, AndCutOfWhole{p}),
                 {WARPLADDER_PLANNED(row_32_whole_depth)}, rung);
}

// Products of fewer rows or columns, or of fewer multiply-adds, have other rungs.
void consider_even_tiles(Considered& plans, const Problem& p, const runtime::Machine& machine) {
  constexpr std::int64_t kLeast = 64;
  constexpr double kLeastFlops = 5e8;
  if (std::min(p.m, p.n) <= kLeast || flops(p) < kLeastFlops || !fits_even_tiles<EvenTile>(p))
    return;
  if (!ladder::runs_on(machine, rung_row_30_even_tiles)) return;
  const EvenShares s = even_shares(p, copies_as_they_are(p), machine);
  plans.consider(s.time_s,
                 {WARPLADDER_PLANNED(row_30_even_tiles), bytes_of_even_shares<EvenTile>(p, s)},
                 Corrected::row_30_even_tiles, cut_of_even_shares<EvenTile>(s));
  const EvenCopies packed = packed_copies(p);
  if (packed.to_pack == 0) return;
  const EvenShares of_packed = even_shares(p, packed, machine);
  plans.consider(of_packed.time_s,
                 {WARPLADDER_PLANNED(row_31_packed_operands), bytes_of_packed(p, of_packed)},
                 Corrected::row_31_packed_operands, cut_of_even_shares<EvenTile>(of_packed));
}

void consider_low_tiles(Considered& plans, const Problem& given, const runtime::Machine& machine) {
  constexpr std::int64_t kFewest = 12, kMost = 2048;
  constexpr double kLeastFlops = 4e6;
  const Problem p = smaller_first(given);
  if (p.m <= kFewest || p.m > kMost || flops(p) < kLeastFlops || !fits_low_tiles(p)) return;
  if (!ladder::runs_on(machine, rung_row_33_low_tiles)) return;
  with_low_tile(p, machine, [&]<class Form>(const EvenShares& s) {
    plans.consider(s.time_s, {WARPLADDER_PLANNED(row_33_low_tiles), bytes_of_low_tiles<Form>(p, s)},
                   Corrected::row_33_low_tiles, cut_of_low_shares<Form>(given, s));
  });
}

// Smaller products have rungs of their own.
void consider_even_batch(Considered& plans, const Problem& p, std::int64_t count,
                         const runtime::Machine& machine) {
  constexpr std::int64_t kFewest = 12, kLeastOfMost = 24;
  const auto [few, most] = std::minmax(p.m, p.n);
  if (few <= kFewest || most < kLeastOfMost || !fits_even_batch(p, count)) return;
  if (!ladder::runs_on(machine, rung_row_34_even_batches)) return;
  with_batch_tile(p, count, machine, [&]<class Form>(const EvenShares& s) {
    using C = typename Form::Tile;
    plans.consider(s.time_s,
                   {WARPLADDER_PLANNED(row_34_even_batches), bytes_of_even_shares<C>(p, s)},
                   Corrected::row_34_even_batches_in_batches, cut_of_low_shares<Form>(p, s));
  });
}

// The rungs on CUDA cores. `in_terms`: others are as fast and more accurate where sums of long k
// pass through large tiles.
Considered on_cuda_cores(const Problem& p, const runtime::Machine& machine, bool in_terms) {
  constexpr std::int64_t kLongSums = 512;
  const bool large_tiles = !in_terms || p.k < kLongSums;
  // Two parts of so short a k gain too little to be surely as accurate as cublasSgemm. It sums such
  // a k up at once where C is large.
  constexpr std::int64_t kPart = 8, kTwoParts = 16, kLargeC = 1 << 19;
  const bool at_once = in_terms && p.k > kPart && p.k < kTwoParts && p.m * p.n > kLargeC;
  const Sums sums = !large_tiles ? Sums::in_parts : at_once ? Sums::at_once : Sums::any;
  const TimesOfWords& times = times_of(p, machine);
  Considered plans;
  plans.consider(times.parity * parity_time<ParityTile>(p.m, p.n, p.k, 1, machine),
                 {WARPLADDER_PLANNED(row_07_register_parity)}, Corrected::row_07_register_parity,
                 cut_by_parity(p, machine));
  consider_lines_along(plans, p, 1, machine, Corrected::row_19_few_lines);
  consider_even_shares(plans, p, 1, machine, Corrected::row_28_even_shares);
  // Of many waves row_07 has tiles that were found for their sizes.
  constexpr double kFewWaves = 4;
  if (tiles_of(p) <= kFewWaves * machine.multiprocessors) {
    consider_batches_by_parity(plans, p, 1, machine, sums,
                               {Corrected::row_24_batched_parity, Corrected::row_27_grouped_warps});
    consider_small_tiles(plans, p, 1, machine, sums, Corrected::row_26_small_tiles);
    consider_fitted_tiles(plans, p, 1, machine, Corrected::row_29_fitted_tiles);
  }
  if (large_tiles) {
    consider_parity_slices(plans, p, machine, times);
    consider_even_tiles(plans, p, machine);
  }
  if (!ladder::runs_on(machine, rung_row_13_split_k)) return plans;
  // Below such a C cublasSgemm's warps share k: its sums are shorter.
  constexpr std::int64_t kShortSums = 8, kLeastElements = 1 << 20;
  const bool sums_lose = in_terms && p.k > kShortSums && p.m * p.n < kLeastElements;
  if (!sums_lose) consider_whole_depth(plans, p, 1, machine, Corrected::row_32_whole_depth);
  if (!in_terms) consider_low_tiles(plans, p, machine);  // whose errors were not compared
  if (p.k <= kMostDepth && !sums_lose) {
    plans.consider(time_of_column_blocks(p.m, p.n, p.k, machine),
                   {WARPLADDER_PLANNED(row_22_columns_stay)}, Corrected::row_22_columns_stay,
                   cut_of<ColumnBlock<kMostDepth>>(true));
  }
  if (std::min(p.m, p.n) <= kFewRows) {
    const auto [s, cut] = with_narrow_tile(p.m, p.n, p.k, machine, and_cut_by_lines(p));
    plans.consider(times.narrow * s.time_s,
                   {WARPLADDER_PLANNED(row_11_few_rows), bytes_of_slices(s, p)},
                   Corrected::row_11_few_rows, cut);
  }
  const auto [s, cut] = with_square_tile(p.m, p.n, p.k, machine, and_cut_by_lines(p));
  plans.consider(times.square * s.time_s,
                 {WARPLADDER_PLANNED(row_13_split_k), bytes_of_slices(s, p)},
                 Corrected::row_13_split_k, cut);
  return plans;
}

// Whether pairs are as accurate as cublasSgemm, which splits k where tiles are few. Of short sums
// it loses less than they do.
bool pairs_are_accurate(const Problem& p) {
  // The copy engine's coordinates are 32-bit.
  if (p.m > INT32_MAX || p.n > INT32_MAX) return false;
  return p.k >= 384 || (p.k >= 256 && tiles_of(p) >= 64);
}

#if WARPLADDER_HOPPER_CODE
// The rungs in three terms that take one product or a batch, and whose times correct them.
struct TermRungs {
  Corrected streamed, in_clusters, held;
};
void consider_terms(Considered& plans, const Problem& p, const StreamedShape& shape,
                    const runtime::Machine& machine, const TermRungs& rungs) {
  // From here on three terms lose less than an FP32 dot product's roundings. At k = 33 they lost
  // more in one product; batches with so short a k were not measured.
  const std::int64_t least_depth = shape.count > 1 ? 32 : 48;
  if (shape.k < least_depth) return;
  plans.consider(with_term_stream(shape, machine, and_cut_by_lines(p)),
                 {WARPLADDER_PLANNED(tc_18_streamed_terms)}, rungs.streamed);
  if (fits_clusters(shape.m, shape.n, shape.count)) {
    const auto [s, cut] = with_cluster_tile(shape, machine, and_cut_by_lines(p));
    plans.consider(s.time_s, {WARPLADDER_PLANNED(tc_19_cluster_slices)}, rungs.in_clusters, cut);
  }
  if (fits_held(shape.m, shape.n, shape.k, shape.count) && !has_few_lines_along_k(p)) {
    plans.consider(with_held_tile(shape, machine, AndCut{p, rows_are_held(p.m, p.n)}),
                   {WARPLADDER_PLANNED(tc_20_held_terms)}, rungs.held);
  }
}

// Where the copy engine can bring the long operand's lines.
void consider_mapped_lines(Considered& plans, const Problem& p, const runtime::Machine& machine) {
  constexpr std::int64_t kLeastDepth = 48;  // as consider_terms() has it
  if (p.k < kLeastDepth || std::min(p.m, p.n) > kMostMappedLines) return;
  const auto [s, cut] = with_mapped_tile(p.m, p.n, p.k, machine, and_cut_by_lines(p));
  plans.consider(s.time_s, {WARPLADDER_PLANNED(tc_21_mapped_lines), bytes_of_slices(s, p)},
                 Corrected::tc_21_mapped_lines, cut);
}
#endif

// The rungs that launch a whole batch at once.
Considered together_of(const Problem& given, const runtime::Machine& machine, Arithmetic arithmetic,
                       std::int64_t count) {
  const Problem p = in_layout(given, Layout::row_major);
  const bool hopper = WARPLADDER_HOPPER_CODE && machine.is_hopper(),
             in_float64 = arithmetic == Arithmetic::double_rounded;
  Considered plans;
  if (!in_float64 && fits_threads(p.m, p.n, p.k)) {
    plans.consider(with_thread_tile(threaded_shape(p, count), machine, AndCut{p}),
                   {WARPLADDER_PLANNED(row_15_tiny_products)},
                   Corrected::row_15_tiny_products_in_batches);
  }
  const bool in_terms = hopper && arithmetic == Arithmetic::accurate;
  if (!in_float64 && fits_lone_warps(p.m, p.n, p.k, in_terms) &&
      ladder::runs_on(machine, rung_row_23_lone_warps)) {
    plans.consider(with_lone_warp(threaded_shape(p, count), machine, AndCut{p}),
                   {WARPLADDER_PLANNED(row_23_lone_warps)},
                   Corrected::row_23_lone_warps_in_batches);
  }
  constexpr std::int64_t kMostBlocks = INT32_MAX, kLeastOfBlock = 32;
  const std::int64_t blocks = tiles(std::max(p.m, p.n), kLeastOfBlock);
  if (!in_float64 && std::min(p.m, p.n) == 1 && count > 0 && blocks <= kMostBlocks / count) {
    const Tuning& tuning = tuning_of(machine);
    plans.consider(tuning.launch_s + static_cast<double>(count) * bytes_of(p) /
                                         (tuning.memory_share * machine.memory_bytes_per_s),
                   {WARPLADDER_PLANNED(row_18_batched_vectors)});
  }
  const StreamedShape shape{p.m, p.n, p.k, count, width_of_copies(p)};
  if (!in_float64) {
    plans.consider(with_float_stream(shape, machine, AndCut{p}),
                   {WARPLADDER_PLANNED(row_16_streamed)}, Corrected::row_16_streamed_in_batches);
  } else if (!hopper) {
    plans.consider(0, {WARPLADDER_PLANNED(row_10_batched_double)});
  }
  if (!in_float64 && std::min(p.m, p.n) > 1) {  // others are row_18's
    consider_batches_by_parity(
        plans, p, count, machine, Sums::any,
        {Corrected::row_24_batched_parity_in_batches, Corrected::row_27_grouped_warps_in_batches});
    consider_small_tiles(plans, p, count, machine, Sums::any,
                         Corrected::row_26_small_tiles_in_batches);
    consider_fitted_tiles(plans, p, count, machine, Corrected::row_29_fitted_tiles_in_batches);
    consider_whole_depth(plans, p, count, machine, Corrected::row_32_whole_depth_in_batches);
    consider_even_batch(plans, p, count, machine);
    if (!in_terms || !loses_by_lines(p)) {
      consider_lines_along(plans, p, count, machine, Corrected::row_19_few_lines_in_batches);
      consider_even_shares(plans, p, count, machine, Corrected::row_28_even_shares_in_batches);
    }
  }
#if WARPLADDER_HOPPER_CODE
  if (hopper && arithmetic != Arithmetic::cuda_cores) {
    plans.consider(with_double_stream(shape, machine, AndCut{p}),
                   {WARPLADDER_PLANNED(row_17_streamed_double)},
                   Corrected::row_17_streamed_double_in_batches);
  }
  if (in_terms) {
    consider_terms(
        plans, p, shape, machine,
        {Corrected::tc_18_streamed_terms_in_batches, Corrected::tc_19_cluster_slices_in_batches,
         Corrected::tc_20_held_terms_in_batches});
  }
#endif
  return plans;
}

// The plans of one product; of several, each is launched for itself.
Considered plans_of_one(const Problem& given, const runtime::Machine& machine,
                        Arithmetic arithmetic, [[maybe_unused]] bool prepared) {
  const Problem p = in_layout(given, Layout::row_major);  // as rungs launch it
  const bool hopper = WARPLADDER_HOPPER_CODE && machine.is_hopper();
  if (arithmetic == Arithmetic::double_rounded && !hopper) {
    Considered only;
    only.consider(0, {WARPLADDER_PLANNED(row_10_batched_double)});
    return only;
  }
  Considered plans;
  if (arithmetic != Arithmetic::double_rounded) {
    // Terms and float64 are as accurate as cublasSgemm where sums in FP32 are not.
    const bool in_terms = hopper && arithmetic == Arithmetic::accurate;
    if (!in_terms || !loses_by_lines(p)) plans = on_cuda_cores(p, machine, in_terms);
  }
  if (arithmetic == Arithmetic::cuda_cores) return plans;
  if (!hopper) {
    if (ladder::runs_on(machine, rung_tc_13_mma_sync) && pairs_are_accurate(p)) {
      plans.consider(time_by_warps(p, machine),
                     {WARPLADDER_PLANNED(tc_13_mma_sync), workspace_bytes(p)});
    }
    return plans;
  }
#if WARPLADDER_HOPPER_CODE
  // Of the rungs that take every problem, and want nothing done beforehand but what has been done.
  const TimesOfWords& times = times_of(p, machine);
  const double of_float64 = p.n % 4 == 0 ? times.float64 : tuning_row_of(machine).words.float64;
  const auto [whole_s, square] = taken_in_float64(p, machine);
  plans.consider(of_float64 * whole_s, {WARPLADDER_PLANNED(row_08_double)},
                 Corrected::row_08_double, square);
  const auto [s, cut] = with_double_tile(p.m, p.n, p.k, machine, AndCut{p});
  // Sums of several slices are rounded to FP32 in between.
  if (arithmetic != Arithmetic::double_rounded || s.count == 1) {
    plans.consider(times.float64_slices * s.time_s,
                   {WARPLADDER_PLANNED(row_14_double_split_k), bytes_of_product_slices(s, p)},
                   Corrected::row_14_double_split_k, cut);
  }
  const StreamedShape shape{p.m, p.n, p.k, 1, width_of_copies(p)};
  // Of ragged lines a stream copies more at once than the others, and stores whole rows.
  constexpr std::int64_t kShallow = 8, kDeep = 128;
  if (arithmetic == Arithmetic::double_rounded && shape.width < 4 && p.k > kShallow &&
      p.k <= kDeep) {
    plans.consider(with_double_stream(shape, machine, AndCut{p}),
                   {WARPLADDER_PLANNED(row_17_streamed_double)}, Corrected::none);
  }
  if (arithmetic == Arithmetic::accurate) {
    consider_terms(plans, p, shape, machine,
                   {Corrected::tc_18_streamed_terms, Corrected::tc_19_cluster_slices,
                    Corrected::tc_20_held_terms});
  }
  if (arithmetic == Arithmetic::accurate) consider_mapped_lines(plans, p, machine);
  // Below it cublasSgemm's sums are as accurate, and where lines lose, tc_15 does, too.
  constexpr std::int64_t kLeastDepthOfTerms = 512;
  if (arithmetic == Arithmetic::accurate && p.k >= kLeastDepthOfTerms && !loses_by_lines(p)) {
    const auto [terms, of_terms] = with_term_tile(p.m, p.n, p.k, machine, and_cut_by_lines(p));
    plans.consider(times.terms * terms.time_s,
                   {WARPLADDER_PLANNED(tc_15_split_on_the_way), bytes_of_slices(terms, p)},
                   Corrected::tc_15_split_on_the_way, of_terms);
  }
  if (arithmetic == Arithmetic::accurate && pairs_are_accurate(p)) {
    const double time_s = time_in_pairs(given, machine, prepared);  // whose B is prepared
    const Plan in_pairs = prepared ? Plan{WARPLADDER_PLANNED(tc_14_prepared_full_range),
                                          prepared_workspace_bytes(given), 0, prepared_bytes(given)}
                                   : Plan{WARPLADDER_PLANNED(tc_10_full_range), workspace_bytes(p)};
    constexpr auto kPairs = static_cast<std::int64_t>(kLargeTile);
    plans.consider(time_s, in_pairs, Corrected::tc_10_full_range, {kPairs, kPairs});
  }
#endif
  return plans;
}

}  // namespace

Plan plan(const Problem& given, const runtime::Machine& machine, Arithmetic arithmetic,
          const Batch& batch, bool prepared) noexcept {
  const Problem p = in_layout(given, Layout::row_major);  // as rungs launch it
  // C is scaled alone, or empty. A caller that asks for a workspace knows no alpha, so this takes
  // none.
  const bool scales = p.alpha == 0.0f || p.k == 0 || p.m == 0 || p.n == 0;
  const bool is_single = batch.count == 1 && !batch.arrays;
  if (is_single && scales) return {WARPLADDER_PLANNED(row_07_register_parity)};
  // The rung that is fastest where corrections were learned; its workspace is this machine's.
  runtime::Machine learned = machine;
  if (corrections_of(machine)) learned.memory_bytes_per_s = kLearnedMemoryBytesPerS;
  const auto one = [&](const runtime::Machine& on) {
    return plans_of_one(given, on, arithmetic, prepared);
  };
  if (is_single) return own_plan(one(learned).fastest(p, 1, machine), one(machine));
  const auto at_once = [&](const runtime::Machine& on) {
    return together_of(given, on, arithmetic, batch.count);
  };
  // Several products of matrices were measured: no vectors, and no single one in an array.
  const bool is_known = batch.count > 1 && std::min(p.m, p.n) > 1;
  const Candidate together =
      is_known ? at_once(learned).fastest(p, batch.count, machine) : at_once(machine).fastest();
  if (!batch.arrays && !scales) {
    const Candidate each = one(learned).fastest(p, 1, machine);
    // Launches in a row overlap, but not wholly.
    constexpr double kOfEach = 0.9;
    if (each.model_s * kOfEach * static_cast<double>(batch.count) < together.model_s) {
      return own_plan(each, one(machine));
    }
  }
  return own_plan(together, at_once(machine));
}

int candidates(const Problem& p, const runtime::Machine& machine, Arithmetic arithmetic,
               const Batch& batch, Candidate (&found)[kMostCandidates]) noexcept {
  const Considered plans = batch.count == 1 ? plans_of_one(p, machine, arithmetic, false)
                                            : together_of(p, machine, arithmetic, batch.count);
  std::copy_n(plans.all.begin(), plans.count, found);
  return plans.count;
}

Plan plan_preparation(const Problem& p, const runtime::Machine& machine,
                      Arithmetic arithmetic) noexcept {
  if (p.alpha == 0.0f || p.n == 0) return {};
  // The time that pairs save grows with m: if they save none for many rows, they never do. So many
  // are more than corrections were learned from.
  Problem many = p;
  many.m = 1 << 20;
  const Plan for_many = plans_of_one(many, machine, arithmetic, true).fastest().plan;
  return for_many.prepared_bytes > 0 ? for_many : Plan{};
}

void add_source(const Call& given, runtime::StreamView& stream) noexcept {
  launch_add_source(gemm_of(in_layout(given, Layout::row_major)), stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
