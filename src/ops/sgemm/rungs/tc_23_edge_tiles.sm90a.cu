// Bound before: a few columns of C beyond whole pairs of tiles cost as much as 256, a few rows as
// much as 256. At 2047×2049×2051 the edge doubles the number of waves.
// Idea: tiles of their own for the edges. A single last tile column is no pair: clusters take two
// of its tiles, one below the other. Up to 128 last rows are columns of C's transpose, in tiles of
// 256 of C's columns by 128 of its rows. There A and B exchange places. An edge of at most 32
// columns or rows is multiplied 32 wide. Blocks that whole tiles leave idle have the narrow ones.
//
// Prediction: tc_08's counts where C has whole pairs of tiles. Elsewhere the multiply-adds of the
// edge's tiles instead of whole pairs'. Accepts: moderate values.
// What binds it: at the edges, and wherever C's rows begin off the sectors of memory, the stores.
// A warp's store has eight rows' pieces of 32 bytes, each of which then touches two sectors.

#include "ops/sgemm/tensor/epilogue_rows.hpp"
#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

constexpr TensorConfig kConfig{.sharers = 2};
using Config = ConfigType<kConfig>;
using Ring = Config::Ring;
using Place = parts::RingPlace<Ring::kStages>;

// Asks for all that this block's tiles need. Called by one thread.
__device__ __forceinline__ void fetch_tiles(Ring& ring, const runtime::TensorMap& a_map,
                                            const runtime::TensorMap& b_map, int groups,
                                            TileIterator<Config> work) {
  constexpr int kShare = kConfig.block_m / kConfig.sharers;  // rows of A in a copy
  Place to{0, 1};
  for (; work.is_left(); work.advance()) {
    const auto [row, column] = work.origin();
    const bool transposed = work.is_transposed();
    for (int group = 0; group < groups; ++group, to.advance()) {
      ptx::Barrier* const full = &ring.full[to.stage];
      ptx::wait(&ring.empty[to.stage], to.parity);
      ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
      if (work.is_unpaired()) {
        for (int below = 0; below < kConfig.block_m; below += kShare) {
          fetch<1>(ring.a[to.stage] + below * 128, transposed ? b_map : a_map, full, row + below,
                   group);
        }
      } else {
        fetch<kConfig.sharers>(ring.a[to.stage], a_map, full, row, group, kShare, work.rank);
      }
      fetch<1>(ring.b[to.stage], transposed ? a_map : b_map, full, column, group);
    }
  }
}

// Multiplies and stores tiles of kColumns columns, up to tile `end`.
template <int kColumns>
__device__ __forceinline__ void multiply_tiles(Ring& ring, const Gemm& g, const SplitGemm& split,
                                               int end, TileIterator<Config>& work, Place& from) {
  constexpr int kTiles = kConfig.block_m / 128;
  const int own_row = ptx::warpgroup() * (kConfig.block_m / 2),
            groups = static_cast<int>(split.depth / Pairs::kDepth);
  for (; work.is_left() && work.tile < end; work.advance()) {
    float sums[kTiles][kColumns / 2] = {};
    for (int group = 0; group < groups; group += kConfig.groups) {
      parts::add_groups<Pairs, kConfig.groups>(ring, from, own_row, kConfig.sharers, sums);
    }
    const TileOrigin origin = work.origin(), corner{origin.row + own_row, origin.column};
    if (work.is_transposed()) {
      store_transposed<Pairs>(g, split, sums, corner, work.schedule.transposed_end);
    } else {
      store_sums<Pairs>(g, split, sums, corner);
    }
  }
}

__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split,
             TileSchedule schedule) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  if (threadIdx.x == 0) ring.init(TensorConfig::consumers / 32 * kConfig.sharers);
  ptx::cluster_barrier();    // the barriers are initialised
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  ptx::wait_for_previous_kernel();
  TileIterator<Config> work(schedule);
  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    const int groups = static_cast<int>(split.depth / Pairs::kDepth);
    if (threadIdx.x == TensorConfig::consumers) fetch_tiles(ring, a_map, b_map, groups, work);
  } else {
    ptx::take_registers<232>();
    Place from;
    multiply_tiles<kConfig.block_n>(ring, g, split, schedule.full_width(), work, from);
    multiply_tiles<TileSchedule::kNarrow>(ring, g, split, schedule.count(), work, from);
  }
  ptx::cluster_barrier();  // no block ends while the other one still accesses its shared memory
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  launch_tiles<kConfig>(g, sizeof(Ring), stream, multiply, a_map_of<kConfig>(split, stream),
                        b_map_of<kConfig>(split, stream), g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const TileSchedule schedule = schedule_of<kConfig>(sizes_of(p), machine);
  return predict_tensor<Pairs>(
      p, machine, padded_groups<Pairs>(p.k), area_of<kConfig>(schedule), 3,
      group_bytes_of<kConfig>(schedule),
      std::uint64_t{2} * TensorConfig::threads / 32 * blocks_of<kConfig>(schedule, machine));
}

}  // namespace

WARPLADDER_RUNG(tc_23_edge_tiles) = {.idea = "tiles of their own for C's last rows and columns",
                                     .accepts = "moderate values",
                                     .launch = launch_in<Layout::row_major, launch>,
                                     .predict = predict_in<Layout::row_major, predict>,
                                     .takes = promises_moderate_values,
                                     .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
