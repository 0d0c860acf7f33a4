// Bound before: TF32, at half of FP16's rate and twice its bytes. What the three products need of a
// number is 22 significant bits in two parts, and a half has 11 too.
// Idea: FP16 pairs. A half's exponents end at -14 and 15, so the pass multiplies each row of A and
// each column of B by a power of two of its own, which brings its largest element near the top;
// store_sums() takes it back. Elements down to 2^-16 of the largest then keep all 22 bits, smaller
// ones fewer. A group of 128 bytes now holds 32 elements of k, 32 hi and their 32 lo; sums of 64
// are promoted, for the number of truncations, one for each instruction, is that of 32 before.
//
// Prediction: tc_03's multiply-adds, at twice the rate; beside the pass, whose output is half as
// large, 2 barriers for each 32 of k, half as many. 32 KB come for 768 cycles of products: still 43
// bytes a cycle, and still in turns with the products, so less than twice the speed.
// Accepts: moderate values: nothing notices here when a row's elements lie too far apart for a
// half, or are infinite; tc_10 does. What binds it: copies and products take turns.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/float_pairs.hpp"
#include "parts/tile_copy.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

constexpr int kBlockM = 128, kBlockN = 128, kThreads = 256;
constexpr int kPromoted = 2;  // groups that the tensor cores add up

struct Shared {
  unsigned char a[kBlockM * 128];  // rows of 32 hi and 32 lo, in the 128-byte swizzle
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

WARPLADDER_RUNG(tc_04_fp16_split) = {.idea = "each factor as two scaled halves",
                                     .accepts = "moderate values",
                                     .launch = launch_in<Layout::row_major, launch>,
                                     .predict = predict_in<Layout::row_major, predict>,
                                     .takes = promises_moderate_values,
                                     .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
