#pragma once
// The product of FP16 pairs. It changes to TF32 pairs where FP16 pairs do not suffice, and to FP32
// arithmetic where TF32 pairs do not either. tc_10 splits both operands in front of it, tc_14 only
// the one that was not prepared.

#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/main_loop.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/split_sync.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/register_share.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kJudges = 96;  // threads that decide, of the producer's warpgroup

template <class Config>
struct FullRangeShared {
  typename Config::Ring ring;
  ptx::Barrier gathered;   // all losses have been added up
  ptx::Barrier judged;     // and one thread has decided
  ptx::Barrier ring_free;  // without a cluster: the consumers have done with the ring
  unsigned ticket;
  parts::PrecisionLoss loss[2];  // of A, of B
  bool verdict;                  // FP16 pairs suffice

  // Called by one thread; a barrier of all users follows.
  __device__ __forceinline__ void init() {
    for (parts::PrecisionLoss& most : loss) most = {};
    ptx::barrier_init(&gathered, kJudges / 32);
    ptx::barrier_init(&judged, 1);
    ptx::barrier_init(&ring_free, 1);
    ring.init(TensorConfig::consumers / 32 * Config::value.sharers);
  }
  // Called by the judges once they have added up the losses. One decides, because the consumers
  // have no registers to spare for it.
  __device__ __forceinline__ void decide(const SplitGemm& halves, int judge) {
    if (judge % 32 == 0) ptx::arrive(&gathered);
    if (judge != 0) return;
    ptx::wait(&gathered, 0);
    verdict = parts::fits_half_pairs(halves.a, halves.b, loss);
    ptx::arrive(&judged);
  }
  // Whether FP16 pairs suffice, once the judges know it.
  __device__ __forceinline__ bool fits() {
    ptx::wait(&judged, 0);
    return verdict;
  }
};

// After the consumers have split by tickets, in the ring, no block of the cluster uses it any more.
// Producers and consumers come from different places, where __syncthreads(), which a cluster's
// barrier is in a kernel without one, must not be parted.
template <class Config>
__device__ __forceinline__ void leave_ring(FullRangeShared<Config>& shared) {
  if constexpr (Config::value.cluster() > 1) {
    meet_cluster<Config>();
  } else if (threadIdx.x == 0) {
    ptx::arrive(&shared.ring_free);
  }
}
template <class Config>
__device__ __forceinline__ void await_ring(FullRangeShared<Config>& shared) {
  if constexpr (Config::value.cluster() > 1) {
    meet_cluster<Config>();
  } else {
    ptx::wait(&shared.ring_free, 0);
  }
}

struct PairMaps {
  runtime::TensorMap a, b;
};

// While three warps add up the precision loss, the first chunks of FP16 pairs are multiplied. All
// loaded stages are consumed before the decision, so the ring is empty for either way on.
//
// The producer's warpgroup. gather(judge) adds up the losses in shared.loss.
template <class Config, class Gather>
__device__ __forceinline__ void produce_full_range(FullRangeShared<Config>& shared,
                                                   const PairMaps& halves, const PairMaps& tf32,
                                                   const SplitGemm& half_split,
                                                   const SplitGemm& tf32_split,
                                                   const TileSchedule& schedule,
                                                   const Gather& gather) {
  using parts::HalfPairs, parts::Tf32Pairs;
  auto& ring = shared.ring;
  const int judge = static_cast<int>(threadIdx.x) - (TensorConfig::threads - kJudges);
  Producer<HalfPairs, Config> producer(ring, half_split, schedule);
  const int undecided = undecided_chunks<Config>(schedule, chunks_of<HalfPairs>(half_split));
  ptx::wait_for_previous_kernel();
  if (judge >= 0) {
    gather(judge);
    shared.decide(half_split, judge);
    if (blockIdx.x == 0 && judge == 0) half_split.state->stop = 0;
  } else if (threadIdx.x == TensorConfig::consumers) {
    // Unrolled, its first pass would miss the instruction cache four times in a row.
    WARPLADDER_NO_UNROLL
    for (int group = 0; group < undecided * TensorConfig::groups; ++group) {
      producer.fetch_next(halves.a, halves.b);
    }
  }
  __syncwarp();
  if (shared.fits()) {
    if (threadIdx.x == TensorConfig::consumers) {
      while (producer.is_left()) producer.fetch_next(halves.a, halves.b);
    }
  } else {
    await_ring(shared);
    if (threadIdx.x == TensorConfig::consumers) {
      wait_for_tickets(tf32_split);
      Producer<Tf32Pairs, Config> again(ring, tf32_split, schedule, producer.place());
      while (again.is_left()) again.fetch_next(tf32.a, tf32.b);
    }
  }
  join_cluster_barriers<Config>();
}

// The consumers.
template <class Config>
__device__ __forceinline__ void consume_full_range(FullRangeShared<Config>& shared, const Gemm& g,
                                                   const SplitGemm& half_split,
                                                   const SplitGemm& tf32_split,
                                                   const TileSchedule& schedule) {
  using parts::HalfPairs, parts::Tf32Pairs;
  auto& ring = shared.ring;
  const auto fits = [&] { return shared.fits(); };
  ptx::wait_for_previous_kernel();
  parts::RingPlace<Config::Ring::kStages> at;
  consume<HalfPairs, Config>(ring, g, half_split, schedule, at, fits);
  if (!fits()) {
    SplitSync sync;
    sync();  // both warpgroups have finished with the ring
    split_by_tickets<Tf32Pairs>(tf32_split, &shared.ticket, ring.a, sync);
    leave_ring(shared);
    if (threadIdx.x == 0) wait_for_tickets(tf32_split);
    sync.converged();  // all tickets are done
    consume<Tf32Pairs, Config>(ring, g, tf32_split, schedule, at);
  }
}

template <TensorConfig config>
PairMaps maps_of(const SplitGemm& split, runtime::StreamView& stream) {
  return {a_map_of<config>(split, stream), b_map_of<config>(split, stream)};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
