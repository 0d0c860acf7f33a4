#pragma once
// How far apart a line's elements lie, which scale that asks for, and what pairs keep of them: see
// parts/split.hpp.

#include "parts/float_pairs.hpp"
#include "parts/split/operand.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// The largest magnitude of some elements, and the least that is not zero, as FP32's bits.
struct Range {
  unsigned largest = 0, least_negated = 0;  // so that zeros do not count for the least
  template <class Pairs>
  __device__ __forceinline__ void add_element(float x) {
    const unsigned bits = magnitude_bits(x);
    largest = max(largest, bits);
    if (Pairs::kNeedsLeast) least_negated = max(least_negated, 0u - bits);
  }
  __device__ __forceinline__ void add(const Range& r) {
    largest = max(largest, r.largest);
    least_negated = max(least_negated, r.least_negated);
  }
  __device__ __forceinline__ unsigned least() const { return 0u - least_negated; }
  template <class Pairs>
  __device__ __forceinline__ Range of_lane(int lane) const {
    return {__shfl_sync(0xffffffffu, largest, lane),
            Pairs::kNeedsLeast ? __shfl_sync(0xffffffffu, least_negated, lane) : 0};
  }
  // With that of the lane whose number differs in the bits of `apart`; and over the whole warp.
  template <class Pairs>
  __device__ __forceinline__ void add_of_lane(int apart) {
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
    if (!Pairs::kNeedsLeast) return;
    least_negated = max(least_negated, __shfl_xor_sync(0xffffffffu, least_negated, apart));
  }
  template <class Pairs>
  __device__ __forceinline__ void add_of_warp() {
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (Pairs::kNeedsLeast) least_negated = __reduce_max_sync(0xffffffffu, least_negated);
  }
};

// Whether a line with this largest element keeps its exponents within those of halves' products:
// beyond, the factors of two lines might overflow on the way to a result that does not.
__device__ __forceinline__ bool in_reach_of_halves(unsigned largest) {
  const int exponent = exponent_of(largest);
  return exponent >= -78 && exponent <= 78;
}

// The power of two for a line. HalfPairs: brings the largest element between 2^14 and 2^15; 0 where
// none helps (see Spread). Tf32Pairs: brings lines whose largest is below 2^-60 up to 2^-32, so
// that no element loses bits to TF32's least exponent, and those above 2^48 down to that, so that
// neither sums nor sums times A's factor overflow where the result, times B's as well, does not.
__device__ __forceinline__ int scale_exponent(HalfPairs, const Range& range) {
  return in_reach_of_halves(range.largest) ? 14 - exponent_of(range.largest) : 0;
}
__device__ __forceinline__ int scale_exponent(Tf32Pairs, const Range& range) {
  const int exponent = exponent_of(range.largest);
  constexpr int kLow = -60, kFromLow = -32, kHigh = 48, kLeast = -127;  // that of subnormals
  if (range.largest == 0 || range.largest >= 0x7f800000u) return 0;
  if (exponent > kHigh) return kHigh - exponent;
  return exponent >= kLow ? 0 : kFromLow - max(exponent, kLeast);
}
__device__ __forceinline__ int scale_exponent(Tf32Once, const Range&) { return 0; }

// What a line's pairs are to be multiplied by. NaN: TF32 pairs do not hold the line, for one of its
// elements is not finite, or so much smaller than another that its lo is too small for TF32.
__device__ __forceinline__ float factor_of(HalfPairs, const Range&, int exponent) {
  return power_of_two(-exponent);
}
__device__ __forceinline__ float factor_of(Tf32Pairs, const Range& range, int exponent) {
  constexpr int kLeastExponent = -113;  // 23 above that of TF32's least subnormal
  const float least = __uint_as_float(range.least()) * power_of_two(exponent);
  const bool holds =
      range.largest < 0x7f800000u && (range.largest == 0 || least >= power_of_two(kLeastExponent));
  return holds ? power_of_two(-exponent) : __uint_as_float(0x7fc00000u);
}
__device__ __forceinline__ float factor_of(Tf32Once, const Range&, int) { return 1.0f; }

// Counts eight elements of a line.
struct SpreadCount {
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

// The same of their halves hi, at a glance: whether any is, or may be, small, and how many are
// large. The line's scale has brought its largest between 2^14 and 2^15.
struct Glance {
  unsigned all_above = ~0u, large = 0;
  __device__ __forceinline__ void add(const unsigned (&hi)[4]) {
    constexpr unsigned kSmall = 0x3400, kLarge = 0x5400;  // 2^-2 and 2^6 as halves' bits
    unsigned marks = 0;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const unsigned both = hi[i] & 0x7fff7fffu;  // adding to them sets the top bits of the larger
      all_above &= both + (0x8000u - kSmall) * 0x10001u;
      marks |= ((both + (0x8000u - kLarge) * 0x10001u) & 0x80008000u) >> i;
    }
    large += __popc(marks);
  }
  __device__ __forceinline__ bool may_be_small() const {
    return (all_above & 0x80008000u) != 0x80008000u;
  }
};

