// Bound before: the FP32 units in row_07: 128 multiply-adds per cycle and SM.
// Idea: the tensor cores do 1,024 multiply-adds of TF32 numbers per cycle and SM. A TF32 number has
// FP32's exponents and 11 significant bits. The split pass (parts/split.hpp) rounds A and B and
// writes their lines along k, so the product sees neither layout, alignment nor edges. Per step,
// the 256 threads copy 32 elements along k of 128 rows and 128 columns to shared memory, and two
// warpgroups multiply them.
//
// This is not FP32 arithmetic; the rung shows the contrast. Each factor is off by up to 2^-11 of
// itself, so a product is off by 2^-10. That is 2^14 FP32 roundings (2^-24 each), which the rung
// declares. cuBLAS's TF32 has the same error. The tensor cores' adder also truncates, by up to
// 2^-23 of the sum per 8 elements of k. That is less than FP32's own k roundings.
//
// Prediction: m·n·k multiply-adds on the tensor cores; beside the pass, 2 barriers per 32 of k.
// Each step copies 32 KB for 512 cycles of products. That is 64 bytes per cycle, more than L2
// delivers.
//
// Accepts: moderate values. What binds it: the error; then copies and products, which alternate.

#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/float_pairs.hpp"
#include "parts/tile_copy.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::Tf32Once;

constexpr int kBlockM = 128, kBlockN = 128, kThreads = 256;

struct Shared {
  unsigned char a[kBlockM * 128];  // rows of 32 floats, in the 128-byte swizzle
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
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 128; step += 32) {  // bytes of 8 floats
      Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, step), true);
    }
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
  return predict_tensor<Pairs>(p, machine, groups, blocks * kBlockM * kBlockN, 1, 0,
                               2 * (kThreads / 32) * blocks * groups);
}

}  // namespace

WARPLADDER_RUNG(tc_01_tf32_once) = {.idea = "tensor cores, each factor rounded to TF32",
                                    .accepts = "moderate values",
                                    .launch = launch_in<Layout::row_major, launch>,
                                    .predict = predict_in<Layout::row_major, predict>,
                                    .takes = promises_moderate_values,
                                    .arithmetic = in_tf32(0x1p14)};

}  // namespace warpladder::sgemm
