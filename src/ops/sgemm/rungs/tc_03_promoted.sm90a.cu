// Bound before: tc_02's error grows like k. The tensor cores' adder truncates by up to 2^-23 of the
// whole sum, three times per 8 of k.
// Idea: promotion. The tensor cores add up only 32 elements of k, from zero. FP32 additions, which
// round to nearest, add these partial sums to the sums in registers. A truncation then takes a
// share of a partial sum instead of the whole one.
//
// Example: k = 4096 positive numbers. tc_02 truncates the growing sum 1,536 times, by a third of
// 2^-23 of the sum so far: 2^-15 of the result in all. Here each partial sum is truncated 12 times,
// so the result is too small by at most 12·2^-23, whatever k is. It is less in fact, because a
// group's small products come first. The 128 additions round to nearest. The rung declares 16
// roundings, as tc_02.
//
// Prediction: exactly tc_02's counts. 64 FADDs per thread and 32 of k take 128 cycles of the SM,
// beside 1,536 of products. The cost is registers: 64 more leave one block per SM. tc_02's two
// blocks hid each other's copies.
// Accepts: every problem, as tc_02. What binds it: TF32's rate, half of FP16's.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/float_pairs.hpp"
#include "parts/tile_copy.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::Tf32Pairs;

constexpr int kBlockM = 128, kBlockN = 128, kThreads = 256;
constexpr int kPromoted = 2;  // groups that the tensor cores add up

struct Shared {
  unsigned char a[kBlockM * 128];  // rows of 16 hi and 16 lo, in the 128-byte swizzle
  unsigned char b[kBlockN * 128];  // columns, likewise
};

__global__ void __launch_bounds__(kThreads, 1) multiply(Gemm g, SplitGemm split) {
  auto& shared = *runtime::dynamic_shared<Shared>();
  const auto [row0, column0] = tile_of_block<kBlockM, kBlockN>(g);
  const int own_row = ptx::warpgroup() * 64;
  const ptx::TileDescriptor a = ptx::tile_descriptor(shared.a + own_row * 128),
                            b = ptx::tile_descriptor(shared.b);
  float sums[kBlockN / 2] = {}, part[kBlockN / 2];  // of 64×128

  const int groups = static_cast<int>(split.depth / Pairs::kDepth);
  for (int group = 0; group < groups; ++group) {  // groups: a multiple of kPromoted
    parts::copy_group<kBlockM, kThreads>(shared.a, split.a, row0, group);
    parts::copy_group<kBlockN, kThreads>(shared.b, split.b, column0, group);
    ptx::fence_async_proxy();
    __syncthreads();  // the tiles are complete
    ptx::wgmma_fence();
    parts::multiply_small<Pairs>(part, a, b, group % kPromoted > 0);
    parts::multiply_large<Pairs>(part, a, b);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(part);
    if (group % kPromoted == kPromoted - 1) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kBlockN / 2; ++i) sums[i] += part[i];
    }
    __syncthreads();  // no thread reads the tiles any more
  }
  store_sums<Pairs>(g, split, sums, {row0 + own_row, column0});
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const runtime::LaunchShape shape{tile_grid(tiles(g.m, kBlockM), tiles(g.n, kBlockN)),
                                   dim3(kThreads), sizeof(Shared)};
  runtime::launch(stream, shape, multiply, g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t blocks = tiles(p.m, kBlockM) * tiles(p.n, kBlockN),
                     groups = padded_groups<Pairs>(p.k);
  return predict_tensor<Pairs>(p, machine, groups, blocks * kBlockM * kBlockN, 3, 0,
                               2 * (kThreads / 32) * blocks * groups);
}

}  // namespace

WARPLADDER_RUNG(tc_03_promoted) = {.idea = "sums of 32 along k promoted to FP32 registers",
                                   .accepts = "every problem",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   .arithmetic = in_tf32(16)};

}  // namespace warpladder::sgemm
