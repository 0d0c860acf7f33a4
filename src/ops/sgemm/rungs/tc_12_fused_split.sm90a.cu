// Bound before: where FP16 pairs do not suffice, tc_10 has split part of the operands in vain, and
// multiplied the first chunks of them.
//
// Idea: no pass in front. The product's blocks split the operands themselves, by tickets, and check
// after each ticket what all blocks have counted so far. Once FP16 pairs cannot suffice no block
// takes another ticket, and the operands are split into TF32 pairs instead. The kind of pairs is
// known before the first product.
//
// Prediction: tc_10's multiply-adds and bytes. Beside the tickets' barriers 4 a warp, and one more
// where two blocks split k. At 1024³, 20 instead of 25 µs, because a gap between kernels is gone.
// Measured on an H200: 29.7 µs, where tc_10 by now takes 23.2. At 4096³ 638 instead of 610 µs. Only
// wide operands gain: 1.10 instead of 1.14 ms at 4096³.
// Accepts: every problem.
// What binds it: the split. Eight warps an SM keep fewer loads in flight than the 16 to 24 of a
// pass of its own, and a launch that clears the counters costs another 2 µs.

#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/main_loop.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/split_sync.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/ptx/register_share.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs, parts::Tf32Pairs;

template <class Config>
struct Shared {
  typename Config::Ring ring;
  unsigned ticket;
};

struct Maps {
  runtime::TensorMap a, b;
};

// The losses counted so far, over all blocks, but of pieces.
struct CountedLosses {
  uint2 a, b;
};
__device__ __forceinline__ CountedLosses most_so_far(const SplitGemm& split) {
  const auto* const most = split.state->most;
  return {__ldcg(reinterpret_cast<const uint2*>(&most[0])),
          __ldcg(reinterpret_cast<const uint2*>(&most[1]))};
}
__device__ __forceinline__ bool fits(const SplitGemm& split, const CountedLosses& most) {
  const auto loss_of = [](uint2 of) {
    return parts::PrecisionLoss(parts::StoredLoss{of.x, of.y, parts::StoredLoss::kUnknown});
  };
  const parts::PrecisionLoss loss[2] = {loss_of(most.a), loss_of(most.b)};
  return parts::fits_half_pairs(split.a, split.b, loss);
}

// Includes a loss in a shared word, of which stored() packs several numbers: `select` picks the
// word.
template <class Select>
__device__ __forceinline__ void include_atomically(unsigned* word, const parts::PrecisionLoss& more,
                                                   const Select& select) {
  unsigned old = *word, assumed = old;
  do {
    assumed = old;
    parts::StoredLoss both;
    select(both) = assumed;
    parts::PrecisionLoss most(both);
    most.include(more);
    both = most.stored();
    if (select(both) == assumed) return;
    old = atomicCAS(word, assumed, select(both));
  } while (old != assumed);
}

// Adds each block's loss to the shared counts, and stops once FP16 pairs do not suffice.
struct CountingSplitSync : SplitSync {
  const SplitGemm& split;
  CountedLosses seen = {};
  __device__ __forceinline__ explicit CountingSplitSync(const SplitGemm& s) : split(s) {}
  __device__ __forceinline__ void record(const parts::SplitOperand& x, unsigned,
                                         parts::PrecisionLoss most) const {
    include_atomically(&x.loss->shapes, most,
                       [](parts::StoredLoss& both) -> unsigned& { return both.shapes; });
    include_atomically(&x.loss->sizes, most,
                       [](parts::StoredLoss& both) -> unsigned& { return both.sizes; });
  }
  __device__ __forceinline__ void poll() {
    seen = most_so_far(split);
  }  // asynchronous: the load is awaited later
  __device__ __forceinline__ bool should_stop() const { return !fits(split, seen); }
};

