#pragma once
// The kernel of row_26_small_tiles. A CTA's tiles of k pass through a ring in shared memory,
// brought there by asynchronous copies, which also turn operands that lie along k.

#include "ops/sgemm/ring_slices.hpp"
#include "ops/sgemm/rung_batch_slices.hpp"
#include "ops/sgemm/rung_parity_kernel.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What all threads copy of an operand. Of kOuter lines of length k (A's rows, B's columns) that is
// kDepth of k at a time, laid down as tile[k][line].
// kAlong: neighbours in memory are neighbours in k. They are copied word by word, eight of a line
// at once, into eight rows of the tile, whose stride keeps them on different banks.
// Else kVector neighbours of a row of the tile are copied at once, 4 or 1. Four need 16-byte
// alignment of data and ld, and `lines` a multiple of 4.
template <int kOuter, int kDepth, int kThreads, bool kAlong, int kVector>
class RingCopy {
 public:
  static constexpr int stride = kOuter + (kAlong ? 4 : 0);

  // The lines from line0 < lines on. Beyond `lines` the last one is copied again: what comes of it
  // lies outside C and is never stored, and no copy needs a condition.
  __device__ __forceinline__ RingCopy(const float* data, std::int64_t ld, std::int64_t lines,
                                      std::int64_t line0)
      : ld_(ld) {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPointers; ++p) {
      const std::int64_t last = lines - (kAlong ? 1 : kVector);
      const std::int64_t wanted = line0 + line(p), l = wanted < last ? wanted : last;
      at_[p] = data + (kAlong ? l * ld + depth(0) : depth(0) * ld + l);
    }
  }

  // The next `depths` ≤ kDepth of k, and zeros after them. A constant kDepth costs no comparison.
  __device__ __forceinline__ void copy(float (*tile)[stride], int depths) {
    if (kSpare && across() >= kAll) return;
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPointers; ++p) {
      const float* from = at_[p];
      WARPLADDER_UNROLL_ON_GPU
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

template <class C, bool kARows, bool kBRows, int kOfA, int kOfB>
struct RingOperands {
  using ACopy = RingCopy<C::rows, C::depth, C::threads, kARows, kOfA>;
  using BCopy = RingCopy<C::columns, C::depth, C::threads, !kBRows, kOfB>;
  struct Stage {
    float a[C::depth][ACopy::stride];
    float b[C::depth][BCopy::stride];
  };
};

// kOfA, kOfB: elements that are copied at once.
template <class C, bool kARows, bool kBRows, int kOfA, int kOfB>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_in_ring(BatchSlices batch) {
  using Operands = RingOperands<C, kARows, kBRows, kOfA, kOfB>;
  __shared__ __align__(16) typename Operands::Stage ring[C::stages];
  const auto [g, row0, column0, vectors] = part_of_block<C, kARows, kBRows, 1>(batch);
  const ParityPlace at = parity_place<C>(threadIdx.x % C::group_threads);
  constexpr int kSteps = C::depth / C::groups,  // of k, of a group
      kFloats = C::stages * sizeof(typename Operands::Stage) / sizeof(float);
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
    // Loaded here alone. double_buffered() loads them at the end of the loop for the next tile, and
    // ahead of the loop for the first. With that ptxas 13.0 waits for the wrong one.
    sums.load(ring[reads].a, ring[reads].b, at, first, 0);
    if (t + C::stages - 1 < tiles) copy(writes, C::depth);
    ptx::cp_async_commit();
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k + 1 < kSteps; ++k) {
      sums.load(ring[reads].a, ring[reads].b, at, first + k + 1, k + 1);
      of_parts.multiply(sums, k);
    }
    of_parts.multiply(sums, kSteps - 1);
    writes = reads;
    reads = reads + 1 == C::stages ? 0 : reads + 1;
  }
  of_parts.join(sums);
  ptx::allow_next_kernel();  // the join
  if constexpr (C::groups > 1) join_groups<C, kFloats>(sums, &ring[0].a[0][0]);
  store_part<C, parts::AsItIs>({g, row0, column0, vectors}, at, sums.sum, &ring[0].a[0][0],
                               first == 0);
}

// Each operand whose lines lie across k is copied as widely as it allows, whatever the other one
// does.
template <class C, bool kARows, bool kBRows>
auto ring_kernel(const Gemm& g, const Batch& batch) {
  constexpr int kMostOfA = kARows ? 1 : 4, kMostOfB = kBRows ? 4 : 1;
  const bool a = comes_by_fours(g.a, g.lda, g.m, batch.stride_a, batch),
             b = comes_by_fours(g.b, g.ldb, g.n, batch.stride_b, batch);
  return a && b ? multiply_in_ring<C, kARows, kBRows, kMostOfA, kMostOfB>
         : a    ? multiply_in_ring<C, kARows, kBRows, kMostOfA, 1>
         : b    ? multiply_in_ring<C, kARows, kBRows, 1, kMostOfB>
                : multiply_in_ring<C, kARows, kBRows, 1, 1>;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
