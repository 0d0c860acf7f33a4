// Bound before: at 1024³ there are 32 tiles for 132 multiprocessors, and smaller tiles load more
// than they multiply.
//
// Idea: the blocks of a cluster share a tile along k and join their sums through each other's
// shared memory, in one order. Two blocks finish half of the columns each; of four or eight each
// adds up the rows that fall to it. Where there are tiles enough for one round or more, pairs of
// blocks share what they load of A as before; the last columns, where they are one block's, are
// worked on by two below each other, and the last rows, where they fill half a tile at most, as
// columns of C's transpose.
//
// Accepts: every problem of moderate values.

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
  ptx::allow_next_kernel();  // the next product's pass, to wait at its beginning

  // All that needs no pair is done when the pass ends.
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

WARPLADDER_RUNG(tc_09_split_k) = {.idea = "blocks of a cluster share a tile along k",
                                  .accepts = "moderate values",
                                  .launch = launch_in<Layout::row_major, launch>,
                                  .predict = predict_in<Layout::row_major, predict>,
                                  .takes = promises_moderate_values,
                                  .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
