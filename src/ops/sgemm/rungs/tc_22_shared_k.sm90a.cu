// Bound before: at 1024³ C has 32 tiles of 256×128, for 132 SMs. Smaller tiles load more bytes than
// they multiply, and 128×128 are 64 tiles, still less than half of the SMs.
// Idea: split-K. The two blocks of a cluster compute one tile of 128×128, each over half of k. Then
// each sends half of its sums into the other's shared memory (store_async), and finishes the other
// half of the columns. Nothing passes through global memory, and sums are added in a fixed order.
//
// Prediction: tc_08's multiply-adds where C has whole tiles of 256×256. Beside the pass, 2 barriers
// a warp: one inside the block, one by which the other block is known to have started. At 1024³ 128
// blocks instead of 32: about half of tc_08's time. Accepts: moderate values.
// What binds it: the L2 cache, where C is large. 128×128 tiles read half as much again as 256×128.
// And a block stores its tile while its tensor cores idle.

#include "ops/sgemm/tensor/cluster_exchange.hpp"
#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

constexpr TensorConfig kConfig{.blocks_k = 2, .block_m = 128, .stages = 6};
using Config = ConfigType<kConfig>;
using Ring = Config::Ring;

__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split,
             TileSchedule schedule) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const int rank = static_cast<int>(ptx::cluster_rank());
  const auto [row, column] = schedule.index(blockIdx.x / kConfig.blocks_k);
  const std::int64_t row0 = row * kConfig.block_m, column0 = column * kConfig.block_n;
  // This block's share of k, in groups: an even number of them is promoted together.
  const int chunks = static_cast<int>(split.depth / Pairs::kDepth) / kConfig.groups,
            begin = chunks * rank / kConfig.blocks_k * kConfig.groups,
            end = chunks * (rank + 1) / kConfig.blocks_k * kConfig.groups;

  if (threadIdx.x == 0) ring.init(TensorConfig::consumers / 32);
  begin_cluster<Config>();   // the barriers are initialised
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  ptx::wait_for_previous_kernel();

  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x == TensorConfig::consumers) {
      parts::RingPlace<Ring::kStages> to{0, 1};
      for (int group = begin; group < end; ++group, to.advance()) {
        ptx::Barrier* const full = &ring.full[to.stage];
        ptx::wait(&ring.empty[to.stage], to.parity);
        ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
        fetch<1>(ring.a[to.stage], a_map, full, row0, group);
        fetch<1>(ring.b[to.stage], b_map, full, column0, group);
      }
    }
    join_cluster_barriers<Config>();
  } else {
    ptx::take_registers<232>();
    const int own_row = ptx::warpgroup() * 64;
    parts::RingPlace<Ring::kStages> from;
    constexpr int kSums = kConfig.block_n / 2, kOwn = kSums / 2;
    float sums[1][kSums] = {}, total[kOwn];  // of 64×128; of half of their columns
    for (int group = begin; group < end; group += kConfig.groups) {
      parts::add_groups<Pairs, kConfig.groups>(ring, from, own_row, 1, sums);
    }
    if (rank == 0) {
      exchange_halves<Config, 0>(ring, 1, sums[0], total);
    } else {
      exchange_halves<Config, kOwn>(ring, 0, sums[0], total);
    }
    store_sums<Pairs>(g, split, total, {row0 + own_row, column0 + rank * 2 * kOwn});
  }
}

TileSchedule schedule_of(const Gemm& g) { return {g, kConfig.block_m, kConfig.block_n}; }

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const TileSchedule schedule = schedule_of(g);
  const runtime::LaunchShape shape{dim3(schedule.count() * kConfig.blocks_k),
                                   dim3(TensorConfig::threads), sizeof(Ring), kConfig.cluster(),
                                   true};
  runtime::launch(stream, shape, multiply, a_map_of<kConfig>(split, stream),
                  b_map_of<kConfig>(split, stream), g, split, schedule);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t count = schedule_of(sizes_of(p)).count();
  return predict_tensor<Pairs>(
      p, machine, padded_groups<Pairs>(p.k), count * kConfig.block_m * kConfig.block_n, 3,
      count * (Ring::kABytes + Ring::kBBytes),
      std::uint64_t{2} * TensorConfig::threads / 32 * count * kConfig.blocks_k);
}

}  // namespace

WARPLADDER_RUNG(tc_22_shared_k) = {.idea = "two blocks of a cluster share a tile along k",
                                   .accepts = "moderate values",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   .takes = promises_moderate_values,
                                   .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
