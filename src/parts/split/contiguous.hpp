#pragma once
// Splits contiguous lines. A lane has eight neighbours along k, and a warp a piece of 256 elements.
// One to eight warps share a line, or those of up to eight blocks of a cluster. A lane loads its
// own neighbours where addresses allow. Elsewhere lanes load neighbouring words, and exchange them
// in shared memory.
//
// The lambdas of split_contiguous() are thin on purpose. Functions in their place, or one function
// more around a load, change what ptxas makes of it by up to 5 % of the instructions.

#include "parts/ptx/cluster.hpp"
#include "parts/split/loss.hpp"
#include "parts/split/operand.hpp"
#include "parts/split/range.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

struct SplitContiguousShared {
  alignas(16) float piece_of_warp[kSplitWarps][kSplitPiece];
  Range range_of_warp[kSplitWarps];
  LossCount count_of_warp[kSplitWarps];
  // Of the blocks that share a line. The first of them has all counts.
  Range range_of_block[kMostSharing];
  LossCount count_of_block[kMostSharing];
};

// A line's blocks: so many of the cluster's share it. This one is `own` of them; the first one's
// rank in the cluster is `first`.
struct LineShare {
  unsigned blocks, own, first;
  __device__ __forceinline__ LineShare(unsigned sharing, unsigned rank)
      : blocks(sharing), own(rank & (sharing - 1)), first(rank - own) {}
};

// Joins the ranges that the line's warps have found, `warps` of this block from `first` on. Called
// by all threads, of all the line's blocks.
template <class Sync>
__device__ __forceinline__ void join_ranges(SplitContiguousShared& s, const LineShare& share,
                                            int first, int warps, Range& range, Sync& sync) {
  if (threadIdx.x % 32 == 0) s.range_of_warp[threadIdx.x / 32] = range;
  sync();  // all warps have written their ranges
  for (int w = first; w < first + warps; ++w) range.add(s.range_of_warp[w]);
  if (share.blocks == 1) return;
  ptx::cluster_wait();  // a block has no shared memory before it starts
  if (threadIdx.x < share.blocks) {
    *ptx::in_block(&s.range_of_block[share.own], share.first + threadIdx.x) = range;
  }
  ptx::cluster_barrier();
  for (unsigned b = 0; b < share.blocks; ++b) range.add(s.range_of_block[b]);
}

// Records the loss of the block's `lines` lines, or, in the first of the line's blocks, of the one
// that they share. Called by all threads of the line's blocks.
template <class Sync>
__device__ __forceinline__ void record_counts(const SplitOperand& x, SplitContiguousShared& s,
                                              unsigned block, const LineShare& share, int lines,
                                              LossCount count, Sync& sync) {
  const auto k = static_cast<unsigned>(x.k);
  if (threadIdx.x % 32 == 0) s.count_of_warp[threadIdx.x / 32] = count;
  if (share.blocks == 1) {
    const int warps = kSplitWarps / lines;
    return record_loss(x, block, {s.count_of_warp, lines, warps, warps, 1, k}, sync);
  }
  sync();  // all warps have written their counts
  if (threadIdx.x == 0) {
    LossCount total;
    for (const LossCount& of_warp : s.count_of_warp) total.add(of_warp);
    *ptx::in_block(&s.count_of_block[share.own], share.first) = total;
  }
  ptx::cluster_barrier();
  if (share.own > 0) return;
  record_loss(x, block / share.blocks,
              {s.count_of_block, 1, 1, static_cast<int>(share.blocks), 1, k}, sync);
}

// Loads a contiguous operand's element. Of long lines it stays in the L2 cache, to be read again.
template <SplitShape shape, class T>
__device__ __forceinline__ T load_contiguous(const T* from) {
  if constexpr (shape == SplitShape::long_lines) {
    return *from;
  } else {
    return load_once<shape>(from);
  }
}

