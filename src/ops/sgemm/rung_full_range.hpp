#pragma once
// The kernel of the product with the full range of values (tensor/full_range.hpp), and its launch:
// of tc_10, and of tc_14.

#include "ops/sgemm/tensor/full_range.hpp"
#include "ops/sgemm/tensor/last_wave.hpp"
#include "ops/sgemm/tensor/prediction.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// kLossesApart: B's losses do not follow A's in memory, because the operands were split apart.
template <class Config, bool kLossesApart>
static __global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ PairMaps halves, const __grid_constant__ PairMaps tf32, Gemm g,
             SplitGemm half_split, SplitGemm tf32_split, TileSchedule schedule) {
  auto& shared = *runtime::dynamic_shared<FullRangeShared<Config>>();
  if (threadIdx.x == 0) {
    ptx::prefetch_map(halves.a);
    ptx::prefetch_map(halves.b);
    shared.init();
  }
  begin_cluster<Config>();
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  const auto gather = [&](int judge) {
    if constexpr (kLossesApart) {
      parts::gather_losses_apart<kJudges>(half_split.a, half_split.b, judge, shared.loss);
    } else {
      parts::gather_losses<kJudges>(half_split.a, half_split.b, judge, shared.loss);
    }
  };
  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    produce_full_range(shared, halves, tf32, half_split, tf32_split, schedule, gather);
  } else {
    ptx::take_registers<232>();
    consume_full_range(shared, g, half_split, tf32_split, schedule);
  }
  end_cluster<Config>();
}

template <TensorConfig config, bool kLossesApart>
static void launch_part(const Gemm& g, const SplitGemm& halves, const SplitGemm& tf32,
                        runtime::StreamView& stream) {
  using Config = ConfigType<config>;
  launch_tiles<config>(g, sizeof(FullRangeShared<Config>), stream, multiply<Config, kLossesApart>,
                       maps_of<config>(halves, stream), maps_of<config>(tf32, stream), g, halves,
                       tf32);
}

// `halves` has been split; what has tickets in `tf32` only if the product needs it.
template <bool kLossesApart>
static void launch_multiply(const Gemm& g, const SplitGemm& halves, const SplitGemm& tf32,
                            runtime::StreamView& stream) {
  const FirstPart first = first_part(g, halves.depth, *stream.machine);
  for_parts(g, first, halves.depth, *stream.machine, [&]<TensorConfig config>(const Part& part) {
    launch_part<config, kLossesApart>(part.of(g), part.of(halves), part.of(tf32), stream);
  });
}

// The prediction of both launches, where FP16 pairs suffice.
inline ladder::Totals predict_multiply(const Problem& p, const runtime::Machine& machine,
                                       Operands which = Operands::both) {
  using parts::HalfPairs;
  constexpr int kBarriersOfWarp = 2;
  ladder::Totals t = predict_pass<HalfPairs>(p, machine, which);
  const Gemm g = sizes_of(p);
  const std::int64_t depth = parts::padded_depth(g.k);
  for_parts(g, first_part(g, depth, machine), depth, machine,
            [&]<TensorConfig config>(const Part& part) {
              add_tiles<HalfPairs, config>(t, part.sizes(g), machine, kBarriersOfWarp);
            });
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
