#pragma once
// The second kernel of a product by warps. Where FP16 pairs suffice it ends at once; elsewhere it
// splits the operands into TF32 pairs, and multiplies those.

#include <algorithm>

#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/warp_tile.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Blocks of the pass by tickets, whose shared memory every GPU from 8.0 on has.
constexpr parts::SplitShape kAgainShape = parts::SplitShape::long_lines;

template <class Config>
struct AgainShared {
  static_assert(Config::value.threads() == parts::kSplitThreads);
  union {
    typename Config::Ring ring;
    parts::SplitShared<kAgainShape> pass;
  };
  unsigned ticket;
};

// A block for each tile, and at least one on each multiprocessor.
template <class Config>
static __global__ void __launch_bounds__(Config::value.threads(), 1)
    multiply_again(Gemm g, SplitGemm split, TileSchedule schedule) {
  auto& shared = *runtime::dynamic_shared<AgainShared<Config>>();
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  if (__ldcg(&split.state->verdict) == kFits) return;
  parts::BlockSplitSync sync;
  parts::split_by_tickets<parts::Tf32Pairs, kAgainShape>(split.a, split.b, &split.state->taken,
                                                         &split.state->done, &shared.ticket,
                                                         &shared.pass, sync);
  if (threadIdx.x == 0) {
    parts::wait_for_tickets(split.a, split.b, &split.state->done);
    shared.ring.init(Config::value.threads());
  }
  __syncthreads();  // all pairs are there, and the barriers
  parts::RingPlace<Config::value.stages> from, to{0, 1};
  if (static_cast<int>(blockIdx.x) >= schedule.count()) return;
  multiply_tile<parts::Tf32Pairs, Config>(g, split, schedule, blockIdx.x, shared.ring, from, to,
                                          [] { return true; });
}

// The pass of multiply_again(), whose blocks have less shared memory than those of other passes by
// tickets.
inline SplitGemm tickets_of(const Gemm& g, bool trans_a, bool trans_b,
                            const runtime::Machine& machine) {
  SplitGemm s =
      split_in_workspace<parts::Tf32Pairs>(g, trans_a, trans_b, machine, SplitPass::by_tickets);
  for (parts::SplitOperand* x : {&s.a, &s.b}) {
    x->blocks = parts::split_blocks<kAgainShape>(x->lines, s.depth, x->contiguous, 1, 1);
    x->span = parts::split_span<kAgainShape>(s.depth, 1);
  }
  return s;
}

template <class Config>
static void launch_again_with(const Gemm& g, const SplitGemm& s, runtime::StreamView& stream) {
  const TileSchedule schedule = schedule_of(g, Config::value);
  const int blocks = std::max(schedule.count(), stream.machine->multiprocessors);
  runtime::launch(stream,
                  {dim3(static_cast<unsigned>(blocks)), dim3(Config::value.threads()),
                   sizeof(AgainShared<Config>), 1, true},
                  multiply_again<Config>, g, s, schedule);
}
static void launch_again(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::Machine& machine = *stream.machine;
  const SplitGemm s = tickets_of(g, trans_a, trans_b, machine);
  const bool large = fits(kLargeOfThree, machine) && 100 * waves_of(g, kLargeOfThree, machine) <=
                                                         51 * waves_of(g, kMiddle, machine);
  large ? launch_again_with<WarpConfigType<kLargeOfThree>>(g, s, stream)
        : launch_again_with<WarpConfigType<kMiddle>>(g, s, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