// Loads a piece as words: neighbouring lanes load neighbouring elements.
template <SplitShape shape>
__device__ WARPLADDER_INLINE_ON_GPU void load_piece_as_words(const SplitOperand& x,
                                                             const float* from, int piece,
                                                             int whole, int lane,
                                                             float (&words)[8]) {
  const std::int64_t k0 = std::int64_t{piece} * kSplitPiece;
  const int left = piece < whole ? kSplitPiece : static_cast<int>(x.k - k0);
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 8; ++i) {
    words[i] = i * 32 + lane < left ? load_contiguous<shape>(from + k0 + i * 32 + lane) : 0.0f;
  }
}

// Loads a warp's pieces from `first` on: the first `direct` ones of the line as float4, others by
// load_words(). A lane's eight neighbours begin at own_first; the fifth lies kStride float4 behind.
template <SplitShape shape, int kStride, int kPieces, class LoadWords>
__device__ __forceinline__ void load_pieces(const float* from, int first, int warps, int pieces,
                                            int direct, int own_first, float (&v)[kPieces][8],
                                            const LoadWords& load_words) {
  WARPLADDER_UNROLL_ON_GPU
  for (int p = 0; p < kPieces; ++p) {
    const int piece = first + p * warps;
    if (piece >= pieces) break;
    if (piece < direct) {
      const std::int64_t k0 = std::int64_t{piece} * kSplitPiece;
      const auto* const quads = reinterpret_cast<const float4*>(from + k0 + own_first);
      const float4 left = load_contiguous<shape>(quads),
                   right = load_contiguous<shape>(quads + kStride);
      v[p][0] = left.x, v[p][1] = left.y, v[p][2] = left.z, v[p][3] = left.w;
      v[p][4] = right.x, v[p][5] = right.y, v[p][6] = right.z, v[p][7] = right.w;
    } else {
      load_words(piece, v[p]);
    }
  }
}

// Exchanges the words of a piece among a warp's lanes, so that each gets its own neighbours.
template <int kStride>
__device__ WARPLADDER_INLINE_ON_GPU void exchange_words(float* piece, int lane, int own_first,
                                                        float (&own)[8]) {
  __syncwarp();  // no lane reads the previous piece any more
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 8; ++i) piece[i * 32 + lane] = own[i];
  __syncwarp();  // the piece is complete
  const auto* const quads = reinterpret_cast<const float4*>(piece + own_first);
  const float4 left = quads[0], right = quads[kStride];
  own[0] = left.x, own[1] = left.y, own[2] = left.z, own[3] = left.w;
  own[4] = right.x, own[5] = right.y, own[6] = right.z, own[7] = right.w;
}

// Writes a line's pairs, given its range. `v` holds the warp's first pieces already. Returns the
// warp's share of the line's counts. kByPiece: of its pieces, too.
template <class Pairs, bool kByPiece, int kPieces, class Load, class LoadWords, class Exchange>
__device__ __forceinline__ LossCount write_line(const SplitOperand& x, bool in_operand,
                                                std::int64_t line, int of_line, int warps,
                                                int pieces, int whole, int lane, std::int64_t depth,
                                                const Range& range, float (&v)[kPieces][8],
                                                const Load& load, const LoadWords& load_words,
                                                const Exchange& exchange) {
  const int step = kPieces * warps;
  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (in_operand && lane == 0 && of_line == 0) x.factor[line] = factor_of(Pairs(), range, exponent);
  unsigned char* const to = x.pairs + line * x.line_bytes;
  const bool counts = Pairs::kCounted && in_operand && range.largest != 0;
  LossCount count;
  QuickCount quick;
  for (int first = of_line; first < pieces; first += step) {
    if (first > of_line) load(first);
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      const int piece = first + p * warps;
      if (piece >= pieces) break;
      const std::int64_t k = std::int64_t{piece} * kSplitPiece + lane * 8;
      exchange(piece, v[p]);
      float scaled[8];
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 8; ++i) scaled[i] = v[p][i] * scale;
      unsigned hi[4] = {};
      if (in_operand && k < depth) Pairs::write8(to, k, scaled, hi, quick.magnitude);
      if (!counts) continue;
      const unsigned before = quick.exponents;
      quick.add(hi, piece < whole ? 0u : ~0u);
      if constexpr (kByPiece) {
        const unsigned exponents = warp::sum(quick.exponents - before);
        const std::int64_t left = x.k - std::int64_t{piece} * kSplitPiece;
        if (lane == 0 && left > 0) count.add_piece(exponents, length_of_piece(left));
      }
    }
  }
  if (counts) {
    const bool recount = __any_sync(0xffffffffu, quick.may_be_small());
    // Load those pieces and the line's end once more: code that counts in the registers of each
    // would be long.
    WARPLADDER_NO_UNROLL
    for (int piece = of_line; piece < pieces; piece += warps) {
      const std::int64_t left = x.k - std::int64_t{piece} * kSplitPiece;
      if ((piece < whole && !recount) || left <= 0) continue;
      float words[8];
      load_words(piece, words);
      count.add_small(words, range.largest);
    }
    quick.add_to(count);
    count.add_of_lanes<32, kByPiece>();
  }
  count.set_line(in_operand, range.largest);
  return count;
}

