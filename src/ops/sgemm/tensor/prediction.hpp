#pragma once
// What a tensor-core rung predicts of the executor's counts: barriers, bytes through the copy
// engine, multiply-adds on the tensor cores. Tests hold the rungs to it.

#include "ops/sgemm/tensor/config.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/term_slices.hpp"
#include "ops/sgemm/tensor/tile_iterator.hpp"
#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "ops/sgemm/tensor/workspace.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A product of which only the sizes count.
inline Gemm sizes_of(const Problem& p) {
  Gemm g{};
  g.m = p.m, g.n = p.n, g.k = p.k;
  return g;
}

// What all rungs in three bfloat16 terms ask for in `rounds` of `ends` tiles of C, of whole lines
// by 16 bytes. Each round has six products of terms, a barrier of the producers, and what joins the
// products. Counts of shared memory are not predicted.
template <class C>
ladder::Totals predict_rounds_of_terms(const Problem& p, std::uint64_t rounds, std::uint64_t ends) {
  ladder::Totals t;
  t.global_load_requests = rounds * ((C::tile_x + C::tile_y) * C::depth / 128);
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.barriers = C::producers / 32 * rounds;
  t.tensor_fmas = 6 * rounds * C::tile_x * C::tile_y * C::depth;
  const std::uint64_t joins = C::of_all_rounds ? ends : has_exact_sums<C>(p) ? rounds : 0;
  t.fmas = joins * C::tile_x * C::tile_y;
  return t;
}

// Barriers of one cluster of the pass over strided lines, counted per warp.
template <class Pairs, parts::SplitShape shape>
std::uint64_t strided_split_barriers(const SplitGemm& s) {
  using Traits = parts::SplitTraits<shape>;
  std::uint64_t barriers = 0;
  for (unsigned rank = 0; rank < s.cluster; ++rank) {
    const auto [begin, end, held_at_once] = parts::split_part<shape>(s.a, s.depth, rank, s.cluster);
    const bool one_round = held_at_once || end - begin <= Traits::rows;
    barriers += (s.cluster > 1 ? 2 : 1) + 2 * Pairs::kCounted +
                (one_round ? 0 : 2 * (tiles(end - begin, Traits::rows) - 1));
  }
  return barriers;
}

// How often warps of the split pass arrive at a barrier.
template <class Pairs>
std::uint64_t split_barriers(const Problem& p, const runtime::Machine& machine, Operands which) {
  const SplitGemm s = plan_split<Pairs>(sizes_of(p), p.trans_a, p.trans_b, machine);
  return parts::with_split_shape(s.depth, [&]<parts::SplitShape shape>() {
    constexpr int kOfLoss = Pairs::kCounted,
                  kOfRange = shape == parts::SplitShape::short_lines ? 0 : 1;
    std::uint64_t barriers = 0;
    for (const parts::SplitOperand* x : {&s.a, &s.b}) {
      if (which == (x == &s.a ? Operands::b : Operands::a)) continue;
      // Blocks that share a line meet twice over its range, and over its loss.
      const int of_sharing = x->sharing > 1 ? 2 + 2 * kOfLoss : 0;
      barriers += x->contiguous ? (kOfRange + of_sharing) * x->blocks + kOfLoss * x->losses()
                                : strided_split_barriers<Pairs, shape>(s) * (x->blocks / s.cluster);
    }
    if (Pairs::kCounted) {  // blocks beyond the first wave vote on leaving early
      const unsigned of_a = which == Operands::b ? 0 : s.a.blocks,
                     of_b = which == Operands::a ? 0 : s.b.blocks, first = s.a.first_blocks;
      const auto votes = [&](unsigned blocks) { return blocks > first ? blocks - first : 0; };
      barriers += launches_apart(s) ? votes(of_a) + votes(of_b) : votes(of_a + of_b);
    }
    return barriers * parts::kSplitWarps;
  });
}

