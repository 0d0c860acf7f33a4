// Bound before: every rung on tensor cores wants Hopper's own instructions, and other GPUs are left
// with FP32 arithmetic on CUDA cores.
// Idea: the same pairs of halves with what compute capability 8.0 has. Warps multiply by themselves
// (mma.sync), from registers that they load as matrices (ldmatrix). All threads fill a ring of
// stages with copies of their own (cp.async) that arrive at mbarriers, so that no barrier of the
// block stands in the loop and a warp may be a group behind the others. A warp's tile of 64×64
// loads half as many bytes for a product as one of 32×64. Sums of one group are added to FP32 sums
// at once, from 16 registers. The first block has no tile: it adds up the pass's precision loss and
// tells the others before they store. Where FP16 pairs do not suffice none does, and a second
// kernel, which otherwise ends at once, splits into TF32 pairs and multiplies those.
//
// Prediction: tc_10's multiply-adds, but for tiles at the edges; of barriers, those of the pass and
// one in each block, two in the first. On an H200 2.2, 2.5 and 2.5 times cublasSgemm's rate at
// 2048³, 4096³ and 8192³. Measured on an H100: 2.2, 2.6 and 2.8 times, and 1.35 times at 1024³.
// Accepts: every problem. What binds it: registers. 255 leave two warps to a scheduler, too few to
// hide the latency of chains of six products. At 2048³ the pass takes 26 of 157 µs.

#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/warp_again.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs;

template <class Config>
struct Shared {
  typename Config::Ring ring;
  parts::PrecisionLoss loss[2];
};

// Called by the threads of the first block, which has no tile.
template <int kThreads>
__device__ __forceinline__ void judge(const SplitGemm& split, parts::PrecisionLoss (&loss)[2]) {
  parts::gather_losses<kThreads>(split.a, split.b, threadIdx.x, loss);
  __syncthreads();  // all have been added up
  if (threadIdx.x != 0) return;
  split.state->stop = 0;
  atomicExch(&split.state->verdict,
             parts::fits_half_pairs(split.a, split.b, loss) ? kFits : kDoesNotFit);
}

template <class Config>
__global__ void __launch_bounds__(Config::value.threads(), Config::value.blocks)
    multiply(Gemm g, SplitGemm split, TileSchedule schedule, unsigned first_wave) {
  auto& shared = *runtime::dynamic_shared<Shared<Config>>();
  if (threadIdx.x == 0) {
    shared.ring.init(Config::value.threads());
    for (parts::PrecisionLoss& most : shared.loss) most = {};
  }
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  const bool too_late = blockIdx.x >= first_wave && __ldcg(&split.state->verdict) == kDoesNotFit;
  if (__syncthreads_or(too_late)) return;  // and the barriers are there
  if (blockIdx.x == 0) return judge<Config::value.threads()>(split, shared.loss);
  const auto fits = [&] {
    unsigned verdict = 0;
    while (threadIdx.x % 32 == 0 && verdict == 0) verdict = atomicAdd(&split.state->verdict, 0u);
    return __shfl_sync(0xffffffffu, verdict, 0) == kFits;
  };
  parts::RingPlace<Config::value.stages> from, to{0, 1};
  multiply_tile<HalfPairs, Config>(g, split, schedule, blockIdx.x - 1, shared.ring, from, to, fits);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm halves = launch_split<HalfPairs>(g, trans_a, trans_b, stream);
  const auto multiprocessors = static_cast<unsigned>(stream.machine->multiprocessors);
  with_warp_config(g, *stream.machine, [&]<WarpConfig config>() {
    using Config = WarpConfigType<config>;
    runtime::launch(stream,
                    {tile_grid(1, 1 + tiles(g.m, config.block_m) * tiles(g.n, config.block_n)),
                     dim3(config.threads()), sizeof(Shared<Config>), 1, true},
                    multiply<Config>, g, halves, schedule_of(g, config),
                    config.blocks * multiprocessors);
  });
  launch_again(g, trans_a, trans_b, stream);
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
