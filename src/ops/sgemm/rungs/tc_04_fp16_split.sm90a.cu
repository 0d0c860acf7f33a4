// Bound before: TF32 has half of FP16's rate and twice its bytes. The three products need 22
// significant bits in two parts, and an FP16 number has 11, too.
// Idea: FP16 pairs. FP16's exponents range from -14 to 15 only. So the pass scales each row of A
// and each column of B by a power of two, and store_sums() undoes the scale. The power brings the
// largest element near the top of that range. Elements down to 2^-17 of the largest keep all 22
// bits; smaller ones keep fewer. A group of 128 bytes now holds 32 elements of k: 32 hi, then their
// 32 lo. Sums of 64 are promoted: they are truncated as often as sums of 32 were, once per
// instruction.
//
// Prediction: tc_03's multiply-adds at twice the rate. The pass writes half as many bytes. Beside
// it, 2 barriers per 32 of k, half of tc_03's. Each step copies 32 KB for 768 cycles of products:
// 43 bytes per cycle. Copies and products still alternate, so the speed less than doubles.
//
// Accepts: moderate values. This rung does not notice infinities, or a row whose elements lie too
// far apart for FP16; tc_10 does. What binds it: copies and products alternate.

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
