#pragma once
// Counts what FP16 pairs lose of an operand, and decides whether they suffice. parts/split.hpp
// derives the rule.

#include "parts/split/operand.hpp"
#include "parts/split/range.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Adds both 16-bit halves of a word to a sum, in one instruction.
__device__ __forceinline__ unsigned add_halves(unsigned word, unsigned sum) {
#if defined(__CUDACC__)
  return __dp2a_lo(word, 0x0101u, sum);
#else
  return sum + (word & 0xffff) + (word >> 16);
#endif
}

// What is counted of a line's scaled elements, or of some of them.
struct LossCount {
  unsigned small = 0;   // nonzero elements below 2^-17 of the largest's binade
  float exponents = 0;  // sum of their hi's bits. Infinite: there is no line
  float magnitude = 0;  // sum of magnitudes. Infinite: no FP16 pair can hold the line

  // Counts what the quick count leaves open. Elements are FP32 bits, as is the line's largest.
  __device__ __forceinline__ void add_small(const float (&x)[8], unsigned largest) {
    const unsigned limit = (largest_in_halves(largest) & 0x7f800000u) - (17u << 23);
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) small += magnitude_bits(x[i]) - 1u < limit - 1u ? 1u : 0u;
  }
  __device__ __forceinline__ void add(const LossCount& more) {
    small += more.small, exponents += more.exponents, magnitude += more.magnitude;
  }
  // Adds what the other lanes have, of a warp or of each kLanes of it.
  template <int kLanes>
  __device__ __forceinline__ void add_of_lanes() {
    if constexpr (kLanes == 32) {
      small = warp::sum(small);
    } else {
      small = warp::reduce<kLanes>(small, warp::Sum());
    }
    exponents = warp::reduce<kLanes>(exponents, warp::Sum());
    magnitude = warp::reduce<kLanes>(magnitude, warp::Sum());
  }
  // A line of zeros, or none at all, counts for nothing.
  __device__ __forceinline__ void set_line(bool in_operand, unsigned largest) {
    const float infinity = __uint_as_float(0x7f800000u);
    if (!in_operand || largest == 0) {
      exponents = infinity;
    } else if (!in_reach_of_halves(largest)) {
      magnitude = infinity;
    }
  }
  __device__ __forceinline__ bool has_line() const {
    return exponents < __uint_as_float(0x7f800000u);
  }
  __device__ __forceinline__ bool in_reach() const {
    return magnitude < __uint_as_float(0x7f800000u);
  }
};

// The cheap part of the count, of eight scaled elements and the halves hi.
struct QuickCount {
  unsigned all_above = ~0u, exponents = 0;
  float magnitude = 0;
  // `ignored`: all bits if small elements are counted anyway, else none.
  __device__ __forceinline__ void add(const unsigned (&hi)[4], unsigned ignored = 0) {
    constexpr unsigned k17 = 0x3400;  // 2^-2 as a half's bits
    unsigned above = ~0u;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const unsigned both = hi[i] & 0x7fff7fffu;
      above &= both + (0x8000u - k17) * 0x10001u;  // sets a half's top bit if it is as large
      exponents = add_halves(both, exponents);
    }
    all_above &= above | ignored;
  }
  __device__ __forceinline__ bool may_be_small() const {
    return (all_above & 0x80008000u) != 0x80008000u;
  }
  __device__ __forceinline__ void add_to(LossCount& count) const {
    count.exponents += static_cast<float>(exponents);
    count.magnitude += magnitude;
  }
};

// The upper half of a float, rounded up.
__device__ __forceinline__ unsigned upper_half(float x) {
  return x == 0.0f ? 0u : (__float_as_uint(x) >> 16) + 1;
}

// The loss of a line, or of a block's part of it, from its counts.
__device__ __forceinline__ PrecisionLoss loss_of(const LossCount& count, unsigned length) {
  PrecisionLoss loss;
  if (!count.has_line() || length == 0) return loss;
  if (!count.in_reach()) return PrecisionLoss::unrepresentable();
  constexpr float kRoundings = 1.0f + 0x1p-7f;  // of the sums, and of hi
  const float one = 1.0f / static_cast<float>(length);
  // A half's bits over 2^10 lie below its logarithm + 15: they are chords of a concave function. So
  // are a float's bits over 2^23, so that 1 / G is not too small as a float of these bits.
  const float logarithm = 30.0f + 0x1p-10f - 0x1p-10f * one * count.exponents;
  const unsigned depth = static_cast<unsigned>(128.0f * fmaxf(logarithm, 0.0f)) + 1;
  const float mean = 0x1p-15f * kRoundings * one * count.magnitude;
  loss.depth = (127u << 7) + depth;
  loss.mean = upper_half(mean);
  loss.spread = upper_half(mean * __uint_as_float(loss.depth << 16));
  loss.small = upper_half(one * static_cast<float>(count.small));
  return loss;
}

// Whether FP16 pairs suffice for a product, given both operands' maxima. `apart`: which operand's
// lines lie in parts that are not those of the other one. parts/split.hpp derives the rule. One
// operand's loss alone can rule FP16 pairs out.
enum class Apart { none, a, b };
__device__ __forceinline__ bool fits_half_pairs(const PrecisionLoss& a, const PrecisionLoss& b,
                                                Apart apart = Apart::none) {
  if (a.small == 0 && b.small == 0) return true;
  const auto number = [](unsigned code) { return __uint_as_float(code << 16); };
  const auto at_least_one = [](float x) { return fmaxf(x, 1.0f); };  // as every line has
  const float a_depth = at_least_one(number(a.depth)), b_depth = at_least_one(number(b.depth)),
              a_spread = apart == Apart::a ? number(a.mean) * a_depth : number(a.spread),
              b_spread = apart == Apart::b ? number(b.mean) * b_depth : number(b.spread),
              by_small = 2.0f * a_depth * b_depth, a_most = at_least_one(a_spread) * b_depth,
              b_most = at_least_one(b_spread) * a_depth;
  const float pairs =
      fminf(number(a.small) * by_small, b_most) + fminf(number(b.small) * by_small, a_most);
  return 0x1p-19f * pairs + 0x1p-29f * (a_most + b_most) <= 1.0f;
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
    own = loss_of(total, counts.length);
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

// Whether FP16 pairs suffice for both operands. Blocks share long strided lines; of two operands
// they share them alike.
__device__ __forceinline__ bool fits_half_pairs(const SplitOperand& a, const SplitOperand& b,
                                                const PrecisionLoss (&most)[2]) {
  constexpr std::int64_t kOneBlock = 1024;  // longer lines may be shared
  const bool alike = a.contiguous == b.contiguous || a.k <= kOneBlock;
  return fits_half_pairs(most[0], most[1],
                         alike ? Apart::none : (a.contiguous ? Apart::b : Apart::a));
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
