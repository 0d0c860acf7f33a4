#pragma once
// What the pass that splits operands (parts/split.hpp) takes, and how it shares the work out.

#include "parts/ptx/cache_policy.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kSplitThreads = 256, kSplitWarps = kSplitThreads / 32, kSplitPiece = 256;
constexpr std::int64_t kSplitMore = 64;  // elements of k that cost no further block of a cluster

// How much a block keeps of what it has read. Of lines along memory a warp holds `pieces` of 256 in
// registers; of `lines` across memory a block holds `rows` in shared memory, and `more` if these
// are all it has, of which its warps write `part` rows of 8 lines at a time. Long lines want more
// registers, and fewer blocks at a time; a block that has a multiprocessor to itself can keep the
// most.
enum class LineLength { brief, medium, lengthy, alone };
template <LineLength length>
struct SplitShape {
  static constexpr bool brief = length == LineLength::brief, medium = length == LineLength::medium,
                        alone = length == LineLength::alone;
  static constexpr int pieces = brief ? 4 : (medium ? 5 : 8),
                       lines = brief || alone ? 8 : (medium ? 32 : 16),
                       rows = medium ? 512 : (alone ? 4096 : 1024), more = medium ? 16 : 0,
                       blocks = medium ? 3 : (alone ? 1 : 2),
                       part = alone ? 128 : rows * (lines / 8) / kSplitWarps;
  static_assert(kSplitPiece % part == 0);
};
// An operand's elements, which the pass reads once: long lines are the first to leave the L2 cache,
// and leave it to what the pass writes. Short lines stay, for who multiplies again.
template <LineLength length, class T>
__device__ __forceinline__ T load_once(const T* from) {
  if constexpr (length == LineLength::brief) {
    return *from;
  } else {
    return __ldcs(from);
  }
}
// The same without a line in L1. A load on its way reserves one there, of a word as much as of
// four, and shared memory has left few.
template <LineLength length>
__device__ __forceinline__ float load_past_l1(const float* from) {
  if constexpr (length == LineLength::brief) {
    return *from;
  } else {
    return ptx::load_with(ptx::evict_first(), from);
  }
}

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

// What a block writes that has counted more than FP16 pairs can hold. The product behind the pass
// clears the word, nobody does in front of it: memory that happens to hold this costs the pass, and
// so the product speed and FP16's roundings, but nothing else.
constexpr unsigned kStop = 0x57a6e0ff;
// An operand as the pass takes it: `lines` lines of k elements, element (line, k) at
// line·ld + k if `along`, else at line + k·ld; and what it writes, all 16-byte aligned.
struct SplitOperand {
  const float* data;
  std::int64_t ld, lines, k;
  bool along;
  unsigned char* pairs = nullptr;  // lines × line_bytes
  std::int64_t line_bytes = 0;
  float* factor = nullptr;   // of each line: what its pairs are to be multiplied by
  Spread* spread = nullptr;  // of each block
  unsigned* stop = nullptr;  // kStop: FP16 pairs cannot hold the operands, leave them
  unsigned blocks = 0;
  unsigned first_blocks = 0;  // of the pass, that run at once, so that none of them has counted
  std::int64_t span = 0;      // of k, for each block of a cluster: split_span()

  __host__ __device__ __forceinline__ bool in_vectors() const {
    return (reinterpret_cast<std::uintptr_t>(data) & 15) == 0 && ld % 4 == 0;
  }
};

// k padded to the groups of 64 that a promoted chunk consists of; at least one.
__host__ __device__ __forceinline__ std::int64_t padded_depth(std::int64_t k) {
  return k > 64 ? (k + 63) / 64 * 64 : 64;
}

// Of the warps that share a line which lies along memory, a power of two, the logarithm.
template <LineLength length>
__host__ __device__ __forceinline__ int warps_of_line_log2(std::int64_t depth) {
  int log2 = 0;
  while (1 << log2 < kSplitWarps && (SplitShape<length>::pieces * kSplitPiece << log2) < depth) {
    ++log2;
  }
  return log2;
}

// Blocks of a cluster that share lines which lie across memory.
inline unsigned split_cluster(std::int64_t depth) {
  constexpr std::int64_t kMost = 16;  // 8 is portable, Hopper can do 16
  return with_length(depth, [&]<LineLength length>() {
    constexpr std::int64_t kRows = SplitShape<length>::rows;
    const std::int64_t wanted = depth > kRows ? (depth - kSplitMore + kRows - 1) / kRows : 1;
    return static_cast<unsigned>(wanted < kMost ? wanted : kMost);
  });
}

// Elements of k that each of them has, but the last: that has what is left. A little more than the
// cluster holds is the last one's too.
template <LineLength length>
__host__ __device__ __forceinline__ std::int64_t split_span(std::int64_t depth, unsigned cluster) {
  constexpr std::int64_t kRows = SplitShape<length>::rows;
  const std::int64_t held = cluster * kRows, pieces = (depth + kSplitPiece - 1) / kSplitPiece;
  return depth > held && depth <= held + kSplitMore
             ? kRows
             : (pieces + cluster - 1) / cluster * kSplitPiece;
}

// The part of k that block `rank` of a cluster has of lines which lie across memory, of k elements
// and padded to `depth`. held_at_once: all of it, though it is more than SplitShape's rows.
struct SplitPart {
  std::int64_t begin, end;
  bool held_at_once;
};
template <LineLength length>
__host__ __device__ __forceinline__ SplitPart split_part(const SplitOperand& x, std::int64_t depth,
                                                         unsigned rank, unsigned cluster) {
  constexpr int kRows = SplitShape<length>::rows, kMore = SplitShape<length>::more;
  const std::int64_t begin = rank * x.span,
                     end = begin + x.span < depth && rank + 1 < cluster ? begin + x.span : depth,
                     k_end = end < x.k ? end : x.k;  // behind k there is padding
  return {begin, end, kMore > 0 && end - begin > kRows && k_end - begin <= kRows + kMore};
}

template <LineLength length>
unsigned split_blocks(std::int64_t lines, std::int64_t depth, bool along, unsigned cluster) {
  const int of_block =
      along ? kSplitWarps >> warps_of_line_log2<length>(depth) : SplitShape<length>::lines;
  const std::int64_t blocks = (lines + of_block - 1) / of_block * (along ? 1 : cluster);
  return static_cast<unsigned>((blocks + cluster - 1) / cluster * cluster);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
