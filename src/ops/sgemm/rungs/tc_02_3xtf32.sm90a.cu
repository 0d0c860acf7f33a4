// Bound before: tc_01's error. A TF32 number keeps 11 of FP32's 24 significant bits.
// Idea: write each factor as two TF32 numbers, x = hi + lo. They keep 22 bits, and lo's sign is one
// bit more. A product of two pairs takes three TF32 products: hi·lo, lo·hi and hi·hi. lo·lo is left
// out. The pass writes groups of 128 bytes: 16 hi, then their 16 lo.
//
// The error has two parts:
// - A product lacks lo·lo, up to 2^-22 of it, and what each factor has below lo, up to 2^-23 each.
//   That is 8 FP32 roundings (2^-24); the rung declares 16.
// - The adder truncates the sum by up to 2^-23 at every instruction, three per 8 of k. In the worst
//   case that is 3/8·k·2 = 0.75·k roundings, within the k that FP32 arithmetic may make. But FP32
//   roundings cancel, while truncations add up: for positive numbers the error grows like k, not
//   like its square root.
//
// Prediction: 3·m·n·k multiply-adds on the tensor cores, at best a third of tc_01's speed; beside
// the pass, 2 barriers per 16 of k. Each step copies 32 KB for 768 cycles of products.
//
// Accepts: every problem. The pass marks lines that TF32 pairs cannot represent (infinities, NaN),
// and store_sums() computes those in FP32 arithmetic. What binds it: the error, which grows with k.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/float_pairs.hpp"
#include "parts/tile_copy.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::Tf32Pairs;

constexpr int kBlockM = 128, kBlockN = 128, kThreads = 256;

struct Shared {
  unsigned char a[kBlockM * 128];  // rows of 16 hi and 16 lo, in the 128-byte swizzle
  unsigned char b[kBlockN * 128];  // columns, likewise
};

__global__ void __launch_bounds__(kThreads) multiply(Gemm g, SplitGemm split) {
  auto& shared = *runtime::dynamic_shared<Shared>();
  const auto [row0, column0] = tile_of_block<kBlockM, kBlockN>(g);
  const int own_row = ptx::warpgroup() * 64;
  const ptx::TileDescriptor a = ptx::tile_descriptor(shared.a + own_row * 128),
                            b = ptx::tile_descriptor(shared.b);
  float sums[kBlockN / 2] = {};  // of 64×128

  const int groups = static_cast<int>(split.depth / Pairs::kDepth);
  for (int group = 0; group < groups; ++group) {
    parts::copy_group<kBlockM, kThreads>(shared.a, split.a, row0, group);
    parts::copy_group<kBlockN, kThreads>(shared.b, split.b, column0, group);
    ptx::fence_async_proxy();
    __syncthreads();  // the tiles are complete
    ptx::wgmma_fence();
    parts::multiply_small<Pairs>(sums, a, b, true);
    parts::multiply_large<Pairs>(sums, a, b);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
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

WARPLADDER_RUNG(tc_02_3xtf32) = {.idea = "each factor as two TF32 numbers, three products",
                                 .accepts = "every problem",
                                 .launch = launch_in<Layout::row_major, launch>,
                                 .predict = predict_in<Layout::row_major, predict>,
                                 .arithmetic = in_tf32(16)};

}  // namespace warpladder::sgemm
