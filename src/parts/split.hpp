#pragma once
// The pass in front of a product on tensor cores: writes an operand's lines (rows of A, columns of
// B) as float pairs (float_pairs.hpp) along k, padded with zeros to whole groups, whatever the
// operand's layout and alignment; each line times a power of two of its own. Reads an operand once
// up to k = 16,384 along lines and 4,096 across, twice beyond. Nothing is expected of the memory
// that it writes.
//
// What an FP16 pair keeps depends on the line's largest element: down to 2^-16 of it all 22 bits,
// below that an absolute error of 2^-39 of it. Whether this matters depends on the other operand:
// in [1, 2^-30]·[2^-30, 1] all the more. So pieces of 256 along k are counted: `small`, the
// elements that lose bits, and `far`, those below 2^-8 of the largest. A piece of a product has at
// least 256 - far(A) - far(B) terms of 2^-16 of the largest or more, and an error of at most
// (small(A) + small(B))·2^-39 of it: no more than 2^-24, one rounding, of the sum of magnitudes if
//   2·(small(A) + small(B)) <= 256 - far(A) - far(B).
// Most of each over all lines and pieces decides: see fits_half_pairs().

#include "device/kernel.hpp"
#include "parts/float_pairs.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/warp.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kSplitThreads = 256, kSplitWarps = kSplitThreads / 32, kSplitPiece = 256;

// How much a block keeps of what it has read. Of lines along memory a warp holds `pieces` of 256 in
// registers; of `lines` across memory a block holds `rows` in shared memory, so that each of its
// warps writes 8 lines of 256. Long lines want more registers, and fewer blocks at a time.
enum class LineLength { brief, medium, lengthy };
template <LineLength length>
struct SplitShape {
  static constexpr bool brief = length == LineLength::brief,
                        lengthy = length == LineLength::lengthy;
  static constexpr int pieces = brief     ? 2
                                : lengthy ? 8
                                          : 4,
                       lines = brief     ? 16
                               : lengthy ? 16
                                         : 32,
                       rows = brief     ? 512
                              : lengthy ? 1024
                                        : 512,
                       blocks = brief     ? 3
                                : lengthy ? 2
                                          : 3;
  // Along k, of 8 lines, what a warp writes at a time.
  static constexpr int part = rows * (lines / 8) / kSplitWarps;
  static_assert(kSplitPiece % part == 0);
};
// Of lines of so many elements.
__host__ __device__ __forceinline__ LineLength length_of(std::int64_t depth) {
  return depth <= 1024   ? LineLength::brief
         : depth <= 8192 ? LineLength::medium
                         : LineLength::lengthy;
}
// Calls run.template operator()<length>() for the length of lines of so many elements.
template <class Run>
__host__ __device__ __forceinline__ auto with_length(std::int64_t depth, const Run& run) {
  switch (length_of(depth)) {
    case LineLength::brief:
      return run.template operator()<LineLength::brief>();
    case LineLength::medium:
      return run.template operator()<LineLength::medium>();
    default:
      return run.template operator()<LineLength::lengthy>();
  }
}

// Most over the pieces that a block wrote. kTooFar: what no pair of halves can hold.
struct Spread {
  static constexpr unsigned kTooFar = 1u << 20;
  unsigned small = 0, far = 0;
};

// An operand as the pass takes it: `lines` lines of k elements, element (line, k) at
// line·ld + k if `along`, else at line + k·ld; and what it writes, all 16-byte aligned.
struct SplitOperand {
  const float* data;
  std::int64_t ld, lines, k;
  bool along;
  unsigned char* pairs;  // lines × line_bytes
  std::int64_t line_bytes;
  float* factor;   // of each line: what its pairs are to be multiplied by
  Spread* spread;  // of each block
  unsigned blocks;

  __host__ __device__ __forceinline__ bool in_vectors() const {
    return (reinterpret_cast<std::uintptr_t>(data) & 15) == 0 && ld % 4 == 0;
  }
};

