// Bound before: every rung on tensor cores wants Hopper's own instructions, and other GPUs are left
// with FP32 arithmetic on CUDA cores.
// Idea: the same pairs of halves with what compute capability 8.0 has. Warps multiply by themselves
// (mma.sync), from registers that they load as matrices (ldmatrix). All threads fill a ring of
// stages with copies of their own (cp.async) that arrive at mbarriers. So no barrier of the block
// stands in the loop, and a warp may be a group behind the others. A warp's tile of 64×64 loads
// half as many bytes for a product as one of 32×64. Sums of one group are added to FP32 sums at
// once, from 16 registers. The first block has no tile: it adds up the pass's precision loss and
// tells the others before they store. Where FP16 pairs do not suffice none does, and a second
// kernel, which otherwise ends at once, splits into TF32 pairs and multiplies those.
//
// Prediction: tc_10's multiply-adds, but for tiles at the edges; of barriers, those of the pass and
// one in each block, two in the first. On an H200 2.2, 2.5 and 2.5 times cublasSgemm's rate at
// 2048³, 4096³ and 8192³. Measured on an H100: 2.2, 2.6 and 2.8 times, and 1.35 times at 1024³.
// Accepts: every problem. What binds it: registers. 255 leave two warps to a scheduler, too few to
// hide the latency of chains of six products. At 2048³ the pass takes 26 of 157 µs.

#include "ops/sgemm/rung_by_warps.hpp"
#include "ops/sgemm/tensor/prediction.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs;

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_warp_config(g, *stream.machine, [&]<WarpConfig config>() {
    launch_by_warps<config>(g, trans_a, trans_b, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const Gemm g = sizes_of(p);
  ladder::Totals t;
  with_warp_config(g, machine, [&]<WarpConfig config>() {
    const std::int64_t blocks = tiles(p.m, config.block_m) * tiles(p.n, config.block_n);
    t = predict_tensor<HalfPairs>(p, machine, groups_of<HalfPairs>(p.k),
                                  blocks * config.block_m * config.block_n, 3, 0,
                                  config.threads() / 32 * (blocks + 2));
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(tc_13_mma_sync) = {
    .idea = "FP16 pairs with the instructions of compute capability 8.0",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .arithmetic = in_halves(16),
    .needs = {.capability = 80, .shared_bytes = sizeof(AgainShared<WarpConfigType<kMiddle>>)}};

}  // namespace warpladder::sgemm
