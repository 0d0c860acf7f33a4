// Bound before: tc_02's error grows like k, for the tensor cores' adder truncates whatever it adds
// to: up to 2^-23 of the whole sum, three times for each 8 of k.
// Idea: promotion. The tensor cores add up no more than 32 elements of k, beginning from zero, and
// FP32 additions, which round to nearest, add that to the sums in registers. Truncations then take
// from a 32nd's part of k, and the parts' errors are all that adds up.
//
// Of k = 4096 positive numbers tc_02's sum is cut 1,536 times, by a third of 2^-23 of what it then
// is on average: by 2^-15 in all. Here a part is cut 12 times, so that the sum is too small by at
// most 12·2^-23 of itself whatever k is, and by less, as a group's small products come first; 128
// additions round to nearest. The declared 16 roundings are tc_02's.
//
// Prediction: tc_02's counts to the letter. 64 FADD a thread for each 32 of k are 128 cycles of the
// multiprocessor beside 1,536 of products. What they cost is registers, 64 more: one block a
// multiprocessor, where two took turns at copying and multiplying.
// Accepts: every problem, as tc_02 does. What binds it: TF32's rate, half of FP16's.

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
