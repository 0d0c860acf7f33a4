// Bound before: in tc_01 copies and products take turns, and 256 threads carry each tile through
// registers. Idea: tc_05's ring with nothing else in the way: one product of TF32, no pairs, no
// promotion. The copy engine (TMA) fills six stages ahead of the products. Thread 0 asks for a
// group of A's rows and one of B's columns; the stage's full barrier counts their bytes. A warp
// that has read a stage arrives at its empty barrier, and the stage is asked for again.
//
// Prediction: tc_01's multiply-adds; 32 KB for each 32 of k and block through the engine. Beside
// the pass, 1 barrier a block instead of 2 for each 32 of k.
// Measured on an H200: 4.52 ms at 8192×8192×8192, where tc_16 takes 47.4.
// Accepts: moderate values. What binds it: the requesting thread also multiplies, as in tc_05; and
// the error, as in tc_01.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::Tf32Once;

constexpr int kBlockM = 128, kBlockN = 128, kStages = 6, kThreads = 256;
using Ring = parts::TileRing<kBlockM, kBlockN, kStages>;
static_assert(sizeof(Ring) <= 227 * 1024);

__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const auto [row0, column0] = tile_of_block<kBlockM, kBlockN>(g);
  const int groups = static_cast<int>(split.depth / Pairs::kDepth);

  // The full barrier has one arrival and a stage's bytes, the empty one an arrival of each warp.
  if (threadIdx.x == 0) ring.init(kThreads / 32);
  __syncthreads();  // the barriers are initialised

  int asked = 0;
  parts::RingPlace<kStages> to{0, 1};
  const auto ask_until = [&](int group) {  // called by one thread
    for (; asked < group && asked < groups; ++asked, to.advance()) {
      ptx::Barrier* const full = &ring.full[to.stage];
      ptx::wait(&ring.empty[to.stage], to.parity);
      ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
      fetch<1>(ring.a[to.stage], a_map, full, row0, asked, kBlockM, 0);
      fetch<1>(ring.b[to.stage], b_map, full, column0, asked, kBlockN, 0);
    }
  };

  const int own_row = ptx::warpgroup() * 64;
  const ptx::TileDescriptor a_ring = ptx::tile_descriptor(ring.a[0] + own_row * 128),
                            b_ring = ptx::tile_descriptor(ring.b[0]);
  parts::RingPlace<kStages> from;
  float sums[kBlockN / 2] = {};  // of 64×128
  for (int group = 0; group < groups; ++group, from.advance()) {
    if (threadIdx.x == 0) ask_until(group + kStages);
    __syncwarp();  // wgmma needs converged warps
    ptx::wait(&ring.full[from.stage], from.parity);
    ptx::wgmma_fence();
    const ptx::TileDescriptor a = ptx::behind(a_ring, from.stage * Ring::kABytes),
                              b = ptx::behind(b_ring, from.stage * Ring::kBBytes);
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 128; step += 32) {  // bytes of 8 floats
      Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, step), true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
    parts::release_stage(ring, from.stage, 1);
  }
  store_sums<Pairs>(g, split, sums, {row0 + own_row, column0});
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const runtime::LaunchShape shape{tile_grid(tiles(g.m, kBlockM), tiles(g.n, kBlockN)),
                                   dim3(kThreads), sizeof(Ring)};
  runtime::launch(stream, shape, multiply, map_of(split.a, kBlockM, stream),
                  map_of(split.b, kBlockN, stream), g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t blocks = tiles(p.m, kBlockM) * tiles(p.n, kBlockN);
  return predict_tensor<Pairs>(p, machine, padded_groups<Pairs>(p.k), blocks * kBlockM * kBlockN, 1,
                               blocks * (Ring::kABytes + Ring::kBBytes), kThreads / 32 * blocks);
}

}  // namespace

WARPLADDER_RUNG(tc_17_one_ring) = {
    .idea = "the copy engine fills a ring of stages, one TF32 product",
    .accepts = "moderate values",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .takes = promises_moderate_values,
    .arithmetic = in_tf32(0x1p14)};

}  // namespace warpladder::sgemm