// Of a line whose elements have not been counted yet, and which may not be there.
__device__ __forceinline__ Spread spread_of_line(bool here, unsigned largest) {
  Spread spread;
  if (here && largest != 0 && !in_reach_of_halves(largest)) spread.small = Spread::kTooFar;
  return spread;
}

// Of a whole part of a line's piece, as if it had 256.
template <int kPart>
__device__ __forceinline__ void include_whole(Spread& spread, unsigned small, unsigned large) {
  spread.small = max(spread.small, small * (kSplitPiece / kPart));
  spread.far = max(spread.far, (kPart - large) * (kSplitPiece / kPart));
}

// Of the last `length` elements, fewer than kPart, of a line of k. Behind whole pieces they are too
// few for `far` to say much; it is bounded by them.
template <int kPart>
__device__ __forceinline__ void include_rest(Spread& spread, const SpreadCount& count,
                                             std::int64_t k, int length) {
  const auto of = static_cast<unsigned>(length);
  const bool behind_whole = k >= kSplitPiece;
  const auto of_256 = [&](unsigned n) { return behind_whole ? n : (n * 256u + of - 1) / of; };
  spread.small = max(spread.small, of_256(count.small));
  if (!behind_whole) spread.far = max(spread.far, of_256(of - count.large));
}

// Whether FP16 pairs hold operands with these counts, summed over both: what one operand's counts
// rule out, no other operand makes fit.
__device__ __forceinline__ bool fits_half_pairs(Spread sum) {
  return sum.small == 0 || 4 * sum.small + sum.far <= 256;
}

// How the threads of the pass work together where they are the block's only ones.
struct BlockCrew {
  bool leaves = false;  // the operand as it is: some block has counted too much

  // Called by all threads of a block that may begin after others have ended.
  __device__ __forceinline__ void decide(const SplitOperand& x) {
    leaves = __syncthreads_or(__ldcg(x.stop) == kStop);
  }
  __device__ __forceinline__ void operator()() const { __syncthreads(); }
  // Called by one thread, with the most over what the block has counted. Tells blocks that begin
  // later to leave, if that is too much.
  __device__ __forceinline__ void keep(const SplitOperand& x, unsigned block, Spread most) const {
    if (leaves) most.small = Spread::kTooFar;
    x.spread[block] = most;
    if (x.stop && !fits_half_pairs(most)) atomicExch(x.stop, kStop);
  }
};

// Has the crew keep the block's most. Called by all threads.
template <class Pairs, class Crew>
__device__ __forceinline__ void keep_spread(const SplitOperand& x, unsigned block, Spread mine,
                                            unsigned (&of_warp)[2 * kSplitWarps], Crew& crew) {
  if (!Pairs::kCounted) return;
  const int warp = threadIdx.x / 32;
  const unsigned small = __reduce_max_sync(0xffffffffu, mine.small),
                 far = __reduce_max_sync(0xffffffffu, mine.far);
  if (threadIdx.x % 32 == 0) {
    of_warp[2 * warp] = small;
    of_warp[2 * warp + 1] = far;
  }
  crew();  // all warps' are there
  if (warp != 0) return;
  const int other = threadIdx.x % kSplitWarps;
  const Spread most{__reduce_max_sync(0xffffffffu, of_warp[2 * other]),
                    __reduce_max_sync(0xffffffffu, of_warp[2 * other + 1])};
  if (threadIdx.x == 0) crew.keep(x, block, most);
}

// The most over all blocks of both operands, whose spreads lie one behind the other: a's small and
// far, b's small and far. Zero before. Called by kThreads threads, `thread` of them each, in whole
// warps; whoever reads it waits for them.
template <int kThreads>
__device__ __forceinline__ void gather_spreads(const SplitOperand& a, const SplitOperand& b,
                                               int thread, unsigned (&shared)[4]) {
  constexpr int kInFlight = 4;
  const unsigned blocks = a.blocks + b.blocks;
  unsigned most[4] = {};
  for (unsigned i0 = thread; i0 < blocks; i0 += kInFlight * kThreads) {
    Spread here[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      if (i0 + u * kThreads < blocks) here[u] = a.spread[i0 + u * kThreads];
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const bool of_a = i0 + u * kThreads < a.blocks;
      most[0] = max(most[0], of_a ? here[u].small : 0);
      most[1] = max(most[1], of_a ? here[u].far : 0);
      most[2] = max(most[2], of_a ? 0 : here[u].small);
      most[3] = max(most[3], of_a ? 0 : here[u].far);
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int r = 0; r < 4; ++r) {
    const unsigned of_warp = __reduce_max_sync(0xffffffffu, most[r]);
    if (thread % 32 == 0) atomicMax(&shared[r], of_warp);
  }
}

// Whether FP16 pairs hold both operands.
__device__ __forceinline__ bool fits_half_pairs(const unsigned (&most)[4]) {
  return fits_half_pairs(Spread{most[0] + most[2], most[1] + most[3]});
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