// k padded to the groups of 64 that a promoted chunk consists of; at least one.
__host__ __device__ __forceinline__ std::int64_t padded_depth(std::int64_t k) {
  return k > 64 ? (k + 63) / 64 * 64 : 64;
}

// Warps that share a line which lies along memory: a power of two.
template <LineLength length>
__host__ __device__ __forceinline__ int warps_of_line(std::int64_t depth) {
  int warps = 1;
  while (warps < kSplitWarps && warps * SplitShape<length>::pieces * kSplitPiece < depth)
    warps *= 2;
  return warps;
}

// Blocks of a cluster that share lines which lie across memory.
inline unsigned split_cluster(std::int64_t depth) {
  constexpr std::int64_t kMost = 16;  // 8 is portable, Hopper can do 16
  return with_length(depth, [&]<LineLength length>() {
    const std::int64_t wanted = (depth + SplitShape<length>::rows - 1) / SplitShape<length>::rows;
    return static_cast<unsigned>(wanted < kMost ? wanted : kMost);
  });
}

template <LineLength length>
unsigned split_blocks(std::int64_t lines, std::int64_t depth, bool along, unsigned cluster) {
  const int of_block =
      along ? kSplitWarps / warps_of_line<length>(depth) : SplitShape<length>::lines;
  const std::int64_t blocks = (lines + of_block - 1) / of_block * (along ? 1 : cluster);
  return static_cast<unsigned>((blocks + cluster - 1) / cluster * cluster);
}

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
};

// The power of two for a line. HalfPairs: brings the largest element between 2^14 and 2^15.
// Tf32Pairs: brings up lines whose largest is below 2^-60, so that no element loses bits to TF32's
// least exponent. 0 where none helps: see Spread and factor_of().
__device__ __forceinline__ int scale_exponent(HalfPairs, const Range& range) {
  const int exponent = exponent_of(range.largest);
  return exponent > 78 || exponent < -78 ? 0 : 14 - exponent;
}
__device__ __forceinline__ int scale_exponent(Tf32Pairs, const Range& range) {
  const int exponent = exponent_of(range.largest);
  return range.largest == 0 || exponent >= -60 ? 0 : exponent < -126 ? 126 : -exponent;
}

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

// Counts eight elements of a line.
struct SpreadCount {
  unsigned small = 0, large = 0;
  __device__ __forceinline__ void add(const float (&x)[8], unsigned largest) {
    const unsigned of_small = largest > (17u << 23) ? (largest & 0x7f800000u) - (16u << 23) : 0u,
                   of_large = largest > (9u << 23) ? (largest & 0x7f800000u) - (8u << 23) : 1u;
    WARPLADDER_UNROLL
    for (int i = 0; i < 8; ++i) {
      const unsigned bits = magnitude_bits(x[i]);
      small += bits - 1u < of_small - 1u && of_small ? 1u : 0u;
      large += bits >= of_large ? 1u : 0u;
    }
  }
};

__device__ __forceinline__ int piece_length(std::int64_t left, int most) {
  return left < most ? static_cast<int>(left) : most;
}

// Of a piece of `length` elements, as if it had 256; lines that a pair of halves cannot hold at all
// spoil everything.
__device__ __forceinline__ void include(Spread& spread, const SpreadCount& count, int length,
                                        unsigned largest) {
  if (length <= 0 || largest == 0) return;
  const unsigned of = static_cast<unsigned>(length), far = of - count.large;
  const auto of_256 = [&](unsigned n) {
    return of == 256 ? n : of == 128 ? 2 * n : (n * 256u + of - 1) / of;
  };
  const unsigned small = of_256(count.small), apart = of_256(far);
  const int exponent = exponent_of(largest);
  const bool holds = exponent <= 78 && exponent >= -78;
  spread.small = max(spread.small, holds ? small : Spread::kTooFar);
  spread.far = max(spread.far, apart);
}

// How the threads of the pass wait for each other where they are the block's only ones.
struct BlockSync {
  __device__ __forceinline__ void operator()() const { __syncthreads(); }
};

