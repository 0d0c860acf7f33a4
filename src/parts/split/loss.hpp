#pragma once
// Counts what FP16 pairs lose of an operand, and decides whether they suffice. parts/split.hpp
// derives the rule.

#include "parts/split/operand.hpp"
#include "parts/split/range.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Of a line's elements, or of some of them: how many have which magnitude beside the binade of the
// line's largest. `small`, `tiny`: nonzero ones below 2^-16 and 2^-18 of it.
struct LossCount {
  // Far more than there are elements, also if eight warps add it.
  static constexpr unsigned kUncounted = 1u << 28;

  unsigned from8 = 0;            // at least 2^-8
  unsigned below18 = 0;          // below 2^-18: zeros too. kUncounted: the line does not count
  unsigned small = 0, tiny = 0;  // kUncounted: no FP16 pair can hold the line

  // Counts what the quick count leaves open. Elements are FP32 bits, as is the line's largest.
  __device__ __forceinline__ void add_small(const float (&x)[8], unsigned largest) {
    const unsigned binade = largest & 0x7f800000u, least = 19u << 23,
                   of_small = binade >= least ? binade - (16u << 23) : 1u,
                   of_tiny = binade >= least ? binade - (18u << 23) : 1u;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) {
      const unsigned bits = magnitude_bits(x[i]);
      small += bits - 1u < of_small - 1u ? 1u : 0u;
      tiny += bits - 1u < of_tiny - 1u ? 1u : 0u;
      below18 += bits < of_tiny ? 1u : 0u;
    }
  }
  __device__ __forceinline__ void add(const LossCount& more) {
    from8 += more.from8, below18 += more.below18;
    small += more.small, tiny += more.tiny;
  }
  // Adds what the other lanes have, of a warp or of each kLanes of it.
  template <int kLanes>
  __device__ __forceinline__ void add_of_lanes() {
    const auto sum = [](unsigned own) {
      if constexpr (kLanes == 32) return warp::sum(own);
      return warp::reduce<kLanes>(own, warp::Sum());
    };
    from8 = sum(from8), below18 = sum(below18), small = sum(small), tiny = sum(tiny);
  }
  // A line of zeros, or none at all, counts for nothing.
  __device__ __forceinline__ void set_line(bool in_operand, unsigned largest) {
    if (!in_operand || largest == 0) {
      *this = {};
      below18 = kUncounted;
    } else if (!in_reach_of_halves(largest)) {
      small = tiny = kUncounted;
    }
  }
};

// The cheap part of the count, of the halves hi: how many are large, and whether one may be small.
// The line's scale has brought its largest element between 2^14 and 2^15.
struct QuickCount {
  unsigned all_above = ~0u, from8 = 0;
  // `ignored`: all bits if small elements are counted anyway, else none.
  __device__ __forceinline__ void add(const unsigned (&hi)[4], unsigned ignored = 0) {
    constexpr unsigned k16 = 0x3400, k8 = 0x5400;  // 2^-2 and 2^6 as halves' bits
    unsigned marks = 0;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const unsigned both =
          hi[i] & 0x7fff7fffu;  // an addition sets a half's top bit if it is as large
      all_above &= (both + (0x8000u - k16) * 0x10001u) | ignored;
      marks |= ((both + (0x8000u - k8) * 0x10001u) & 0x80008000u) >> i;
    }
    from8 += __popc(marks);
  }
  __device__ __forceinline__ bool may_be_small() const {
    return (all_above & 0x80008000u) != 0x80008000u;
  }
};

// Shares of a part's elements, rounded up: in 255ths, and as the upper half of a float. `one` is
// the share of an element.
__device__ __forceinline__ unsigned share_of_255(unsigned count, float one) {
  const auto whole = static_cast<unsigned>(255.0f * one * static_cast<float>(count));
  return count == 0 ? 0u : (whole < 255 ? whole + 1 : 255u);
}
__device__ __forceinline__ unsigned share_code(unsigned count, float one) {
  return count == 0 ? 0u : (__float_as_uint(one * static_cast<float>(count)) >> 16) + 1;
}

// The loss of a line, or of a block's part of it, from its counts. A part of fewer than 256
// elements behind others is their rest: its elements count as if they were 256, the lossy ones
// alone.
__device__ __forceinline__ PrecisionLoss loss_of(const LossCount& count, unsigned length,
                                                 bool is_rest) {
  PrecisionLoss loss;
  if (count.below18 >= LossCount::kUncounted || length == 0) return loss;
  if (count.tiny >= LossCount::kUncounted) return PrecisionLoss::unrepresentable();
  const float one = 1.0f / static_cast<float>(is_rest ? kSplitPiece : length);
  loss.small = share_code(count.small, one);
  loss.tiny = share_code(count.tiny, one);
  if (is_rest) return loss;
  loss.below8 = share_of_255(length - count.from8, one);
  loss.below18 = share_of_255(count.below18, one);
  return loss;
}

