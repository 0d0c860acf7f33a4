#pragma once
// What the split pass (parts/split.hpp) takes and writes, and how thread blocks share the work.
//
// A line is a row of A or a column of B: k elements. It is contiguous if neighbours along k are
// neighbours in memory, and strided if they are a leading dimension apart.

#include "parts/ptx/cache_policy.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kSplitThreads = 256, kSplitWarps = kSplitThreads / 32, kSplitPiece = 256;
constexpr unsigned kMostSharing = 8;     // blocks that share a contiguous line
constexpr std::int64_t kSplitMore = 64;  // elements of k that need no further block of a cluster

// How much of its lines a block keeps on chip between the two reads of an element. The first read
// finds a line's largest element, the second writes the pairs.
enum class SplitShape { short_lines, medium_lines, long_lines, one_block_per_sm };

// Of contiguous lines a warp keeps `pieces` of 256 elements in registers. Of `lines` strided lines
// a block keeps `rows` elements each in shared memory, and `more` if that is all it has. Its warps
// write `part` elements of 8 lines at a time. `blocks`: blocks per SM.
// Longer lines need more registers, so fewer blocks fit on an SM.
template <SplitShape shape>
struct SplitTraits {
  static constexpr bool is_short = shape == SplitShape::short_lines,
                        is_medium = shape == SplitShape::medium_lines,
                        is_alone = shape == SplitShape::one_block_per_sm;
  static constexpr int pieces = is_short ? 4 : (is_medium ? 5 : 8),
                       lines = is_short || is_alone ? 8 : (is_medium ? 32 : 16),
                       rows = is_medium ? 512 : (is_alone ? 4096 : 1024), more = is_medium ? 16 : 0,
                       blocks = is_medium ? 3 : (is_alone ? 1 : 2),
                       part = is_alone ? 128 : rows * (lines / 8) / kSplitWarps;
  static_assert(kSplitPiece % part == 0);
};

// Loads an operand's element. Longer lines are evicted from the L2 cache first, to leave it to the
// pairs. Short lines stay for the next product.
template <SplitShape shape, class T>
__device__ __forceinline__ T load_once(const T* from) {
  if constexpr (shape == SplitShape::short_lines) {
    return *from;
  } else {
    return __ldcs(from);
  }
}
// The same without allocating in L1, for single words: a load in flight reserves a whole cache
// line, and shared memory leaves few.
template <SplitShape shape>
__device__ __forceinline__ float load_past_l1(const float* from) {
  if constexpr (shape == SplitShape::short_lines) {
    return *from;
  } else {
    return ptx::load_with(ptx::evict_first(), from);
  }
}

// The shape for lines of `depth` elements, in a kernel of the pass's own.
__host__ __device__ __forceinline__ SplitShape split_shape_of(std::int64_t depth) {
  return depth <= 1024   ? SplitShape::short_lines
         : depth <= 8192 ? SplitShape::medium_lines
                         : SplitShape::long_lines;
}
// Calls run.template operator()<shape>() with that shape.
template <class Run>
__host__ __device__ __forceinline__ auto with_split_shape(std::int64_t depth, const Run& run) {
  switch (split_shape_of(depth)) {
    case SplitShape::short_lines:
      return run.template operator()<SplitShape::short_lines>();
    case SplitShape::medium_lines:
      return run.template operator()<SplitShape::medium_lines>();
    default:
      return run.template operator()<SplitShape::long_lines>();
  }
}

// What FP16 pairs lose, as maxima over lines or parts of lines, packed as a block writes it.
struct alignas(16) StoredLoss {
  static constexpr unsigned kUnknown = 0xffffff;  // of pieces that nobody counted
  unsigned shapes = 0, sizes = 0, pieces = 0;
};
// The same as numbers: parts/split.hpp names them. Each is rounded up.
struct PrecisionLoss {
  unsigned below8 = 0;             // L, in 255ths
  unsigned depth = 0, spread = 0;  // 1 / G and M / G, as from_one() codes them
  unsigned mean = 0, small = 0;    // M and S, as the upper halves of floats
  unsigned joined = 0, least = 0;  // 1 / H and 1 / g, as from_one() codes them