// The block's most goes to its place. Called by all threads.
template <class Sync>
__device__ __forceinline__ void write_spread(const SplitOperand& x, unsigned block, Spread mine,
                                             unsigned (&of_warp)[2 * kSplitWarps], Sync& sync) {
  const int warp = threadIdx.x / 32;
  const unsigned small = __reduce_max_sync(0xffffffffu, mine.small),
                 far = __reduce_max_sync(0xffffffffu, mine.far);
  if (threadIdx.x % 32 == 0) {
    of_warp[2 * warp] = small;
    of_warp[2 * warp + 1] = far;
  }
  sync();  // all warps' are there
  if (warp != 0) return;
  const int other = threadIdx.x % kSplitWarps;
  const Spread most{__reduce_max_sync(0xffffffffu, of_warp[2 * other]),
                    __reduce_max_sync(0xffffffffu, of_warp[2 * other + 1])};
  if (threadIdx.x == 0) x.spread[block] = most;
}

struct SplitAlongShared {
  float piece_of_warp[kSplitWarps][kSplitPiece];
  Range range_of_warp[kSplitWarps];
  unsigned spread_of_warp[2 * kSplitWarps];
};

// Lines along memory: a lane has eight neighbours, a warp a piece of 256, one to eight warps a
// line.
template <class Pairs, LineLength length, class Sync>
__device__ __forceinline__ void split_along(const SplitOperand& x, unsigned block, void* shared,
                                            Sync& sync) {
  constexpr int kPieces = SplitShape<length>::pieces;
  auto& s = *static_cast<SplitAlongShared*>(shared);
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = warps_of_line<length>(depth);
  const int pieces = static_cast<int>((depth + kSplitPiece - 1) / kSplitPiece);
  const std::int64_t line = std::int64_t{block} * (kSplitWarps / warps) + warp / warps;
  const bool here = line < x.lines, vectors = x.in_vectors();
  const float* const from = x.data + (here ? line : x.lines - 1) * x.ld;
  float v[kPieces][8];

  // Where addresses allow it a lane loads its own neighbours; else what makes a warp's loads
  // neighbours, and own_neighbours() hands them over.
  const auto load = [&](int first) {
    WARPLADDER_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      const std::int64_t k0 = std::int64_t{first + p * warps} * kSplitPiece, k = k0 + lane * 8;
      if (vectors && k0 + kSplitPiece <= x.k) {
        const auto* const quads = reinterpret_cast<const float4*>(from + k);
        const float4 left = __ldcs(quads), right = __ldcs(quads + 1);
        v[p][0] = left.x, v[p][1] = left.y, v[p][2] = left.z, v[p][3] = left.w;
        v[p][4] = right.x, v[p][5] = right.y, v[p][6] = right.z, v[p][7] = right.w;
      } else {
        WARPLADDER_UNROLL
        for (int i = 0; i < 8; ++i) {
          const std::int64_t at = k0 + i * 32 + lane;
          v[p][i] = at < x.k ? __ldcs(from + at) : 0.0f;
        }
      }
    }
  };
  const auto own_neighbours = [&](std::int64_t piece, float(&own)[8]) {
    if (vectors && (piece + 1) * kSplitPiece <= x.k) return;
    float* const exchange = s.piece_of_warp[warp];
    __syncwarp();  // nobody reads the piece before any more
    WARPLADDER_UNROLL
    for (int i = 0; i < 8; ++i) exchange[i * 32 + lane] = own[i];
    __syncwarp();  // the piece is there
    WARPLADDER_UNROLL
    for (int i = 0; i < 8; ++i) own[i] = exchange[lane * 8 + i];
  };
  const int step = kPieces * warps;
  Range range;
  for (int first = warp % warps; first < pieces; first += step) {
    load(first);
    WARPLADDER_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      WARPLADDER_UNROLL
      for (int i = 0; i < 8; ++i) range.template add_element<Pairs>(v[p][i]);
    }
  }
  range.largest = __reduce_max_sync(0xffffffffu, range.largest);
  range.least_negated = __reduce_max_sync(0xffffffffu, range.least_negated);
  if (lane == 0) s.range_of_warp[warp] = range;
  sync();  // each warp's range is there before they are joined
  for (int w = 0; w < warps; ++w) range.add(s.range_of_warp[warp / warps * warps + w]);

  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (here && lane == 0 && warp % warps == 0) x.factor[line] = factor_of(Pairs(), range, exponent);
  Spread spread;
  unsigned char* const to = x.pairs + line * x.line_bytes;
  for (int first = warp % warps; first < pieces; first += step) {
    if (pieces > step) load(first);
    WARPLADDER_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      const std::int64_t piece = first + p * warps, k = piece * kSplitPiece + lane * 8;
      if (piece >= pieces) break;
      own_neighbours(piece, v[p]);
      SpreadCount count;
      count.add(v[p], range.largest);
      count.small = __reduce_add_sync(0xffffffffu, count.small);
      count.large = __reduce_add_sync(0xffffffffu, count.large);
      if (here) {
        include(spread, count, piece_length(x.k - piece * kSplitPiece, kSplitPiece), range.largest);
      }
      WARPLADDER_UNROLL
      for (int i = 0; i < 8; ++i) v[p][i] *= scale;
      if (here && k < depth) Pairs::write8(to, k, v[p]);
    }
  }
  write_spread(x, block, spread, s.spread_of_warp, sync);
}

