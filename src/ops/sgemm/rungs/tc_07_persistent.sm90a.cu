// Bound before: prologue, epilogue and the last wave. With a block for each tile, an SM's tensor
// cores idle while one block stores C and the next starts. The last wave is only partly full.
// Idea: a persistent kernel. As many blocks as SMs compute tile after tile. The producer runs ahead
// across tiles: while consumers store C, it fills the ring for the next one. The grid is the
// smallest that needs no more waves. Power is the limit, and an SM that idles in the last wave
// wastes its share of it. Tiles go in bands of 8 tile rows, down each column of a band. Tiles
// computed at the same time then share what they read from the L2 cache. The prologue overlaps the
// pass (programmatic dependent launch).
//
// Prediction: tc_06's multiply-adds and bytes; beside the pass, 1 barrier for each of 132 blocks or
// fewer. At 4096³, 512 tiles: 4 waves of 128 blocks.
// Accepts: moderate values. What binds it: the way from the L2 cache to shared memory. 32 bytes a
// cycle and SM are a good part of its bandwidth and of the power.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/specialised_tile.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

using Config = SpecialisedTile;
constexpr Config kConfig{};
static_assert(kConfig.valid());
using Ring = RingOf<kConfig>;

__global__ void __launch_bounds__(Config::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split,
             TileSchedule schedule) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const int groups = static_cast<int>(split.depth / Pairs::kDepth);

  // Full: the producer's arrival and a stage's bytes. Empty: an arrival of each consumer warp.
  if (threadIdx.x == 0) {
    ptx::prefetch_map(a_map);
    ptx::prefetch_map(b_map);
    ring.init(Config::consumers / 32);
  }
  __syncthreads();           // the barriers are initialised
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  ptx::wait_for_previous_kernel();

  if (threadIdx.x >= Config::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x > Config::consumers) return;
    parts::RingPlace<Ring::kStages> to{0, 1};  // continues from tile to tile
    for (int tile = blockIdx.x; tile < schedule.count(); tile += gridDim.x) {
      const auto [row, column] = schedule.index(tile);
      for (int group = 0; group < groups; ++group, to.advance()) {
        ptx::Barrier* const full = &ring.full[to.stage];
        ptx::wait(&ring.empty[to.stage], to.parity);
        ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
        fetch<1>(ring.a[to.stage], a_map, full, row * kConfig.block_m, group, kConfig.block_m, 0);
        fetch<1>(ring.b[to.stage], b_map, full, column * kConfig.block_n, group, kConfig.block_n,
                 0);
      }
    }
  } else {
    ptx::take_registers<232>();
    constexpr int kTiles = kConfig.warpgroup_m() / 64;
    const int own_row = ptx::warpgroup() * kConfig.warpgroup_m();
    parts::RingPlace<Ring::kStages> from;
    for (int tile = blockIdx.x; tile < schedule.count(); tile += gridDim.x) {
      float sums[kTiles][kConfig.block_n / 2] = {};  // of 64×128 each
      for (int group = 0; group < groups; group += kConfig.promoted) {
        parts::add_groups<Pairs, kConfig.promoted>(ring, from, own_row, 1, sums);
      }
      const auto [row, column] = schedule.index(tile);
      store_sums<Pairs>(g, split, sums,
                        {row * kConfig.block_m + own_row, column * kConfig.block_n});
    }
  }
}

TileSchedule schedule_of(const Gemm& g) { return {g, kConfig.block_m, kConfig.block_n}; }

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const TileSchedule schedule = schedule_of(g);
  const runtime::LaunchShape shape{
      dim3(fewest_workers(schedule.count(), stream.machine->multiprocessors)),
      dim3(Config::threads), sizeof(Ring), 1, true};
  runtime::launch(stream, shape, multiply, map_of(split.a, kConfig.block_m, stream),
                  map_of(split.b, kConfig.block_n, stream), g, split, schedule);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t count = schedule_of(sizes_of(p)).count();
  return predict_tensor<Pairs>(
      p, machine, padded_groups<Pairs>(p.k), count * kConfig.block_m * kConfig.block_n, 3,
      count * (Ring::kABytes + Ring::kBBytes),
      Config::threads / 32 * fewest_workers(count, machine.multiprocessors));
}

}  // namespace

WARPLADDER_RUNG(tc_07_persistent) = {.idea = "as many blocks as multiprocessors, tile after tile",
                                     .accepts = "moderate values",
                                     .launch = launch_in<Layout::row_major, launch>,
                                     .predict = predict_in<Layout::row_major, predict>,
                                     .takes = promises_moderate_values,
                                     .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
