// Bound before: copies and products take turns. 256 threads carry each tile through registers,
// meet, multiply, and meet again; the tensor cores wait for the copies. Idea: the copy engine (TMA)
// loads tiles into a ring of stages, ahead of the products. One thread requests a group of A's rows
// and one of B's columns. The engine writes them to a stage, swizzled, with zeros beyond the edges,
// and counts bytes at the stage's full barrier, where all threads wait. Each warp arrives at the
// empty barrier after reading a stage; the requesting thread then requests the group six further
// on. Copies cost the other threads no registers and no instructions, and the loop has no
// __syncthreads.
//
// Prediction: tc_04's multiply-adds. 32 KB for each 32 of k and block through the engine; beside
// the pass, 1 barrier a block.
// Accepts: moderate values. What binds it: the requesting thread also multiplies. It waits until
// the slowest warp has read a stage, and its warpgroup waits with it.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

struct Config {
  int block_m = 128, block_n = 128, stages = 6, promoted = 2;  // promoted: groups
  static constexpr int threads = 256;
};
constexpr bool valid(Config c) {
  return c.block_m == 128 && c.block_n == 128 && c.stages >= c.promoted &&
         c.stages * (c.block_m + c.block_n) * 128 <= 224 * 1024;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

using Ring = parts::TileRing<kConfig.block_m, kConfig.block_n, kConfig.stages>;

__global__ void __launch_bounds__(Config::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int groups = static_cast<int>(split.depth / Pairs::kDepth);

  // The full barrier has one arrival and a stage's bytes, the empty one an arrival of each warp.
  if (threadIdx.x == 0) ring.init(Config::threads / 32);
  __syncthreads();  // the barriers are initialised

  int asked = 0;
  parts::RingPlace<Ring::kStages> to{0, 1};
  const auto ask_until = [&](int group) {  // called by one thread
    for (; asked < group && asked < groups; ++asked, to.advance()) {
      ptx::Barrier* const full = &ring.full[to.stage];
      ptx::wait(&ring.empty[to.stage], to.parity);
      ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
      fetch<1>(ring.a[to.stage], a_map, full, row0, asked, kConfig.block_m, 0);
      fetch<1>(ring.b[to.stage], b_map, full, column0, asked, kConfig.block_n, 0);
    }
  };

  const int own_row = ptx::warpgroup() * 64;
  parts::RingPlace<Ring::kStages> from;
  float sums[1][kConfig.block_n / 2] = {};  // of 64×128
  for (int group = 0; group < groups; group += kConfig.promoted) {
    if (threadIdx.x == 0) ask_until(group + Ring::kStages);
    __syncwarp();  // wgmma needs converged warps
    parts::add_groups<Pairs, kConfig.promoted>(ring, from, own_row, 1, sums);
  }
  store_sums<Pairs>(g, split, sums, {row0 + own_row, column0});
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

WARPLADDER_RUNG(tc_05_tma_ring) = {.idea = "the copy engine fills a ring of stages",
                                   .accepts = "moderate values",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   .takes = promises_moderate_values,
                                   .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