  static constexpr int kSteps = 7;  // log2 of the codes for each power of two

  PrecisionLoss() = default;
  __device__ __forceinline__ explicit PrecisionLoss(const StoredLoss& s)
      : below8(s.shapes & 0xff),
        depth(s.shapes >> 8 & 0xfff),
        spread(s.shapes >> 20),
        mean(s.sizes & 0xffff),
        small(s.sizes >> 16),
        joined(s.pieces & 0xfff),
        least(s.pieces >> 12) {}
  // No FP16 pair can hold some line.
  __device__ __forceinline__ static PrecisionLoss unrepresentable() {
    PrecisionLoss loss;
    loss.below8 = 255, loss.depth = loss.spread = 0xfff, loss.mean = loss.small = 0x7f00;
    loss.joined = loss.least = 0xfff;
    return loss;
  }
  __device__ __forceinline__ StoredLoss stored() const {
    return {below8 | depth << 8 | spread << 20, mean | small << 16, joined | least << 12};
  }
  // Numbers from 1 on, as the bits of floats above those of 1, rounded up to 12 bits.
  __device__ __forceinline__ static unsigned from_one(float x) {
    constexpr int kOfOne = 127 << kSteps;
    const int code = static_cast<int>(__float_as_uint(x) >> (23 - kSteps)) + 1 - kOfOne;
    return static_cast<unsigned>(min(max(code, 0), 0xfff));
  }
  __device__ __forceinline__ static float number_from_one(unsigned code) {
    return __uint_as_float((127u << 23) + (code << (23 - kSteps)));
  }
  __device__ __forceinline__ static float number(unsigned upper_half) {
    return __uint_as_float(upper_half << 16);
  }
  __device__ __forceinline__ void include(const PrecisionLoss& more) {
    below8 = max(below8, more.below8);
    depth = max(depth, more.depth), spread = max(spread, more.spread);
    mean = max(mean, more.mean), small = max(small, more.small);
    joined = max(joined, more.joined), least = max(least, more.least);
  }
  // Includes what the warp's other lanes have.
  __device__ __forceinline__ void include_warp() {
    below8 = warp::greatest(below8);
    depth = warp::greatest(depth), spread = warp::greatest(spread);
    mean = warp::greatest(mean), small = warp::greatest(small);
    joined = warp::greatest(joined), least = warp::greatest(least);
  }
  // Includes this in one that other threads include theirs in, too.
  __device__ __forceinline__ void add_to(PrecisionLoss& shared) const {
    atomicMax(&shared.below8, below8);
    atomicMax(&shared.depth, depth), atomicMax(&shared.spread, spread);
    atomicMax(&shared.mean, mean), atomicMax(&shared.small, small);
    atomicMax(&shared.joined, joined), atomicMax(&shared.least, least);
  }
};

// A block writes this word once it has counted more loss than FP16 pairs may have. The pass's first
// block clears the word before, and the product after it. A word lost to the first clearing costs
// time, and a stale one the speed of FP16 pairs, but neither costs correctness.
constexpr unsigned kStop = 0x57a6e0ff;

// An operand as the pass takes it, and what the pass writes, all 16-byte aligned. Element
// (line, k) lies at line·ld + k if `contiguous`, else at line + k·ld.
struct SplitOperand {
  const float* data;
  std::int64_t ld, lines, k;
  bool contiguous;
  unsigned char* pairs = nullptr;  // lines × line_bytes
  std::int64_t line_bytes = 0;
  float* factor = nullptr;     // of each line: multiplies what its pairs give
  StoredLoss* loss = nullptr;  // of each block, or of each `sharing` blocks
  unsigned* stop = nullptr;    // kStop: FP16 pairs do not suffice, skip the rest
  unsigned blocks = 0;
  unsigned sharing = 1;       // blocks of a cluster that share a contiguous line: a power of two
  unsigned first_blocks = 0;  // blocks of the first wave, which start before any has counted
  std::int64_t span = 0;      // elements of k per block of a cluster: split_span()

