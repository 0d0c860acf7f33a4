#pragma once
// The kernel of row_26_small_tiles: a CTA's tiles of k pass through a ring in shared memory,
// brought there by asynchronous copies, which also turn operands that lie along k.

#include "ops/sgemm/ring_slices.hpp"
#include "ops/sgemm/rung_batch_slices.hpp"
#include "ops/sgemm/rung_parity_kernel.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What all threads copy of an operand: of kOuter lines of length k (A's rows, B's columns), kDepth
// of k at a time, laid down as tile[k][line].
// kAlong: neighbours in memory are neighbours in k. They are copied word by word, eight of a line
// at once, into eight rows of the tile, whose stride keeps them on different banks.
// Else kVector neighbours of a row of the tile are copied at once: 4, which needs 16-byte alignment
// of data and ld, and `lines` a multiple of 4; or 1.
template <int kOuter, int kDepth, int kThreads, bool kAlong, int kVector>
class RingCopy {
 public:
  static constexpr int stride = kOuter + (kAlong ? 4 : 0);

  // The lines from line0 < lines on. Beyond `lines` the last one is copied again: what comes of it
  // lies outside C and is never stored, and no copy needs a condition.
  __device__ __forceinline__ RingCopy(const float* data, std::int64_t ld, std::int64_t lines,
                                      std::int64_t line0)
      : ld_(ld) {
    WARPLADDER_UNROLL
    for (int p = 0; p < kPointers; ++p) {
      const std::int64_t last = lines - (kAlong ? 1 : kVector);
      const std::int64_t wanted = line0 + line(p), l = wanted < last ? wanted : last;
      at_[p] = data + (kAlong ? l * ld + depth(0) : depth(0) * ld + l);
    }
  }

  // The next `depths` ≤ kDepth of k, and zeros after them. A constant kDepth costs no comparison.
  __device__ __forceinline__ void copy(float (*tile)[stride], int depths) {
    if (kSpare && across() >= kAll) return;
    WARPLADDER_UNROLL
    for (int p = 0; p < kPointers; ++p) {
      const float* from = at_[p];
      WARPLADDER_UNROLL
      for (int d = 0; d < kDepths; ++d) {
        const int k = depth(d);
        const bool there = depths == kDepth || k < depths;
        ptx::cp_async<4 * kWidth>(&tile[k][line(p)], from, there ? 4 * kWidth : 0);
        from += kAlong ? kNext : kNext * ld_;
      }
      at_[p] += kAlong ? depths : depths * ld_;
    }
  }

 private:
  static constexpr int kWidth = kAlong ? 1 : kVector, kAtOnce = 8,
                       kLine = kAlong ? kAtOnce : kOuter / kWidth,  // threads of a line in memory
      kAcross = kThreads / kLine, kAll = kAlong ? kOuter : kDepth;  // lines in memory
  static constexpr bool kSpare = kAcross > kAll;                    // not all threads copy
  static constexpr int kPieces = kSpare ? 1 : kAll / kAcross;
  static_assert(kThreads % kLine == 0 && (kSpare || kPieces * kAcross == kAll));
  static constexpr int kNext = kAlong ? kAtOnce : kAcross,  // of k, from a copy to the next
      kDepths = kAlong ? kDepth / kAtOnce : kPieces, kPointers = kAlong ? kPieces : 1;
  __device__ __forceinline__ static int along() { return threadIdx.x % kLine * kWidth; }
  __device__ __forceinline__ static int across() { return threadIdx.x / kLine; }
  __device__ __forceinline__ static int line(int p) {
    return kAlong ? p * kAcross + across() : along();
  }
  __device__ __forceinline__ static int depth(int d) {
    return d * kNext + (kAlong ? along() : across());
  }

  const float* at_[kPointers];
  std::int64_t ld_;
};

template <class C, bool kARows, bool kBRows, int kVector>
struct RingOperands {
  using ACopy = RingCopy<C::rows, C::depth, C::threads, kARows, kVector>;
  using BCopy = RingCopy<C::columns, C::depth, C::threads, !kBRows, kVector>;
  struct Stage {
    float a[C::depth][ACopy::stride];
    float b[C::depth][BCopy::stride];
  };
};

// A sum of all k loses more than cublasSgemm's, whose warps share k where tiles are small. So a
// thread sums parts of k apart, where C::parted says so.
template <class C>
class PartsOfSums {
 public:
  static constexpr int part = 8;  // of k

