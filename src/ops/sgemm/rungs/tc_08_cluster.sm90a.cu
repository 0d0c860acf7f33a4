// Bound before: shared memory is filled from the L2 cache with 32 bytes a cycle and SM.
// Idea: neighbouring tiles along n need the same rows of A. A cluster of two blocks computes such a
// pair. Each block loads half of A's tile, and the copy engine writes it to both (multicast), at
// the same place, counting at the same barrier. A stage may only be refilled when the warps of both
// blocks have read it, so consumers arrive at the empty barriers of both.
//
// Prediction: tc_07's multiply-adds, where C has an even number of tiles along n. 64 KB for each 32
// of k and cluster where two blocks loaded 96: 21 bytes a cycle. Beside the pass, 2 cluster
// barriers a block: one before any access to the other block's shared memory, one after. Accepts:
// moderate values. What binds it: from 2048³ on the power. Below, too few tiles: 1024³ has 32 of
// 256×128 for 132 SMs.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/specialised_tile.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

using Config = SpecialisedTile;
constexpr Config kConfig{.cluster = 2};
static_assert(kConfig.valid());
using Ring = RingOf<kConfig>;

__global__ void __launch_bounds__(Config::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split,
             TileSchedule schedule) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const int groups = static_cast<int>(split.depth / Pairs::kDepth);
  const int rank = static_cast<int>(ptx::cluster_rank()), first = blockIdx.x / kConfig.cluster,
            step = gridDim.x / kConfig.cluster;

  // Full: the producer's arrival and a stage's bytes, whichever block loads them. Empty: an arrival
  // of each consumer warp of the cluster.
  if (threadIdx.x == 0) {
    ptx::prefetch_map(a_map);
    ptx::prefetch_map(b_map);
    ring.init(kConfig.cluster * Config::consumers / 32);
  }
  ptx::cluster_barrier();    // the barriers are initialised
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  ptx::wait_for_previous_kernel();

  if (threadIdx.x >= Config::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x == Config::consumers) {
      parts::RingPlace<Ring::kStages> to{0, 1};  // continues from tile to tile
      for (int tile = first; tile < schedule.count(); tile += step) {
        const auto [row, pair] = schedule.index(tile);
        const std::int64_t column = pair * kConfig.cluster + rank;
        for (int group = 0; group < groups; ++group, to.advance()) {
          ptx::Barrier* const full = &ring.full[to.stage];
          ptx::wait(&ring.empty[to.stage], to.parity);
          ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
          fetch<kConfig.cluster>(ring.a[to.stage], a_map, full, row * kConfig.block_m, group,
                                 kConfig.a_share(), rank);
          fetch<1>(ring.b[to.stage], b_map, full, column * kConfig.block_n, group, kConfig.block_n,
                   0);
        }
      }
    }
  } else {
    ptx::take_registers<232>();
    constexpr int kTiles = kConfig.warpgroup_m() / 64;
    const int own_row = ptx::warpgroup() * kConfig.warpgroup_m();
    parts::RingPlace<Ring::kStages> from;
    for (int tile = first; tile < schedule.count(); tile += step) {
      float sums[kTiles][kConfig.block_n / 2] = {};  // of 64×128 each
      for (int group = 0; group < groups; group += kConfig.promoted) {
        parts::add_groups<Pairs, kConfig.promoted>(ring, from, own_row, kConfig.cluster, sums);
      }
      const auto [row, pair] = schedule.index(tile);
      const std::int64_t column = pair * kConfig.cluster + rank;
      store_sums<Pairs>(g, split, sums,
                        {row * kConfig.block_m + own_row, column * kConfig.block_n});
    }
  }
  ptx::cluster_barrier();  // no block ends while the other one still accesses its shared memory
}

// Of the tiles of a cluster, side by side along n.
TileSchedule schedule_of(const Gemm& g) {
  return {g, kConfig.block_m, kConfig.block_n * kConfig.cluster};
}
unsigned blocks_of(const TileSchedule& schedule, const runtime::Machine& machine) {
  const unsigned clusters = machine.multiprocessors / kConfig.cluster;
  return fewest_workers(schedule.count(), clusters > 0 ? clusters : 1) * kConfig.cluster;
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const TileSchedule schedule = schedule_of(g);
  const runtime::LaunchShape shape{dim3(blocks_of(schedule, *stream.machine)),
                                   dim3(Config::threads), sizeof(Ring),
                                   static_cast<unsigned>(kConfig.cluster), true};
  runtime::launch(stream, shape, multiply, map_of(split.a, kConfig.a_share(), stream),
                  map_of(split.b, kConfig.block_n, stream), g, split, schedule);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const TileSchedule schedule = schedule_of(sizes_of(p));
  const std::int64_t clusters = schedule.count(), pair_n = kConfig.cluster * kConfig.block_n;
  return predict_tensor<Pairs>(
      p, machine, padded_groups<Pairs>(p.k), clusters * kConfig.block_m * pair_n, 3,
      clusters * (Ring::kABytes + kConfig.cluster * Ring::kBBytes),
      std::uint64_t{2} * Config::threads / 32 * blocks_of(schedule, machine));
}

}  // namespace

WARPLADDER_RUNG(tc_08_cluster) = {.idea = "pairs of blocks share the rows of A that they load",
                                  .accepts = "moderate values",
                                  .launch = launch_in<Layout::row_major, launch>,
                                  .predict = predict_in<Layout::row_major, predict>,
                                  .takes = promises_moderate_values,
                                  .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
