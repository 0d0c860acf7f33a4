// Bound before: every call splits both operands, although one of them, such as a layer's weights,
// is often the same.
// Idea: split B once, beforehand; a call splits A and multiplies, as tc_09 does.
//
// Prediction: tc_09's time less the pass over B: at 4096³ some 45 of 620 µs on an H200.
// Accepts: every problem of moderate values, after B was prepared in the same workspace, and
// batches that share B. Of column-major operands that is A: they are exchanged, Cᵀ = Bᵀ·Aᵀ.
// What binds it: the power, and the pass over A.

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
  ptx::wait_for_previous_kernel();

  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x == TensorConfig::consumers) {
      Producer<Pairs, Config> producer(ring, split, schedule);
      while (producer.is_left()) producer.fetch_next(a_map, b_map);
    }
    join_cluster_barriers<Config>();
  } else {
    ptx::take_registers<232>();
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

void prepare(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  launch_split<Pairs>(g, trans_a, trans_b, stream, Operands::b);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  launch_multiply(g, launch_split<Pairs>(g, trans_a, trans_b, stream, Operands::a), stream);
}

// The workspace holds one prepared B.
bool takes(const Call& call) {
  return promises_moderate_values(call) &&
         (call.batch.count <= 1 || in_layout(call, Layout::row_major).batch.stride_b == 0);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_tiles<Pairs>(p, machine, 2, Operands::a);
}

}  // namespace

WARPLADDER_RUNG(tc_11_prepared) = {.idea = "B is split once, for many products",
                                   .accepts = "moderate values, one B",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   .takes = takes,
                                   .prepare = launch_in<Layout::row_major, prepare>,
                                   .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
