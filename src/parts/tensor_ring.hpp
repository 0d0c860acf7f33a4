#pragma once
// The main loop of a tensor-core product with a ring of stages in shared memory. A producer thread
// has the copy engine fill stages; consumer warpgroups multiply and release them. A stage holds one
// group of float pairs (float_pairs.hpp) along k, of block_m rows of A and block_n columns of B.

#include "parts/float_pairs.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/wgmma.hpp"
#include "parts/ring_place.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// In shared memory, at a multiple of 1,024 bytes.
template <int kBlockM, int kBlockN, int kStages_>
struct TileRing {
  static constexpr int kStages = kStages_, kABytes = kBlockM * 128, kBBytes = kBlockN * 128;
  unsigned char a[kStages][kABytes];
  unsigned char b[kStages][kBBytes];
  ptx::Barrier full[kStages];   // the copy engine's bytes have arrived
  ptx::Barrier empty[kStages];  // the consumers have read the stage

  // Called by one thread; a barrier of all users follows.
  __device__ __forceinline__ void init(unsigned consumers) {
    for (int s = 0; s < kStages; ++s) {
      ptx::barrier_init(&full[s], 1);
      ptx::barrier_init(&empty[s], consumers);
    }
    ptx::fence_barrier_init();
  }
};

// Tells the producers of the first `cluster` blocks that this warp has read the stage. `now` =
// false: do nothing. A branch around the call would hide from ptxas that the warp is converged.
template <class Ring>
__device__ __forceinline__ void release_stage(Ring& ring, int stage, int cluster, bool now = true) {
  const int lane = threadIdx.x % 32;
  if (cluster > 1) {
    if (lane < (now ? cluster : 0)) ptx::arrive_at(&ring.empty[stage], lane);
  } else {
    if (lane == (now ? 0 : 32)) ptx::arrive(&ring.empty[stage]);
  }
}

// sums += the products of the next kGroups groups, for the warpgroup's kTiles tiles of 64 rows from
// `a_row` on. The tensor cores' adder truncates, so it adds up only these groups, from zero, the
// small products first; FP32 additions do the rest (promotion). The first kBytes of 64 along k of
// each group are multiplied. Warps release the stages, except for the last one if `keeps_last`.
template <class Pairs, int kGroups, int kBytes = 64, class Ring, int kTiles, int kCount>
__device__ __forceinline__ void add_groups(Ring& ring, RingPlace<Ring::kStages>& place, int a_row,
                                           int cluster, float (&sums)[kTiles][kCount],
                                           bool keeps_last = false) {
  const ptx::TileDescriptor a_ring = ptx::tile_descriptor(ring.a[0] + a_row * 128),
                            b_ring = ptx::tile_descriptor(ring.b[0]);
  const auto begin = place;
  float part[kCount];
  WARPLADDER_UNROLL_ON_GPU
  for (int t = 0; t < kTiles; ++t) {
    const auto a_of = [&](int stage) {
      return ptx::behind(a_ring, stage * Ring::kABytes + t * 8192);
    };
    const auto b_of = [&](int stage) { return ptx::behind(b_ring, stage * Ring::kBBytes); };
    auto at = begin;
    WARPLADDER_UNROLL_ON_GPU
    for (int g = 0; g < kGroups; ++g, at.advance()) {
      if (t == 0) ptx::wait(&ring.full[at.stage], at.parity);
      // Without this fence behind the wait loop ptxas adds its own, and may wait for each product.
      if (t == 0 || g == 0) ptx::wgmma_fence();
      multiply_small<Pairs, kBytes>(part, a_of(at.stage), b_of(at.stage), g > 0);
    }
    place = at;
    at = begin;
    WARPLADDER_UNROLL_ON_GPU
    for (int g = 0; g < kGroups; ++g, at.advance()) {
      multiply_large<Pairs, kBytes>(part, a_of(at.stage), b_of(at.stage));
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(part);
    if (t == kTiles - 1) {  // the stages may be refilled
      at = begin;
      WARPLADDER_UNROLL_ON_GPU
      for (int g = 0; g < kGroups; ++g, at.advance()) {
        release_stage(ring, at.stage, cluster, g < kGroups - 1 || !keeps_last);
      }
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kCount; ++i) sums[t][i] += part[i];
  }
}

// The same for the next group, more accurate. It takes all four products, at most 32 bytes along k
// in the tensor cores' adder, and Kahan summation: `lost` keeps what FP32 rounded away.
template <class Pairs, class Ring, int kCount>
__device__ __forceinline__ void add_group_kahan(Ring& ring, RingPlace<Ring::kStages>& place,
                                                int a_row, float (&sums)[kCount],
                                                float (&lost)[kCount]) {
  const ptx::TileDescriptor a = ptx::behind(ptx::tile_descriptor(ring.a[0] + a_row * 128),
                                            place.stage * Ring::kABytes),
                            b = ptx::behind(ptx::tile_descriptor(ring.b[0]),
                                            place.stage * Ring::kBBytes);
  constexpr int kHalf = kCount / 2;  // half of the columns at a time, to save registers
  ptx::wait(&ring.full[place.stage], place.parity);
  WARPLADDER_UNROLL_ON_GPU
  for (int first = 0; first < kCount; first += kHalf) {
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 64; step += 32) {
      float part[kHalf];
      ptx::wgmma_fence();
      multiply_step<Pairs>(part, a, ptx::behind(b, 2 * first * 128), step);
      ptx::wgmma_commit();
      ptx::wgmma_wait<0>();
      ptx::pin(part);
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kHalf; ++i) {
        const float more = part[i] - lost[first + i], sum = sums[first + i] + more;
        lost[first + i] = sum - sums[first + i] - more;
        sums[first + i] = sum;
      }
    }
  }
  if (threadIdx.x % 32 == 0) ptx::arrive(&ring.empty[place.stage]);
  place.advance();
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
