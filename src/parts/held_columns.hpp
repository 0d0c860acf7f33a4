#pragma once
// The first columns of x, held in the shared memory of a cluster's blocks: a load from there asks
// nothing of the L2 cache.

#include "parts/ptx/cache_policy.hpp"
#include "parts/ptx/cluster.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Lines of 32 columns go to the kBlocks blocks of a cluster in turn. So neighbouring columns, if
// many rows ask for them, are not all asked of one block. Each has kEach of them.
template <int kBlocks, int kEach>
struct HeldColumns {
  static constexpr unsigned kLine = 32, kRound = kBlocks * kLine;
  static_assert(kEach % kLine == 0 && (kBlocks & (kBlocks - 1)) == 0);

  const float* x;
  float *shared, *own;
  unsigned count;  // columns below this are held

  // `place`: room for kEach columns in dynamic shared memory, aligned to 16 bytes. `own` is the
  // same as mapa gives it, which the compiler keeps rather than makes anew for each load.
  __device__ __forceinline__ HeldColumns(const float* from, float* place, std::int64_t columns)
      : x(from),
        shared(place),
        own(ptx::in_block(place, ptx::cluster_rank())),
        count(static_cast<unsigned>(columns < kBlocks * kEach ? columns : kBlocks * kEach)) {}

  // Copies the block's columns. Called by all kThreads threads; they are there for the cluster
  // after a cluster barrier.
  template <int kThreads>
  __device__ __forceinline__ void fill() const {
    constexpr int kInFlight = 6;
    const unsigned first = ptx::cluster_rank() * kLine;
    const bool aligned = reinterpret_cast<std::uintptr_t>(x) % 16 == 0;
    WARPLADDER_NO_UNROLL
    for (unsigned slot0 = 4 * threadIdx.x; slot0 < kEach; slot0 += 4 * kThreads * kInFlight) {
      float4 four[kInFlight];
      WARPLADDER_UNROLL
      for (int u = 0; u < kInFlight; ++u) {
        const unsigned slot = slot0 + u * 4 * kThreads,
                       column = slot / kLine * kRound + first + slot % kLine,
                       left = slot < kEach && column < count ? count - column : 0;
        if (aligned && left >= 4) {
          four[u] = *reinterpret_cast<const float4*>(x + column);
        } else {
          four[u] = make_float4(left > 0 ? x[column] : 0.0f, left > 1 ? x[column + 1] : 0.0f,
                                left > 2 ? x[column + 2] : 0.0f, left > 3 ? x[column + 3] : 0.0f);
        }
      }
      WARPLADDER_UNROLL
      for (int u = 0; u < kInFlight; ++u) {
        const unsigned slot = slot0 + u * 4 * kThreads;
        if (slot < kEach) *reinterpret_cast<float4*>(shared + slot) = four[u];
      }
    }
  }

  // Asks for x of some columns, each in one of two places, and leaves zero in the other.
  template <int kItems>
  __device__ __forceinline__ void ask(const int (&columns)[kItems], float (&of_cluster)[kItems],
                                      float (&of_memory)[kItems]) const {
    const std::uint64_t policy = ptx::evict_last();
    WARPLADDER_UNROLL
    for (int u = 0; u < kItems; ++u) {
      const auto column = static_cast<unsigned>(columns[u]);
      const bool is_held = column < count;
      const unsigned slot = (column / kBlocks & ~(kLine - 1)) | column % kLine;
      of_cluster[u] = is_held ? *ptx::in_block(own + slot, column / kLine % kBlocks) : 0.0f;
      of_memory[u] = ptx::load_kept_with(policy, x + column, !is_held);
    }
  }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
