// Bound before: FP16 pairs do not hold every number. tc_09 is silently wrong if the elements of a
// row or column differ too much in magnitude, and for infinities.
//
// Idea: the split pass also counts precision loss (parts/split.hpp). While the first chunks are
// multiplied, three idle warps of every block add up the counts and decide. If FP16 pairs do not
// suffice, the blocks split the operands again, into TF32 pairs by tickets, and multiply those:
// half the rate, FP32's range. Rows and columns that TF32 pairs cannot represent either
// (infinities, NaN, too wide a range) are multiplied in FP32 arithmetic. The host learns nothing of
// it. Blocks of the pass leave early once some block has counted too much, by a word that the
// product clears.
//
// Prediction: where FP16 pairs suffice, tc_09's multiply-adds, bytes and barriers, with a vote in
// each block of the pass beyond the first wave. Sums are promoted every 32 of k instead of 64 for
// accuracy, which should cost 1 % at 4096³ and 6 % at 1024³. Measured on an H200, counting
// included: 610 instead of 596 µs (2 %), and 23.2 instead of 19.5 µs (19 %). Accepts: every
// problem. What binds it: what binds tc_09. For wide operands TF32's rate and the second
// split: 1.14 ms at 4096³.

#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/main_loop.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/split_sync.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
namespace {

using parts::HalfPairs, parts::Tf32Pairs;
constexpr int kJudges = 96;  // threads that decide, of the producer's warpgroup

template <class Config>
struct Shared {
  typename Config::Ring ring;
  ptx::Barrier judged;
  unsigned ticket;
  unsigned loss[4];  // maxima over both operands
};

struct Maps {
  runtime::TensorMap a, b;
};

template <class Config>
__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ Maps halves, const __grid_constant__ Maps tf32, Gemm g,
             SplitGemm half_split, SplitGemm tf32_split, TileSchedule schedule) {
  auto& shared = *runtime::dynamic_shared<Shared<Config>>();
  auto& ring = shared.ring;
  if (threadIdx.x == 0) {
    ptx::prefetch_map(halves.a);
    ptx::prefetch_map(halves.b);
    for (unsigned& most : shared.loss) most = 0;
    ptx::barrier_init(&shared.judged, kJudges / 32);
    ring.init(TensorConfig::consumers / 32 * Config::value.sharers);
  }
  begin_cluster<Config>();
  ptx::allow_next_kernel();  // the next product's pass may start, and waits
  const auto fits = [&] {
    ptx::wait(&shared.judged, 0);
    return parts::fits_half_pairs(shared.loss);
  };

  // While three warps add up the precision loss, the first chunks of FP16 pairs are multiplied. All
  // loaded stages are consumed before the decision, so the ring is empty for either way on.
  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    const int judge = static_cast<int>(threadIdx.x) - (TensorConfig::threads - kJudges);
    Producer<HalfPairs, Config> producer(ring, half_split, schedule);
    const int undecided = undecided_chunks<Config>(schedule, chunks_of<HalfPairs>(half_split));
    ptx::wait_for_previous_kernel();
    if (judge >= 0) {
      parts::gather_losses<kJudges>(half_split.a, half_split.b, judge, shared.loss);
      if (judge % 32 == 0) ptx::arrive(&shared.judged);
      if (blockIdx.x == 0 && judge == 0) half_split.state->stop = 0;
    } else if (threadIdx.x == TensorConfig::consumers) {
      // Unrolled, its first pass would miss the instruction cache four times in a row.
      WARPLADDER_NO_UNROLL
      for (int group = 0; group < undecided * TensorConfig::groups; ++group) {
        producer.fetch_next(halves.a, halves.b);
      }
    }
    __syncwarp();
    if (fits()) {
      if (threadIdx.x == TensorConfig::consumers) {
        while (producer.is_left()) producer.fetch_next(halves.a, halves.b);
      }
    } else {
      meet_cluster<Config>();
      if (threadIdx.x == TensorConfig::consumers) {
        wait_for_tickets<Tf32Pairs>(tf32_split);
        Producer<Tf32Pairs, Config> again(ring, tf32_split, schedule, producer.place());
        while (again.is_left()) again.fetch_next(tf32.a, tf32.b);
      }
    }
    join_cluster_barriers<Config>();
  } else {
    ptx::take_registers<232>();
    ptx::wait_for_previous_kernel();
    parts::RingPlace<Config::Ring::kStages> at;
    consume<HalfPairs, Config>(ring, g, half_split, schedule, at, fits);
    if (!fits()) {
      SplitSync sync;
      sync();  // both warpgroups have finished with the ring
      split_by_tickets<Tf32Pairs>(tf32_split, &shared.ticket, ring.a, sync);
      meet_cluster<Config>();  // no block of the cluster uses the ring any more
      if (threadIdx.x == 0) wait_for_tickets<Tf32Pairs>(tf32_split);
      sync.converged();  // all tickets are done
      consume<Tf32Pairs, Config>(ring, g, tf32_split, schedule, at);
    }
  }
  end_cluster<Config>();
}

void launch_multiply(const Gemm& g, bool trans_a, bool trans_b, const SplitGemm& halves,
                     runtime::StreamView& stream) {
  const SplitGemm tf32 =
      split_in_workspace<Tf32Pairs>(g, trans_a, trans_b, *stream.machine, SplitPass::by_tickets);
  with_tensor_config(g, halves.depth, *stream.machine, [&]<TensorConfig config>() {
    using Config = ConfigType<config>;
    const auto maps = [&](const SplitGemm& split) {
      return Maps{a_map_of<config>(split, stream), b_map_of<config>(split, stream)};
    };
    launch_tiles<config>(g, sizeof(Shared<Config>), stream, multiply<Config>, maps(halves),
                         maps(tf32), g, halves, tf32);
  });
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  launch_multiply(g, trans_a, trans_b, launch_split<HalfPairs>(g, trans_a, trans_b, stream),
                  stream);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_tiles<HalfPairs>(p, machine, 2);
}

}  // namespace

WARPLADDER_RUNG(tc_10_full_range) = {
    .idea = "TF32 pairs where FP16 pairs do not fit, decided on the device",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
