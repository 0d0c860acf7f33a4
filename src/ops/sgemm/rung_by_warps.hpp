#pragma once
// Products of FP16 pairs by warps (tc_13_mma_sync): the kernel that multiplies, and its launch.

#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/warp_again.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <class Config>
struct WarpShared {
  typename Config::Ring ring;
  parts::PrecisionLoss loss[2];
};

// Called by the threads of the first block, which has no tile.
template <int kThreads>
__device__ __forceinline__ void judge_halves(const SplitGemm& split,
                                             parts::PrecisionLoss (&loss)[2]) {
  parts::gather_losses<kThreads>(split.a, split.b, threadIdx.x, loss);
  __syncthreads();  // all have been added up
  if (threadIdx.x != 0) return;
  split.state->stop = 0;
  atomicExch(&split.state->verdict,
             parts::fits_half_pairs(split.a, split.b, loss) ? kFits : kDoesNotFit);
}

template <class Config>
static __global__ void __launch_bounds__(Config::value.threads(), Config::value.blocks)
    multiply_by_warps(Gemm g, SplitGemm split, TileSchedule schedule, unsigned first_wave) {
  auto& shared = *runtime::dynamic_shared<WarpShared<Config>>();
  if (threadIdx.x == 0) {
    shared.ring.init(Config::value.threads());
    for (parts::PrecisionLoss& most : shared.loss) most = {};
  }
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  const bool too_late = blockIdx.x >= first_wave && __ldcg(&split.state->verdict) == kDoesNotFit;
  if (__syncthreads_or(too_late)) return;  // and the barriers are there
  if (blockIdx.x == 0) return judge_halves<Config::value.threads()>(split, shared.loss);
  const auto fits = [&] {
    unsigned verdict = 0;
    while (threadIdx.x % 32 == 0 && verdict == 0) verdict = atomicAdd(&split.state->verdict, 0u);
    return __shfl_sync(0xffffffffu, verdict, 0) == kFits;
  };
  parts::RingPlace<Config::value.stages> from, to{0, 1};
  multiply_tile<parts::HalfPairs, Config>(g, split, schedule, blockIdx.x - 1, shared.ring, from, to,
                                          fits);
}

// The pass, the product in tiles of `config`, and the second kernel.
template <WarpConfig config>
void launch_by_warps(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  using Config = WarpConfigType<config>;
  const SplitGemm halves = launch_split<parts::HalfPairs>(g, trans_a, trans_b, stream);
  const auto multiprocessors = static_cast<unsigned>(stream.machine->multiprocessors);
  runtime::launch(stream,
                  {tile_grid(1, 1 + tiles(g.m, config.block_m) * tiles(g.n, config.block_n)),
                   dim3(config.threads()), sizeof(WarpShared<Config>), 1, true},
                  multiply_by_warps<Config>, g, halves, schedule_of(g, config),
                  config.blocks * multiprocessors);
  launch_again(g, trans_a, trans_b, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
