// Bound before: the stores, where C's rows begin off the sectors of memory. A warp's store has
// pieces of 32 bytes of eight rows, which then touch two sectors each, and single floats where ldc
// is odd. Idea: the epilogue by way of shared memory. A warp lays eight rows of sums down in the
// stage that it has multiplied last, turned so that no banks conflict. Then it stores row by row,
// 64 columns at a time. Only a row's first and last sector are stored in part. The consumers keep
// that stage until they have stored it. Rows' and columns' factors are loaded before the products,
// which hide it.
//
// Prediction: tc_23's multiply-adds, copies and barriers, less the groups along k that hold padding
// alone. At 4095×4097×4099 stores take as long as at 4096³. Accepts: moderate values.
// What binds it: the same as tc_08: from 2048³ on the power, below that too few tiles.

#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/main_loop.hpp"
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

// Multiplies and stores tiles of kColumns columns, up to tile `end`.
template <int kColumns>
__device__ __forceinline__ void multiply_tiles(Ring& ring, const Gemm& g, const SplitGemm& split,
                                               int end, TileIterator<Config>& work, Place& from) {
  constexpr int kTiles = kConfig.block_m / 128, kGroups = kConfig.groups;
  const int own_row = ptx::warpgroup() * (kConfig.block_m / 2),
            groups = groups_of<Pairs>(split.a.k);
  for (; work.is_left() && work.tile < end; work.advance()) {
    const TileOrigin origin = work.origin(), corner{origin.row + own_row, origin.column};
    RowFactors<kColumns, kTiles, 1> factors;
    factors.load(g, split, corner);
    float sums[kTiles][kColumns / 2] = {};
    for (int group = kGroups; group <= groups; group += kGroups) {
      parts::add_groups<Pairs, kGroups>(ring, from, own_row, kConfig.sharers, sums,
                                        group == groups);
    }
    if (groups % kGroups != 0) {
      parts::add_groups<Pairs, 1>(ring, from, own_row, kConfig.sharers, sums, true);
    }
    if (work.is_transposed()) {
      store_transposed<Pairs>(g, split, sums, corner, work.schedule.transposed_end);
    } else {
      const StagedRows<kColumns> staged(ring.a[from.last_stage()] + own_row * 128);
      store_rows<Pairs>(g, split, factors, sums, corner, staged);
    }
    release_staging(ring, from.last_stage(), kConfig.sharers);
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
  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x == TensorConfig::consumers) {
      Producer<Pairs, Config> producer(ring, split, schedule);  // as tc_23 fetches
      while (producer.is_left()) producer.fetch_next(a_map, b_map);
    }
  } else {
    ptx::take_registers<232>();
    TileIterator<Config> work(schedule);
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
      p, machine, groups_of<Pairs>(p.k), area_of<kConfig>(schedule), 3,
      group_bytes_of<kConfig>(schedule),
      std::uint64_t{2} * TensorConfig::threads / 32 * blocks_of<kConfig>(schedule, machine));
}

}  // namespace

WARPLADDER_RUNG(tc_24_staged_rows) = {.idea = "warps store whole rows by way of shared memory",
                                      .accepts = "moderate values",
                                      .launch = launch_in<Layout::row_major, launch>,
                                      .predict = predict_in<Layout::row_major, predict>,
                                      .takes = promises_moderate_values,
                                      .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