// The barrier between the split and the product: no block of the cluster uses the ring any more,
// and thread 0 has waited for the tickets of all blocks with wait(). Called by all threads.
template <class Config, class Wait>
__device__ __forceinline__ void join(const Wait& wait) {
  meet_cluster<Config>();
  if (threadIdx.x == 0) wait();
  ptx::named_barrier_together<2, TensorConfig::threads>();
  ptx::fence_async_proxy();
}

__global__ void clear(unsigned* words) {
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  words[threadIdx.x] = 0;
}

template <class Config>
__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ Maps halves, const __grid_constant__ Maps tf32, Gemm g,
             SplitGemm half_split, SplitGemm tf32_split, TileSchedule schedule) {
  auto& shared = *runtime::dynamic_shared<Shared<Config>>();
  auto& ring = shared.ring;
  if (threadIdx.x == 0) {
    ptx::prefetch_map(halves.a);
    ptx::prefetch_map(halves.b);
    ring.init(TensorConfig::consumers / 32 * Config::value.sharers);
  }
  begin_cluster<Config>();
  ptx::allow_next_kernel();  // the next product's clear() may start, and waits
  ptx::wait_for_previous_kernel();

  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    const bool produces = threadIdx.x == TensorConfig::consumers;
    const auto nothing = [] {};
    join<Config>(nothing);
    if (fits(half_split, most_so_far(half_split))) {
      Producer<HalfPairs, Config> producer(ring, half_split, schedule);
      while (produces && producer.is_left()) producer.fetch_next(halves.a, halves.b);
    } else {
      join<Config>(nothing);
      Producer<Tf32Pairs, Config> producer(ring, tf32_split, schedule);
      while (produces && producer.is_left()) producer.fetch_next(tf32.a, tf32.b);
    }
    join_cluster_barriers<Config>();
  } else {
    ptx::take_registers<232>();
    parts::RingPlace<Config::Ring::kStages> at;
    CountingSplitSync sync(half_split);
    split_by_tickets<HalfPairs>(half_split, &shared.ticket, ring.a, sync);
    join<Config>([&] { wait_for_tickets<HalfPairs>(half_split); });
    if (__all_sync(0xffffffffu, fits(half_split, most_so_far(half_split)))) {
      consume<HalfPairs, Config>(ring, g, half_split, schedule, at);
    } else {
      SplitSync again;
      split_by_tickets<Tf32Pairs>(tf32_split, &shared.ticket, ring.a, again);
      join<Config>([&] { wait_for_tickets<Tf32Pairs>(tf32_split); });
      consume<Tf32Pairs, Config>(ring, g, tf32_split, schedule, at);
    }
  }
  end_cluster<Config>();
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  SplitGemm halves =
      split_in_workspace<HalfPairs>(g, trans_a, trans_b, *stream.machine, SplitPass::by_tickets);
  const SplitGemm tf32 =
      split_in_workspace<Tf32Pairs>(g, trans_a, trans_b, *stream.machine, SplitPass::by_tickets);
  halves.a.loss = &halves.state->most[0];
  halves.b.loss = &halves.state->most[1];
  runtime::launch(stream, {dim3(1), dim3(kSplitStateWords), 0, 1, true}, clear,
                  reinterpret_cast<unsigned*>(halves.state));
  with_tensor_config(g, halves.depth, *stream.machine, [&]<TensorConfig config>() {
    using Config = ConfigType<config>;
    const auto maps = [&](const SplitGemm& split) {
      return Maps{a_map_of<config>(split, stream), b_map_of<config>(split, stream)};
    };
    launch_tiles<config>(g, sizeof(Shared<Config>), stream, multiply<Config>, maps(halves),
                         maps(tf32), g, halves, tf32);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_tiles<HalfPairs>(p, machine, 4, Operands::both, SplitPass::by_tickets);
}

}  // namespace

WARPLADDER_RUNG(tc_12_fused_split) = {
    .idea = "the product's blocks split the operands, and stop where FP16 fails",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
