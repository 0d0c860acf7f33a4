#pragma once
// Counts what FP16 pairs lose of an operand, over pieces of 256 elements, and decides whether they
// suffice. parts/split.hpp derives the rule.

#include "parts/split/operand.hpp"
#include "parts/split/range.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Counts elements: `small` ones lose bits, `large` ones are at least 2^-8 of the line's largest.
struct LossCount {
  unsigned small = 0, large = 0;
  __device__ __forceinline__ void add(const float (&x)[8], unsigned largest) {
    const unsigned of_small = largest > (17u << 23) ? (largest & 0x7f800000u) - (16u << 23) : 0u,
                   of_large = largest > (9u << 23) ? (largest & 0x7f800000u) - (8u << 23) : 1u;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) {
      const unsigned bits = magnitude_bits(x[i]);
      small += bits - 1u < of_small - 1u && of_small ? 1u : 0u;
      large += bits >= of_large ? 1u : 0u;
    }
  }
};

// A cheaper count, of the halves hi: how many are large, and whether one may be small. The line's
// scale has brought its largest element between 2^14 and 2^15.
struct QuickCount {
  unsigned all_above = ~0u, large = 0;
  __device__ __forceinline__ void add(const unsigned (&hi)[4]) {
    constexpr unsigned kSmall = 0x3400, kLarge = 0x5400;  // 2^-2 and 2^6 as halves' bits
    unsigned marks = 0;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const unsigned both =
          hi[i] & 0x7fff7fffu;  // an addition sets a half's top bit if it is larger
      all_above &= both + (0x8000u - kSmall) * 0x10001u;
      marks |= ((both + (0x8000u - kLarge) * 0x10001u) & 0x80008000u) >> i;
    }
    large += __popc(marks);
  }
  __device__ __forceinline__ bool may_be_small() const {
    return (all_above & 0x80008000u) != 0x80008000u;
  }
};

// The loss of a line before its elements are counted. in_operand: the line exists.
__device__ __forceinline__ PrecisionLoss loss_of_line(bool in_operand, unsigned largest) {
  PrecisionLoss loss;
  if (in_operand && largest != 0 && !in_reach_of_halves(largest)) {
    loss.small = PrecisionLoss::kUnrepresentable;
  }
  return loss;
}

// Includes a part of kPart elements, scaled up to a piece of 256.
template <int kPart>
__device__ __forceinline__ void include_whole(PrecisionLoss& loss, unsigned small, unsigned large) {
  loss.small = max(loss.small, small * (kSplitPiece / kPart));
  loss.far = max(loss.far, (kPart - large) * (kSplitPiece / kPart));
}

// Includes the last `length` elements of a line of k, fewer than kPart. If whole pieces precede
// them, `far` counts those only.
template <int kPart>
__device__ __forceinline__ void include_rest(PrecisionLoss& loss, const LossCount& count,
                                             std::int64_t k, int length) {
  const auto of = static_cast<unsigned>(length);
  const bool follows_whole = k >= kSplitPiece;
  const auto of_256 = [&](unsigned n) { return follows_whole ? n : (n * 256u + of - 1) / of; };
  loss.small = max(loss.small, of_256(count.small));
  if (!follows_whole) loss.far = max(loss.far, of_256(of - count.large));
}

// Whether FP16 pairs suffice, given the sum of both operands' losses. One operand's loss alone can
// rule them out.
__device__ __forceinline__ bool fits_half_pairs(PrecisionLoss sum) {
  return sum.small == 0 || 4 * sum.small + sum.far <= 256;
}

// How the threads of the pass synchronise where they are the block's only threads. Other kernels
// that run the pass bring a type of their own: see split_by_tickets().
struct BlockSplitSync {
  bool skips = false;  // FP16 pairs do not suffice: leave the operand as it is

  // Called by all threads of a block that does not belong to the first wave.
  __device__ __forceinline__ void vote(const SplitOperand& x) {
    skips = __syncthreads_or(__ldcg(x.stop) == kStop);
  }
  __device__ __forceinline__ void operator()() const { __syncthreads(); }
  // Called by one thread with the block's loss. If that is too much, later blocks skip their work.
  __device__ __forceinline__ void record(const SplitOperand& x, unsigned block,
                                         PrecisionLoss most) const {
    if (skips) most.small = PrecisionLoss::kUnrepresentable;
    x.loss[block] = most;
    if (x.stop && !fits_half_pairs(most)) atomicExch(x.stop, kStop);
  }
};

// Records the maximum over all threads' losses. Called by all threads.
template <class Pairs, class Sync>
__device__ __forceinline__ void record_loss(const SplitOperand& x, unsigned block,
                                            PrecisionLoss own, unsigned (&of_warp)[2 * kSplitWarps],
                                            Sync& sync) {
  if (!Pairs::kCounted) return;
  const int warp = threadIdx.x / 32;
  const unsigned small = warp::greatest(own.small), far = warp::greatest(own.far);
  if (threadIdx.x % 32 == 0) {
    of_warp[2 * warp] = small;
    of_warp[2 * warp + 1] = far;
  }
  sync();  // all warps have written
  if (warp != 0) return;
  const int other = threadIdx.x % kSplitWarps;
  const PrecisionLoss most{warp::greatest(of_warp[2 * other]),
                           warp::greatest(of_warp[2 * other + 1])};
  if (threadIdx.x == 0) sync.record(x, block, most);
}

// Maxima over all blocks: a's small and far, b's small and far. b's losses follow a's in memory;
// `shared` is zero before. Called by kThreads threads in whole warps; readers wait for all of them.
template <int kThreads>
__device__ __forceinline__ void gather_losses(const SplitOperand& a, const SplitOperand& b,
                                              int thread, unsigned (&shared)[4]) {
  constexpr int kInFlight = 4;
  const unsigned blocks = a.blocks + b.blocks;
  unsigned most[4] = {};
  for (unsigned i0 = thread; i0 < blocks; i0 += kInFlight * kThreads) {
    PrecisionLoss of_block[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      if (i0 + u * kThreads < blocks) of_block[u] = a.loss[i0 + u * kThreads];
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const bool of_a = i0 + u * kThreads < a.blocks;
      most[0] = max(most[0], of_a ? of_block[u].small : 0);
      most[1] = max(most[1], of_a ? of_block[u].far : 0);
      most[2] = max(most[2], of_a ? 0 : of_block[u].small);
      most[3] = max(most[3], of_a ? 0 : of_block[u].far);
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int r = 0; r < 4; ++r) {
    const unsigned of_warp = warp::greatest(most[r]);
    if (thread % 32 == 0) atomicMax(&shared[r], of_warp);
  }
}

// The same where b's losses lie elsewhere, because the operands were split apart.
template <int kThreads>
__device__ __forceinline__ void gather_losses_apart(const SplitOperand& a, const SplitOperand& b,
                                                    int thread, unsigned (&shared)[4]) {
  SplitOperand first = a, second = b;
  second.blocks = 0;
  gather_losses<kThreads>(first, second, thread, shared);
  first.blocks = 0, second.blocks = b.blocks;
  first.loss = b.loss;
  gather_losses<kThreads>(first, second, thread, shared);
}

// Whether FP16 pairs suffice for both operands.
__device__ __forceinline__ bool fits_half_pairs(const unsigned (&most)[4]) {
  return fits_half_pairs(PrecisionLoss{most[0] + most[2], most[1] + most[3]});
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
