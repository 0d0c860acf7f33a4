// Bound before: each rung below wins at some sizes. Pairs of 256×128 tiles (tc_24) need hundreds of
// tiles, shared ones (tc_22) lose where there are many, and 64 tiles leave SMs idle even so.
//
// Idea: one kernel, and a model that chooses its tiles by the product's sizes. Where tiles fill a
// wave they are tc_24's pairs, or 128×192 or 128×128 alone. Where they do not, two, four or eight
// blocks of a cluster share a tile along k. Two finish half of the columns each, as in tc_22. Four
// or eight finish some rows each, and sum up as tc_25 does.
//
// Prediction: tc_24's counts where tiles fill a wave. Beside the pass, 2 barriers a warp, and 2
// more where four or eight blocks split k. At 1024³, 128 blocks instead of 32: less than half of
// tc_08's time. Measured: 19.5 instead of 41.7 µs on an H200. Accepts: every problem of moderate
// values. What binds it: at 4096³ power, with the tensor pipe busy for 90 % of the product's
// kernel. At 1024³ it is busy for 47 %: the pass, the launch and the epilogue bind.

#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/main_loop.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

template <class Config>
__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split,
             TileSchedule schedule) {
  auto& ring = *runtime::dynamic_shared<typename Config::Ring>();
  if (threadIdx.x == 0) {
    ptx::prefetch_map(a_map);
    ptx::prefetch_map(b_map);
    ring.init(TensorConfig::consumers / 32 * Config::value.sharers);
  }
  begin_cluster<Config>();
  ptx::allow_next_kernel();  // the next product's pass may start, and waits

  // Setup overlaps the pass; only what reads pairs waits for its end.
  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x == TensorConfig::consumers) {
      Producer<Pairs, Config> producer(ring, split, schedule);
      ptx::wait_for_previous_kernel();
      while (producer.is_left()) producer.fetch_next(a_map, b_map);
    }
    join_cluster_barriers<Config>();
  } else {
    ptx::take_registers<232>();
    ptx::wait_for_previous_kernel();
    parts::RingPlace<Config::Ring::kStages> at;
    consume<Pairs, Config>(ring, g, split, schedule, at);
  }
  end_cluster<Config>();
}

void launch_multiply(const Gemm& g, const SplitGemm& split, runtime::StreamView& stream) {
  with_tensor_config(g, split.depth, *stream.machine, [&]<TensorConfig config>() {
    using Config = ConfigType<config>;
    launch_tiles<config>(g, sizeof(typename Config::Ring), stream, multiply<Config>,
                         a_map_of<config>(split, stream), b_map_of<config>(split, stream), g,
                         split);
  });
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  launch_multiply(g, launch_split<Pairs>(g, trans_a, trans_b, stream), stream);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_tiles<Pairs>(p, machine, 2);
}

}  // namespace

WARPLADDER_RUNG(tc_09_split_k) = {.idea = "tiles and clusters chosen by the product's sizes",
                                  .accepts = "moderate values",
                                  .launch = launch_in<Layout::row_major, launch>,
                                  .predict = predict_in<Layout::row_major, predict>,
                                  .takes = promises_moderate_values,
                                  .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