// Whether FP16 pairs suffice for a product, given both operands' maxima. `uncounted`: the share, in
// 255ths, of elements that only one operand's maxima tell of. parts/split.hpp derives the rule. One
// operand's loss alone can rule FP16 pairs out.
__device__ __forceinline__ bool fits_half_pairs(const PrecisionLoss& a, const PrecisionLoss& b,
                                                unsigned uncounted = 0) {
  const auto share = [](unsigned code) { return __uint_as_float(code << 16); };
  const float lossy =
      255.0f * fminf(share(a.small) + share(b.tiny), share(a.tiny) + share(b.small));
  const unsigned below_a[] = {a.below8, a.below18}, below_b[] = {b.below8, b.below18};
  constexpr int kExponents[] = {8, 18};
  if (lossy == 0.0f) return true;
  bool fits = false;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 2; ++i) {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < 2; ++j) {
      const int large = 255 - static_cast<int>(below_a[i] + below_b[j] + uncounted);
      fits |= lossy <= static_cast<float>(large) * power_of_two(14 - kExponents[i] - kExponents[j]);
    }
  }
  return fits;
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
    if (skips) most = PrecisionLoss::unrepresentable();
    x.loss[block] = most.stored();
    if (x.stop && !fits_half_pairs(most, PrecisionLoss())) atomicExch(x.stop, kStop);
  }
};

// Where the counts of a block lie in shared memory, and what they are of: `lines` lines in `parts`
// parts each.
struct LossCounts {
  LossCount* first;
  int lines, line_step, parts, part_step;
  unsigned length;  // of a line, all its parts
  bool is_rest;
};

// Records the maximum over a block's lines, whose counts its warps have just written. Called by all
// threads.
template <class Sync>
__device__ __forceinline__ void record_loss(const SplitOperand& x, unsigned block,
                                            const LossCounts& counts, Sync& sync) {
  sync();  // all warps have written their counts
  if (threadIdx.x >= 32) return;
  PrecisionLoss own;
  if (static_cast<int>(threadIdx.x) < counts.lines) {
    const LossCount* const of_line = counts.first + threadIdx.x * counts.line_step;
    LossCount total;
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kSplitWarps; ++p) {  // so that the loads do not wait for each other
      if (p < counts.parts) total.add(of_line[p * counts.part_step]);
    }
    own = loss_of(total, counts.length, counts.is_rest);
  }
  own.include_warp();
  if (threadIdx.x == 0) sync.record(x, block, own);
}

// Maxima over all blocks of a and b. b's losses follow a's in memory; `shared` is zero before.
// Called by kThreads threads in whole warps; readers wait for all of them.
template <int kThreads>
__device__ __forceinline__ void gather_losses(const SplitOperand& a, const SplitOperand& b,
                                              int thread, PrecisionLoss (&shared)[2]) {
  constexpr int kInFlight = 4;
  const unsigned blocks = a.blocks + b.blocks;
  PrecisionLoss most[2];
  for (unsigned i0 = thread; i0 < blocks; i0 += kInFlight * kThreads) {
    StoredLoss of_block[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      if (i0 + u * kThreads < blocks) of_block[u] = a.loss[i0 + u * kThreads];
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const bool of_a = i0 + u * kThreads < a.blocks;
      const PrecisionLoss loss(of_block[u]);
      if (of_a) most[0].include(loss);
      if (!of_a) most[1].include(loss);
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int x = 0; x < 2; ++x) {
    most[x].include_warp();
    if (thread % 32 == 0) most[x].add_to(shared[x]);
  }
}

// The same where b's losses lie elsewhere, because the operands were split apart.
template <int kThreads>
__device__ __forceinline__ void gather_losses_apart(const SplitOperand& a, const SplitOperand& b,
                                                    int thread, PrecisionLoss (&shared)[2]) {
  SplitOperand first = a, second = b;
  second.blocks = 0;
  gather_losses<kThreads>(first, second, thread, shared);
  first.blocks = 0, second.blocks = b.blocks;
  first.loss = b.loss;
  gather_losses<kThreads>(first, second, thread, shared);
}

// Whether FP16 pairs suffice for both operands. Where blocks share strided lines, the last part may
// be a rest, of which no large elements are counted.
__device__ __forceinline__ bool fits_half_pairs(const SplitOperand& a, const SplitOperand& b,
                                                const PrecisionLoss (&most)[2]) {
  constexpr std::int64_t kOneBlock = 1024;  // longer lines may be shared
  const bool has_rest = a.k > kOneBlock && !(a.contiguous && b.contiguous);
  return fits_half_pairs(most[0], most[1],
                         has_rest ? share_of_255(static_cast<unsigned>(a.k % kSplitPiece),
                                                 1.0f / static_cast<float>(a.k))
                                  : 0);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