// Where blocks of a cluster meet over the lines that they share.
template <int kRows, int kLines>
struct SplitAcrossShared {
  static constexpr int kMostBlocks = 16;
  float rows[kRows][kLines + 1];  // of k; the odd length keeps columns in all banks
  Range range_of_warp[kSplitWarps][kLines];
  Range range_of_block[kMostBlocks][kLines];  // of the cluster, each written by its block
  unsigned spread_of_warp[2 * kSplitWarps];
};
template <LineLength length>
using SplitShared = SplitAcrossShared<SplitShape<length>::rows, SplitShape<length>::lines>;

// Lines across memory: a block has some rows of some lines at a time, its cluster the whole lines.
template <class Pairs, LineLength length, class Sync>
__device__ __forceinline__ void split_across(const SplitOperand& x, unsigned block, unsigned rank,
                                             unsigned cluster, void* shared, Sync& sync) {
  constexpr int kRows = SplitShape<length>::rows, kLines = SplitShape<length>::lines;
  auto& s = *static_cast<SplitShared<length>*>(shared);
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const std::int64_t line0 = std::int64_t{block / cluster} * kLines;
  const std::int64_t pieces = (depth + kSplitPiece - 1) / kSplitPiece,
                     span = (pieces + cluster - 1) / cluster * kSplitPiece, begin = rank * span,
                     end = begin + span < depth ? begin + span : depth;
  const bool whole = line0 + kLines <= x.lines && x.in_vectors();

  // A thread has four neighbouring lines of every kSplitThreads / (kLines / 4)-th row; or, where
  // addresses do not allow to load four at once, one line of every kSplitThreads / kLines-th.
  constexpr int kQuads = kLines / 4;
  const int quad = thread % kQuads * 4;
  Range of_line[4];
  const auto load = [&](std::int64_t first) {
    if (whole) {
      constexpr int kInFlight = 8, kStep = kSplitThreads / kQuads;
      for (int r0 = thread / kQuads; r0 < kRows; r0 += kInFlight * kStep) {
        float4 v[kInFlight];
        WARPLADDER_UNROLL
        for (int u = 0; u < kInFlight; ++u) {
          const std::int64_t k = first + r0 + u * kStep;
          v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
          if (k < end && k < x.k) {
            v[u] = __ldcs(reinterpret_cast<const float4*>(x.data + k * x.ld + line0 + quad));
          }
        }
        WARPLADDER_UNROLL
        for (int u = 0; u < kInFlight; ++u) {
          const float four[] = {v[u].x, v[u].y, v[u].z, v[u].w};
          WARPLADDER_UNROLL
          for (int i = 0; i < 4; ++i) {
            s.rows[r0 + u * kStep][quad + i] = four[i];
            of_line[i].template add_element<Pairs>(four[i]);
          }
        }
      }
    } else {
      const int one = thread % kLines;
      const std::int64_t line = line0 + one;
      constexpr int kInFlight = 16, kStep = kSplitThreads / kLines;
      for (int r0 = thread / kLines; r0 < kRows; r0 += kInFlight * kStep) {
        float v[kInFlight];
        WARPLADDER_UNROLL
        for (int i = 0; i < kInFlight; ++i) {
          const std::int64_t k = first + r0 + i * kStep;
          const bool is_there = line < x.lines && k < end && k < x.k;
          v[i] = is_there ? __ldcs(x.data + k * x.ld + line) : 0.0f;
        }
        WARPLADDER_UNROLL
        for (int i = 0; i < kInFlight; ++i) {
          s.rows[r0 + i * kStep][one] = v[i];
          of_line[0].template add_element<Pairs>(v[i]);
        }
      }
    }
  };
  for (std::int64_t first = begin; first < end; first += kRows) load(first);
  // Lanes that have the same lines join what they found; the first of them writes it.
  const int of_lines = whole ? kQuads : kLines < 32 ? kLines : 32;
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !whole) break;
    for (int apart = of_lines; apart < 32; apart *= 2) {
      of_line[i].add({__shfl_xor_sync(0xffffffffu, of_line[i].largest, apart),
                      __shfl_xor_sync(0xffffffffu, of_line[i].least_negated, apart)});
    }
    if (lane < of_lines) s.range_of_warp[warp][whole ? quad + i : lane] = of_line[i];
  }
  sync();  // all warps' ranges, and the rows, are there
  for (unsigned i = thread; i < cluster * kLines; i += kSplitThreads) {
    const unsigned of = i % kLines, to = i / kLines;
    Range of_block;
    WARPLADDER_UNROLL
    for (int w = 0; w < kSplitWarps; ++w) of_block.add(s.range_of_warp[w][of]);
    Range* const place = &s.range_of_block[rank][of];
    *(cluster > 1 ? ptx::in_block(place, to) : place) = of_block;
  }
  if (cluster > 1) {
    ptx::cluster_barrier();  // all blocks' ranges are here
  } else {
    sync();  // the block's ranges are there
  }

  // A warp has 8 lines of a piece of 256: lanes 8 apart have neighbours of 8 along k.
  constexpr int kEights = kLines / 8, kPart = SplitShape<length>::part;
  const int line = warp % kEights * 8 + lane % 8, part = warp / kEights * kPart;
  Range range;
  for (unsigned r = 0; r < cluster; ++r) range.add(s.range_of_block[r][line]);
  const bool here = line0 + line < x.lines;
  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (here && rank == 0 && warp < kEights && lane < 8) {
    x.factor[line0 + line] = factor_of(Pairs(), range, exponent);
  }
  Spread spread;
  unsigned char* const to = x.pairs + (line0 + line) * x.line_bytes;
  for (std::int64_t first = begin; first < end; first += kRows) {
    if (span > kRows) {
      sync();  // nobody reads rows that are about to change
      load(first);
      sync();  // the rows are there
    }
    SpreadCount count;
    for (int at = part + lane / 8 * 8; at < part + kPart; at += 32) {
      if (first + at >= end) break;
      float v[8];
      WARPLADDER_UNROLL
      for (int i = 0; i < 8; ++i) v[i] = s.rows[at + i][line];
      count.add(v, range.largest);
      WARPLADDER_UNROLL
      for (int i = 0; i < 8; ++i) v[i] *= scale;
      if (here && first + at < depth) Pairs::write8(to, first + at, v);
    }
    WARPLADDER_UNROLL
    for (int apart = 8; apart < 32; apart *= 2) {
      count.small += __shfl_xor_sync(0xffffffffu, count.small, apart);
      count.large += __shfl_xor_sync(0xffffffffu, count.large, apart);
    }
    const std::int64_t piece = first + part;
    if (here && piece < end) {
      include(spread, count, piece_length(x.k - piece, kPart), range.largest);
    }
  }
  write_spread(x, block, spread, s.spread_of_warp, sync);
}