  __host__ __device__ __forceinline__ bool in_vectors() const {
    return (reinterpret_cast<std::uintptr_t>(data) & 15) == 0 && ld % 4 == 0;
  }
  __host__ __device__ __forceinline__ unsigned losses() const { return blocks / sharing; }
};

// k padded to a multiple of 64, the depth of a chunk; at least 64.
__host__ __device__ __forceinline__ std::int64_t padded_depth(std::int64_t k) {
  return k > 64 ? (k + 63) / 64 * 64 : 64;
}

// log2 of the number of warps that share a contiguous line.
template <SplitShape shape>
__host__ __device__ __forceinline__ int warps_of_line_log2(std::int64_t depth) {
  int log2 = 0;
  while (1 << log2 < kSplitWarps && (SplitTraits<shape>::pieces * kSplitPiece << log2) < depth) {
    ++log2;
  }
  return log2;
}

// How many blocks share a contiguous line. They read twice what their registers do not hold. The
// second read comes from the L2 cache, as long as all lines under way fit into it.
__host__ __device__ __forceinline__ unsigned blocks_of_contiguous_line(std::int64_t depth) {
  constexpr std::int64_t kOfBlock = 28672;  // of two blocks per SM, where the cache has 50 MiB
  unsigned blocks = 1;
  while (blocks < kMostSharing && blocks * kOfBlock < depth) blocks *= 2;
  return blocks;
}

// The cluster size for strided lines. Without clusters a block reads longer lines twice.
inline unsigned split_cluster(std::int64_t depth, const runtime::Machine& machine) {
  if (machine.clusters_of(2) == 0) return 1;
  constexpr std::int64_t kMost = 16;  // 8 is portable, Hopper can do 16
  return with_split_shape(depth, [&]<SplitShape shape>() {
    constexpr std::int64_t kRows = SplitTraits<shape>::rows;
    const std::int64_t wanted = depth > kRows ? (depth - kSplitMore + kRows - 1) / kRows : 1;
    return static_cast<unsigned>(wanted < kMost ? wanted : kMost);
  });
}

// Elements of k for each block of a cluster. The last block takes the rest, which may be kSplitMore
// elements more than the others have.
template <SplitShape shape>
__host__ __device__ __forceinline__ std::int64_t split_span(std::int64_t depth, unsigned cluster) {
  constexpr std::int64_t kRows = SplitTraits<shape>::rows;
  const std::int64_t held = cluster * kRows, pieces = (depth + kSplitPiece - 1) / kSplitPiece;
  return depth > held && depth <= held + kSplitMore
             ? kRows
             : (pieces + cluster - 1) / cluster * kSplitPiece;
}

// The part of k that block `rank` of a cluster has of strided lines padded to `depth`.
// held_at_once: the block keeps all of it, although it is more than SplitTraits::rows.
struct SplitPart {
  std::int64_t begin, end;
  bool held_at_once;
};
template <SplitShape shape>
__host__ __device__ __forceinline__ SplitPart split_part(const SplitOperand& x, std::int64_t depth,
                                                         unsigned rank, unsigned cluster) {
  constexpr int kRows = SplitTraits<shape>::rows, kMore = SplitTraits<shape>::more;
  const std::int64_t begin = rank * x.span,
                     end = begin + x.span < depth && rank + 1 < cluster ? begin + x.span : depth,
                     k_end = end < x.k ? end : x.k;  // behind k there is padding
  return {begin, end, kMore > 0 && end - begin > kRows && k_end - begin <= kRows + kMore};
}

// The number of blocks that split `lines` lines; clusters are whole. `sharing`: blocks that share
// a contiguous line.
template <SplitShape shape>
unsigned split_blocks(std::int64_t lines, std::int64_t depth, bool contiguous, unsigned cluster,
                      unsigned sharing) {
  const int of_block =
      contiguous ? kSplitWarps >> warps_of_line_log2<shape>(depth) : SplitTraits<shape>::lines;
  const std::int64_t blocks = (lines + of_block - 1) / of_block * (contiguous ? sharing : cluster);
  return static_cast<unsigned>((blocks + cluster - 1) / cluster * cluster);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
