// Bound before: tc_17's stages bring 32 of k in 128 bytes, and TF32 has half of FP16's rate.
// Idea: FP16 once. A half has TF32's eleven significant bits in two bytes. So a stage brings 64 of
// k, and wgmma multiplies 16 along k at a time. A half's exponents range from -14 to 15 only. So
// the pass scales each row of A and each column of B by a power of two. That brings the largest
// element near the top of the range. store_sums() undoes both scales. Nothing else is new: the
// descriptors, the swizzle and the fragments are those of tc_16, byte for byte.
//
// Prediction: tc_17's multiply-adds at twice the rate, from half of its bytes: 32 KB for each 64 of
// k and block through the engine. So a large product takes half of the time. The pass writes half
// as much, too.
// Measured on an H200: 2.48 ms at 8192×8192×8192, where tc_17 takes 4.52.
// Accepts: moderate values. What binds it: the requesting thread also multiplies, as in tc_05; and
// the error, as in tc_17. Two halves for each number mend that in tc_04.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
namespace {

using Halves = parts::HalfOnce;

constexpr int kBlockM = 128, kBlockN = 128, kStages = 6, kThreads = 256;
using Ring = parts::TileRing<kBlockM, kBlockN, kStages>;
static_assert(sizeof(Ring) <= 227 * 1024);

__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const auto [row0, column0] = tile_of_block<kBlockM, kBlockN>(g);
  const int groups = static_cast<int>(split.depth / Halves::kDepth);

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
    for (int step = 0; step < 128; step += 32) {  // bytes of 16 halves
      Halves::multiply(sums, ptx::behind(a, step), ptx::behind(b, step), true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
    parts::release_stage(ring, from.stage, 1);
  }
  store_sums<Halves>(g, split, sums, {row0 + own_row, column0});
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Halves>(g, trans_a, trans_b, stream);
  const runtime::LaunchShape shape{tile_grid(tiles(g.m, kBlockM), tiles(g.n, kBlockN)),
                                   dim3(kThreads), sizeof(Ring)};
  runtime::launch(stream, shape, multiply, map_of(split.a, kBlockM, stream),
                  map_of(split.b, kBlockN, stream), g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t blocks = tiles(p.m, kBlockM) * tiles(p.n, kBlockN);
  return predict_tensor<Halves>(p, machine, padded_groups<Halves>(p.k), blocks * kBlockM * kBlockN,
                                1, blocks * (Ring::kABytes + Ring::kBBytes),
                                kThreads / 32 * blocks);
}

}  // namespace

WARPLADDER_RUNG(tc_26_halves_once) = {.idea = "halves with a scale for each line, one product",
                                      .accepts = "moderate values",
                                      .launch = launch_in<Layout::row_major, launch>,
                                      .predict = predict_in<Layout::row_major, predict>,
                                      .takes = promises_moderate_values,
                                      .arithmetic = in_halves(0x1p14)};

}  // namespace warpladder::sgemm