// Both operands in one launch, first the one that takes longer.
template <class Pairs, LineLength length>
__device__ __forceinline__ void split_block(const SplitOperand& a, const SplitOperand& b,
                                            unsigned cluster, void* shared) {
  const bool b_first = length != LineLength::brief && a.along && !b.along;
  const unsigned first = b_first ? b.blocks : a.blocks;
  const bool is_b = (blockIdx.x < first) == b_first;
  const SplitOperand& x = is_b ? b : a;
  const unsigned block = blockIdx.x < first ? blockIdx.x : blockIdx.x - first;
  BlockSync sync;
  if (x.along) {
    split_along<Pairs, length>(x, block, shared, sync);
  } else {
    split_across<Pairs, length>(x, block, cluster > 1 ? ptx::cluster_rank() : 0, cluster, shared,
                                sync);
  }
}

// Whether FP16 pairs hold both operands; b's spreads lie behind a's. Called by all threads of a
// block, with a word of shared memory for each warp, operand and count; has a barrier.
template <int kThreads>
__device__ __forceinline__ bool fits_half_pairs(const SplitOperand& a, const SplitOperand& b,
                                                unsigned (&shared)[4][kThreads / 32]) {
  constexpr int kInFlight = 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned blocks = a.blocks + b.blocks;
  unsigned most[4] = {};
  WARPLADDER_NO_UNROLL
  for (unsigned i0 = threadIdx.x; i0 < blocks; i0 += kInFlight * kThreads) {
    Spread here[kInFlight];
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      if (i0 + u * kThreads < blocks) here[u] = a.spread[i0 + u * kThreads];
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      const bool of_a = i0 + u * kThreads < a.blocks;
      most[0] = max(most[0], of_a ? here[u].small : 0);
      most[1] = max(most[1], of_a ? here[u].far : 0);
      most[2] = max(most[2], of_a ? 0 : here[u].small);
      most[3] = max(most[3], of_a ? 0 : here[u].far);
    }
  }
  WARPLADDER_UNROLL
  for (int r = 0; r < 4; ++r) {
    most[r] = __reduce_max_sync(0xffffffffu, most[r]);
    if (lane == 0) shared[r][warp] = most[r];
  }
  __syncthreads();  // every warp's are there
  WARPLADDER_UNROLL
  for (int r = 0; r < 4; ++r) {
    most[r] = __reduce_max_sync(0xffffffffu, shared[r][lane % (kThreads / 32)]);
  }
  const unsigned small = most[0] + most[2], far = most[1] + most[3];
  return small == 0 || 2 * small + far <= 256;
}