// The prediction of the pass alone.
template <class Pairs>
ladder::Totals predict_pass(const Problem& p, const runtime::Machine& machine,
                            Operands which = Operands::both) {
  ladder::Totals t = no_predicted_accesses();
  t.barriers = split_barriers<Pairs>(p, machine, which);
  return t;
}

// The prediction of a rung whose blocks cover `area` elements of C, edges included, with `products`
// products for each of `groups` groups along k. The copy engine brings `group_bytes` per group; the
// product's warps arrive at `barriers` barriers.
template <class Pairs>
ladder::Totals predict_tensor(const Problem& p, const runtime::Machine& machine,
                              std::int64_t groups, std::int64_t area, int products,
                              std::int64_t group_bytes, std::uint64_t barriers,
                              Operands which = Operands::both) {
  ladder::Totals t = predict_pass<Pairs>(p, machine, which);
  t.barriers += barriers;
  t.bulk_bytes = group_bytes * groups;
  t.tensor_fmas = area * groups * Pairs::kDepth * products;
  return t;
}

// How many elements of C a schedule's tiles cover, edges included.
template <TensorConfig config>
std::int64_t area_of(const TileSchedule& schedule) {
  const std::int64_t columns = std::int64_t{schedule.count()} * config.block_n -
                               schedule.narrow * (config.block_n - TileSchedule::kNarrow);
  return columns * config.sharers * config.block_m;
}
// How many bytes the copy engine brings for each group along k of all tiles.
template <TensorConfig config>
std::int64_t group_bytes_of(const TileSchedule& schedule) {
  using Ring = typename ConfigType<config>::Ring;
  const std::int64_t paired = schedule.paired(), others = schedule.count() - paired;
  return paired * (Ring::kABytes + config.sharers * Ring::kBBytes) +
         others * config.sharers * (Ring::kABytes + Ring::kBBytes);
}

// Adds what the tiles of one launch ask for, g.m × g.n of C. `barriers_of_warp`: of each warp of
// the product, without those of a cluster's exchange of sums.
template <class Pairs, TensorConfig config>
void add_tiles(ladder::Totals& t, const Gemm& g, const runtime::Machine& machine,
               int barriers_of_warp) {
  const TileSchedule schedule = schedule_of<config>(g, machine);
  const std::int64_t groups = groups_of<Pairs>(g.k);
  const std::uint64_t blocks = blocks_of<config>(schedule, machine),
                      warps = TensorConfig::threads / 32 * blocks;
  const int of_sums = config.blocks_k > 2 ? 2 : 0;  // such blocks meet twice over their sums
  const int products = config.kahan() ? 4 : 3;
  t.barriers += warps * (barriers_of_warp + of_sums);
  t.bulk_bytes += group_bytes_of<config>(schedule) * groups;
  t.tensor_fmas += area_of<config>(schedule) * groups * Pairs::kDepth * products;
  if (!config.kahan() && ends_in_half_group<Pairs>(g.k)) {
    t.tensor_fmas -= std::int64_t{schedule.full_width()} * config.sharers * config.block_m *
                     config.block_n * Pairs::kDepth / 2 * products;
  }
}

// The prediction of a persistent rung.
template <class Pairs>
ladder::Totals predict_tiles(const Problem& p, const runtime::Machine& machine,
                             int barriers_of_warp, Operands which = Operands::both) {
  const Gemm g = sizes_of(p);
  ladder::Totals t = predict_pass<Pairs>(p, machine, which);
  with_tensor_config(g, parts::padded_depth(g.k), machine, [&]<TensorConfig config>() {
    add_tiles<Pairs, config>(t, g, machine, barriers_of_warp);
  });
  return t;
}

// The arithmetic that a rung declares: its unit, and what its products may lose beyond FP32's. That
// is in units of 2^-24 of the sum of magnitudes.
constexpr ladder::Arithmetic in_halves(double roundings) {
  return {ladder::Unit::f16_tensor_cores, roundings};
}
constexpr ladder::Arithmetic in_tf32(double roundings) {
  return {ladder::Unit::tf32_tensor_cores, roundings};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
