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
// Counts the FP16 numbers of a word that are at least `least`, in two FP16 numbers. At 2,048 these
// stop.
__device__ __forceinline__ unsigned count_from(unsigned least, unsigned word, unsigned counts) {
#if defined(__CUDACC__)
  const auto halves = [](unsigned x) { return *reinterpret_cast<const __half2*>(&x); };
  const __half2 more = __hge2(halves(word), halves(least * 0x10001u)),
                sum = __hadd2(halves(counts), more);
  return *reinterpret_cast<const unsigned*>(&sum);
#else
  const auto sum = [&](int shift) {
    return half_value(counts >> shift) + ((word >> shift & 0xffff) >= least ? 1.0f : 0.0f);
  };
  return two_halves(sum(0), sum(16));
#endif
}

// 1 / G of elements whose hi's bits have this mean, as PrecisionLoss codes it. A half's bits over
// 2^10 lie below its logarithm + 15: they are chords of a concave function. So are a float's bits
// over 2^23, so that 1 / G is not too small as a float of these bits. One step is added for the
// roundings.
__device__ __forceinline__ unsigned depth_of(float mean_of_bits) {
  constexpr int kZero = 30 << PrecisionLoss::kSteps;  // -log2 of zero, where the largest has 1
  return static_cast<unsigned>(max(kZero + 1 - static_cast<int>(0.125f * mean_of_bits), 0));
}

// Elements of a piece from which on the line has `left`, at least one.
__device__ __forceinline__ int length_of_piece(std::int64_t left) {
  return static_cast<int>(min(left, std::int64_t{kSplitPiece}));
}

// What is counted of a line's scaled elements, or of some of them, beside the binade of the line's
// largest.
struct LossCount {
  unsigned from8 = 0;   // elements of at least 2^-8
  unsigned small = 0;   // nonzero elements below 2^-17
  float exponents = 0;  // sum of their hi's bits. Infinite: there is no line
  float magnitude = 0;  // sum of magnitudes. Infinite: no FP16 pair can hold the line
  float roots = 0;      // sum over pieces of the piece's length times its G
  unsigned least = 0;   // 1 / G of the piece where it is most, as PrecisionLoss codes it