// Splits the lines of block `block`, which is block `rank` of its cluster. Called by the pass's 256
// threads.
template <class Pairs, SplitShape shape, class Sync>
__device__ __forceinline__ void split_contiguous(const SplitOperand& x, unsigned block,
                                                 unsigned rank, void* shared, Sync& sync) {
  constexpr bool kIsLong = shape == SplitShape::long_lines;
  const LineShare share(kIsLong ? x.sharing : 1, rank);
  if (sync.skips && share.blocks == 1) {
    if (threadIdx.x == 0) sync.record(x, block, PrecisionLoss());
    return;
  }
  constexpr int kPieces = SplitTraits<shape>::pieces;
  auto& s = *static_cast<SplitContiguousShared*>(shared);
  if (share.blocks > 1) ptx::cluster_arrive_relaxed();
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            warps_log2 = warps_of_line_log2<shape>(depth), warps_of_block = 1 << warps_log2,
            in_block = warp & (warps_of_block - 1),
            warps = warps_of_block * static_cast<int>(share.blocks),
            of_line = in_block + static_cast<int>(share.own) * kSplitWarps;
  // A block that skips its work has none, but meets the others.
  const int pieces = sync.skips ? 0 : static_cast<int>((depth + kSplitPiece - 1) / kSplitPiece),
            whole = static_cast<int>(x.k / kSplitPiece), direct = x.in_vectors() ? whole : 0;
  const std::int64_t line = (std::int64_t{block / share.blocks} * kSplitWarps + warp) >> warps_log2;
  const bool in_operand = line < x.lines;
  const float* const from = x.data + (in_operand ? line : x.lines - 1) * x.ld;
  float v[kPieces][8];
  const int own_first = Pairs::element(lane, 0);
  constexpr int kStride = Pairs::element(0, 4) / 4;
  const auto load_words = [&](int piece, float(&words)[8]) {
    load_piece_as_words<shape>(x, from, piece, whole, lane, words);
  };
  const auto load = [&](int first) {
    load_pieces<shape, kStride>(from, first, warps, pieces, direct, own_first, v, load_words);
  };
  const auto exchange = [&](int piece, float(&own)[8]) {
    if (piece < direct) return;
    exchange_words<kStride>(s.piece_of_warp[warp], lane, own_first, own);
  };
  const int step = kPieces * warps;
  Range range;
  // The last round first: the first one is in registers when it is written. What was read latest is
  // still in the L2 cache when it is read again.
  for (int first = of_line + (pieces - 1 - of_line) / step * step; first >= of_line;
       first -= step) {
    load(first);
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      if (first + p * warps >= pieces) break;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 8; ++i) range.template add_element<Pairs>(v[p][i]);
    }
  }
  range.template add_of_warp<Pairs>();
  if constexpr (shape != SplitShape::short_lines) {  // each short line belongs to a single warp
    join_ranges(s, share, warp - in_block, warps_of_block, range, sync);
  }
  const LossCount count =
      write_line<Pairs, kIsLong>(x, in_operand, line, of_line, warps, pieces, whole, lane, depth,
                                 range, v, load, load_words, exchange);
  if constexpr (Pairs::kCounted) {
    record_counts(x, s, block, share, kSplitWarps >> warps_log2, count, sync);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