  __device__ __forceinline__ static void begin(ParitySums<C>& sums) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kAll; ++i) sums[i] = 0;
  }
  __device__ __forceinline__ void end(const ParitySums<C>& sums) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kAll; ++i) sum_[i] += sums[i];
  }
  __device__ __forceinline__ void join(ParitySums<C>& sums) const {
    WARPLADDER_UNROLL
    for (int i = 0; i < kAll; ++i) sums[i] = sum_[i];
  }

 private:
  static constexpr int kCount = C::thread_rows * C::thread_columns, kAll = C::parted ? kCount : 0;
  float sum_[kCount] = {};
};

// Adds up what the groups of warps have summed, in the first of them. `sums`: shared memory that
// other threads may still read.
template <class C>
__device__ __forceinline__ void join_groups(ParitySums<C>& own, float* sums) {
  constexpr int kCount = C::thread_rows * C::thread_columns;
  const int thread = threadIdx.x % C::group_threads, group = threadIdx.x / C::group_threads;
  const auto place = [&](int of, int i) {
    return &sums[(of * kCount + i) * C::group_threads + thread];
  };
  __syncthreads();  // all threads have read the last tile
  WARPLADDER_UNROLL
  for (int i = 0; i < kCount; ++i) {
    if (group > 0) *place(group - 1, i) = own[i];
  }
  __syncthreads();  // the sums are there
  if (group > 0) return;
  WARPLADDER_UNROLL
  for (int of = 0; of + 1 < C::groups; ++of) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kCount; ++i) {
      own[i] += *place(of, i);
    }
  }
}

template <class C, bool kARows, bool kBRows, int kVector>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_in_ring(BatchSlices batch) {
  using Operands = RingOperands<C, kARows, kBRows, kVector>;
  __shared__ __align__(16) typename Operands::Stage ring[C::stages];
  const auto [g, row0, column0, vectors] = part_of_block<C, kARows, kBRows, kVector>(batch);
  const ParityPlace at = parity_place<C>(threadIdx.x % C::group_threads);
  constexpr int kSteps = C::depth / C::groups;  // of k, of a group
  const int first = threadIdx.x / C::group_threads * kSteps;
  typename Operands::ACopy a(g.a, g.lda, g.m, row0);
  typename Operands::BCopy b(g.b, g.ldb, g.n, column0);
  const int tiles = static_cast<int>((g.k + C::depth - 1) / C::depth);
  const auto copy = [&](int stage, int depths) {
    a.copy(ring[stage].a, depths);
    b.copy(ring[stage].b, depths);
  };
  WARPLADDER_UNROLL
  for (int t = 0; t + 1 < C::stages; ++t) {
    // Only the first tile is ragged.
    if (t < tiles) copy(t, t > 0 ? C::depth : static_cast<int>((g.k - 1) % C::depth) + 1);
    ptx::cp_async_commit();
  }
  ParitySums<C> sums;
  PartsOfSums<C> of_parts;
  int reads = 0, writes = C::stages - 1;
  WARPLADDER_NO_UNROLL
  for (int t = 0; t < tiles; ++t) {
    ptx::cp_async_wait<C::stages - 2>();
    __syncthreads();  // the tile is whole, and nobody reads the one before
    // Loaded here alone. Where the end of the loop loads them for the next tile, as
    // double_buffered() does, and a load ahead of the loop those of the first, ptxas 13.0 waits for
    // the wrong one.
    sums.load(ring[reads].a, ring[reads].b, at, first, 0);
    if (t + C::stages - 1 < tiles) copy(writes, C::depth);
    ptx::cp_async_commit();
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k + 1 < kSteps; ++k) {
      sums.load(ring[reads].a, ring[reads].b, at, first + k + 1, k + 1);
      if (k % PartsOfSums<C>::part == 0) of_parts.begin(sums);
      sums.multiply(k);
      if ((k + 1) % PartsOfSums<C>::part == 0) of_parts.end(sums);
    }
    sums.multiply(kSteps - 1);
    of_parts.end(sums);
    writes = reads;
    reads = reads + 1 == C::stages ? 0 : reads + 1;
  }
  of_parts.join(sums);
  ptx::allow_next_kernel();  // the join
  if constexpr (C::groups > 1) join_groups(sums, &ring[0].a[0][0]);
  store_part<C, parts::AsItIs>({g, row0, column0, vectors}, at, sums.sum, &ring[0].a[0][0],
                               first == 0);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