  // Counts what the quick count leaves open. Elements are FP32 bits, as is the line's largest.
  __device__ WARPLADDER_INLINE_ON_GPU void add_small(const float (&x)[8], unsigned largest) {
    const unsigned limit = (largest_in_halves(largest) & 0x7f800000u) - (17u << 23);
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) small += magnitude_bits(x[i]) - 1u < limit - 1u ? 1u : 0u;
  }
  // Counts a piece of so many elements, by the sum of their hi's bits.
  __device__ __forceinline__ void add_piece(unsigned exponents_of_piece, int length) {
    const auto elements = static_cast<float>(length);
    const unsigned depth = depth_of(static_cast<float>(exponents_of_piece) / elements);
    roots += elements / PrecisionLoss::number_from_one(depth);
    least = max(least, depth);
  }
  __device__ __forceinline__ void add(const LossCount& more) {
    from8 += more.from8, small += more.small;
    exponents += more.exponents, magnitude += more.magnitude;
    roots += more.roots, least = max(least, more.least);
  }
  // Adds what the other lanes have, of a warp or of each kLanes of it. kPieces: pieces, too.
  template <int kLanes, bool kPieces>
  __device__ __forceinline__ void add_of_lanes() {
    const auto sum = [](unsigned own) {
      if constexpr (kLanes == 32) return warp::sum(own);
      return warp::reduce<kLanes>(own, warp::Sum());
    };
    from8 = sum(from8), small = sum(small);
    exponents = warp::reduce<kLanes>(exponents, warp::Sum());
    magnitude = warp::reduce<kLanes>(magnitude, warp::Sum());
    if constexpr (kPieces) {
      roots = warp::reduce<kLanes>(roots, warp::Sum());
      least = warp::reduce<kLanes>(least, warp::Max());
    }
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

// The cheap part of the count, of the halves hi: write8() adds the magnitudes. Of a million
// elements and more, `from8` may stop and `exponents` wrap round. Both are too small then, which is
// safe.
struct QuickCount {
  unsigned all_above = ~0u, from8 = 0, exponents = 0;
  float magnitude = 0;
  // `ignored`: all bits if small elements are counted anyway, else none.
  __device__ WARPLADDER_INLINE_ON_GPU void add(const unsigned (&hi)[4], unsigned ignored = 0) {
    constexpr unsigned k17 = 0x3400, k8 = 0x5800;  // 2^-2 and 2^7 as halves' bits
    unsigned above = ~0u;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const unsigned both = hi[i] & 0x7fff7fffu;
      above &= both + (0x8000u - k17) * 0x10001u;  // sets a half's top bit if it is as large
      exponents = add_halves(both, exponents);
      from8 = count_from(k8, both, from8);
    }
    all_above &= above | ignored;
  }
  __device__ __forceinline__ bool may_be_small() const {
    return (all_above & 0x80008000u) != 0x80008000u;
  }
  __device__ __forceinline__ void add_to(LossCount& count) const {
    count.from8 += static_cast<unsigned>(half_value(from8) + half_value(from8 >> 16));
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
  const auto share_below8 =
      static_cast<unsigned>(255.0f * one * static_cast<float>(length - count.from8));
  loss.below8 = count.from8 == length ? 0u : min(share_below8 + 1, 255u);
  loss.small = upper_half(one * static_cast<float>(count.small));
  loss.mean = upper_half(0x1p-15f * kRoundings * one * count.magnitude);
  loss.depth = depth_of(one * count.exponents);
  loss.spread =
      PrecisionLoss::from_one(PrecisionLoss::number(loss.mean) * loss.number_from_one(loss.depth));
  loss.joined =
      count.roots > 0.0f ? PrecisionLoss::from_one(kRoundings / (one * count.roots)) : 0xfffu;
  loss.least = count.roots > 0.0f ? count.least : 0xfffu;
  return loss;
}

// Whether FP16 pairs suffice for a product, given both operands' maxima. `apart`: which operand's
// lines lie in parts that are not those of the other one. parts/split.hpp derives the rule. One
// operand's loss alone can rule FP16 pairs out.
enum class Apart { none, a, b };
__device__ __forceinline__ bool fits_half_pairs(const PrecisionLoss& a, const PrecisionLoss& b,
                                                Apart apart = Apart::none) {
  const float a_small = PrecisionLoss::number(a.small), b_small = PrecisionLoss::number(b.small);
  if (a_small == 0.0f && b_small == 0.0f) return true;
  const int large = 255 - static_cast<int>(a.below8 + b.below8);
  if (63.75f * (a_small + b_small) <= static_cast<float>(large)) return true;
  // Of both operands' 1 / G, or what stands for it, and M / G.
  const auto suffice = [&](float a_depth, float b_depth, float a_spread, float b_spread) {
    const float of_a = a_spread * b_depth, of_b = b_spread * a_depth,
                by_small = 2.0f * a_depth * b_depth,
                lost = fminf(a_small * by_small, of_b) + fminf(b_small * by_small, of_a);
    return lost <= 15 * 0x1p15f && of_a + of_b <= 0x1p25f;
  };
  const auto spread_by_mean = [](const PrecisionLoss& x, float depth) {
    return fmaxf(x.number(x.mean) * depth, 1.0f);
  };
  const auto by_means = [&](unsigned a_code, unsigned b_code) {
    const float a_depth = a.number_from_one(a_code), b_depth = b.number_from_one(b_code);
    return suffice(a_depth, b_depth, spread_by_mean(a, a_depth), spread_by_mean(b, b_depth));
  };
  const float a_depth = a.number_from_one(a.depth), b_depth = b.number_from_one(b.depth);
  const auto spread_of = [&](const PrecisionLoss& x, float depth, bool is_apart) {
    return is_apart ? spread_by_mean(x, depth) : x.number_from_one(x.spread);
  };
  return suffice(a_depth, b_depth, spread_of(a, a_depth, apart == Apart::a),
                 spread_of(b, b_depth, apart == Apart::b)) ||
         by_means(a.joined, b.least) || by_means(a.least, b.joined);
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
  // Called by one thread with a block's loss. If that is too much, later blocks skip their work.
  __device__ __forceinline__ void record(const SplitOperand& x, unsigned at,
                                         PrecisionLoss most) const {
    if (skips) most = PrecisionLoss::unrepresentable();
    x.loss[at] = most.stored();
    if (x.stop && !fits_half_pairs(most, PrecisionLoss())) atomicExch(x.stop, kStop);
  }
};

// Where the counts of a block lie in shared memory, and what they are of: `lines` lines in `parts`
// parts each, at most kSplitWarps.
struct LossCounts {
  LossCount* first;
  int lines, line_step, parts, part_step;
  unsigned length;  // of a line, all its parts
};

// Records the maximum over a block's lines, whose counts its warps have just written, as loss
// `at`. Called by all threads.
template <class Sync>
__device__ WARPLADDER_INLINE_ON_GPU void record_loss(const SplitOperand& x, unsigned at,
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
  if (threadIdx.x == 0) sync.record(x, at, own);
}

// Maxima over all blocks of a and b. b's losses follow a's in memory; `shared` is zero before.
// Called by kThreads threads in whole warps; readers wait for all of them.
template <int kThreads>
__device__ WARPLADDER_INLINE_ON_GPU void gather_losses(const SplitOperand& a, const SplitOperand& b,
                                                       int thread, PrecisionLoss (&shared)[2]) {
  constexpr int kInFlight = 4;
  const unsigned losses = a.losses() + b.losses();
  PrecisionLoss most[2];
  for (unsigned i0 = thread; i0 < losses; i0 += kInFlight * kThreads) {
    StoredLoss of_block[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      if (i0 + u * kThreads < losses) of_block[u] = a.loss[i0 + u * kThreads];
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const bool of_a = i0 + u * kThreads < a.losses();
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
