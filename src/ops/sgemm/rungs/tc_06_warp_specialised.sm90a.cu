// Bound before: the thread that requests tiles also multiplies. Its warpgroup stands still until
// the other one has read the stage that is to be refilled. Idea: warp specialisation. A producer
// thread, in a warpgroup of its own, only waits for empty stages and requests tiles. Two consumer
// warpgroups only multiply and never wait for each other: one multiplies while the other promotes
// its sums. The producer's warpgroup gives up registers (setmaxnreg) to the consumers. Their 232 a
// thread hold sums of 128×128 and parts of 64×128 each, so the block's tile grows to 256×128.
//
// Prediction: tc_05's multiply-adds. 48 KB for each 32 of k and block, for 1,536 cycles of
// products: 32 bytes a cycle where tc_05 has 43. Beside the pass, 1 barrier a block.
// Accepts: moderate values. What binds it: prologue and epilogue. An SM holds one block. Its tensor
// cores idle while the block starts (barriers, first stages) and stores C, and most SMs idle in the
// last wave.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/specialised_tile.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
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
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int groups = static_cast<int>(split.depth / Pairs::kDepth);

  // Full: the producer's arrival and a stage's bytes. Empty: an arrival of each consumer warp.
  if (threadIdx.x == 0) ring.init(Config::consumers / 32);
  __syncthreads();  // the barriers are initialised

  if (threadIdx.x >= Config::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x > Config::consumers) return;
    parts::RingPlace<Ring::kStages> to{0, 1};
    for (int group = 0; group < groups; ++group, to.advance()) {
      ptx::Barrier* const full = &ring.full[to.stage];
      ptx::wait(&ring.empty[to.stage], to.parity);
      ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
      fetch<1>(ring.a[to.stage], a_map, full, row0, group, kConfig.block_m, 0);
      fetch<1>(ring.b[to.stage], b_map, full, column0, group, kConfig.block_n, 0);
    }
  } else {
    ptx::take_registers<232>();
    constexpr int kTiles = kConfig.warpgroup_m() / 64;
    const int own_row = ptx::warpgroup() * kConfig.warpgroup_m();
    parts::RingPlace<Ring::kStages> from;
    float sums[kTiles][kConfig.block_n / 2] = {};  // of 64×128 each
    for (int group = 0; group < groups; group += kConfig.promoted) {
      parts::add_groups<Pairs, kConfig.promoted>(ring, from, own_row, 1, sums);
    }
    store_sums<Pairs>(g, split, sums, {row0 + own_row, column0});
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(Config::threads),
      sizeof(Ring)};
  runtime::launch(stream, shape, multiply, map_of(split.a, kConfig.block_m, stream),
                  map_of(split.b, kConfig.block_n, stream), g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t blocks = tiles(p.m, kConfig.block_m) * tiles(p.n, kConfig.block_n);
  return predict_tensor<Pairs>(
      p, machine, padded_groups<Pairs>(p.k), blocks * kConfig.block_m * kConfig.block_n, 3,
      blocks * (Ring::kABytes + Ring::kBBytes), Config::threads / 32 * blocks);
}

}  // namespace

WARPLADDER_RUNG(tc_06_warp_specialised) = {
    .idea = "a producer warpgroup, and consumers that only multiply",
    .accepts = "moderate values",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .takes = promises_moderate_values,
    .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