// The whole pass by blocks that are doing something else, 256 threads of each: they take turns at
// what the pass's blocks would do, by tickets, until none are left. No block waits for one that has
// not begun. `taken` and `done` are zero before. `sync` also orders what they write to shared
// memory. Called by the 256 threads alone; the rest is ptx/tma.hpp's fence and pass_is_done().
template <class Pairs, LineLength length, class Sync>
__device__ __forceinline__ void split_by_tickets(const SplitOperand& a, const SplitOperand& b,
                                                 unsigned* taken, unsigned* done, unsigned* ticket,
                                                 void* shared, Sync& sync) {
  for (;;) {
    if (threadIdx.x == 0) *ticket = atomicAdd(taken, 1u);
    sync();  // all see the ticket
    const unsigned block = *ticket;
    if (block >= a.blocks + b.blocks) return;
    const SplitOperand& x = block < a.blocks ? a : b;
    const unsigned of_operand = block < a.blocks ? block : block - a.blocks;
    if (x.along) {
      split_along<Pairs, length>(x, of_operand, shared, sync);
    } else {
      split_across<Pairs, length>(x, of_operand, 0, 1, shared, sync);
    }
    ptx::fence_async_proxy();  // the copy engine will read what was written
    __threadfence();
    sync();  // all have written, and nobody reads the ticket any more
    if (threadIdx.x == 0) atomicAdd(done, 1u);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
