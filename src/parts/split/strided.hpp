#pragma once
// Splits strided lines: neighbours along k are a leading dimension apart. A block keeps some rows
// (elements along k) of some lines in shared memory. The blocks of a cluster share longer lines,
// and exchange the ranges that they find.
//
// As in contiguous.hpp the lambdas of split_strided() are thin, and remain lambdas, for the machine
// code's sake.

#include "parts/ptx/cluster.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/store_async.hpp"
#include "parts/split/loss.hpp"
#include "parts/split/operand.hpp"
#include "parts/split/range.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

template <int kHeldRows, int kLines>
struct SplitStridedShared {
  static constexpr int kMostBlocks = 16, kPitch = kLines + 1;  // odd: columns use all banks
  float rows[kHeldRows][kPitch];                               // a row holds one element per line
  Range range_of_warp[kSplitWarps][kLines];
  alignas(16) Range range_of_block[kMostBlocks][kLines];  // by the block's rank in the cluster
  ptx::Barrier all_ranges;                                // of all blocks have arrived

  __device__ __forceinline__ void add_of_warps(Range& range, int line) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int w = 0; w < kSplitWarps; ++w) range.add(range_of_warp[w][line]);
  }
};
template <SplitShape shape>
using SplitShared = SplitStridedShared<SplitTraits<shape>::rows + SplitTraits<shape>::more,
                                       SplitTraits<shape>::lines>;

// Sets up the barrier at which the other blocks' ranges arrive.
template <class Shared>
__device__ __forceinline__ void begin_range_exchange(Shared& s, unsigned cluster) {
  if (threadIdx.x == 0) {
    ptx::barrier_init(&s.all_ranges, 1);
    ptx::fence_barrier_init();
    ptx::arrive_expecting(&s.all_ranges, cluster * unsigned{sizeof s.range_of_block[0]});
  }
  __syncwarp();
  ptx::cluster_arrive_relaxed();
}

// Sends this block's ranges to all blocks of the cluster, and waits for theirs.
template <int kLines, class Shared, class AddOfWarps>
__device__ __forceinline__ void exchange_ranges(Shared& s, int thread, unsigned rank,
                                                unsigned cluster, const AddOfWarps& add_of_warps) {
  ptx::cluster_wait();  // a block has no shared memory before it starts
  for (unsigned i = thread; i < cluster * kLines / 2; i += kSplitThreads) {
    const unsigned of = i % (kLines / 2) * 2, to = i / (kLines / 2);
    Range two[2];
    add_of_warps(two[0], of);
    add_of_warps(two[1], of + 1);
    auto* const there = reinterpret_cast<float4*>(&s.range_of_block[rank][of]);
    static_assert(sizeof two == sizeof *there);
    ptx::store_async(
        ptx::in_block(there, to), ptx::in_block(&s.all_ranges, to),
        make_float4(__uint_as_float(two[0].largest), __uint_as_float(two[0].least_negated),
                    __uint_as_float(two[1].largest), __uint_as_float(two[1].least_negated)));
  }
  ptx::wait(&s.all_ranges, 0);
}

// Loads rows `row` to `rows` - 1 into shared memory, a word at a time: a thread has one line. Rows
// from `in_k` on are padding.
template <class Pairs, SplitShape shape, int kInFlight, class Shared>
__device__ __forceinline__ void load_rows_as_words(const SplitOperand& x, Shared& s,
                                                   std::int64_t line0, int thread,
                                                   std::int64_t first, int row, int rows, int in_k,
                                                   Range& range) {
  constexpr int kLines = SplitTraits<shape>::lines, kStep = kSplitThreads / kLines;
  const int one = thread % kLines;
  const std::int64_t line = line0 + one;
  const int r_first = row + thread / kLines, in_k_of_line = line < x.lines ? in_k : 0;
  const float* from = x.data + (first + r_first) * x.ld + line;
  for (int r0 = r_first; r0 < rows; r0 += kInFlight * kStep) {
    float v[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kInFlight; ++i, from += kStep * x.ld) {
      v[i] = r0 + i * kStep < in_k_of_line ? load_past_l1<shape>(from) : 0.0f;
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kInFlight; ++i) {
      s.rows[r0 + i * kStep][one] = v[i];
      range.template add_element<Pairs>(v[i]);
    }
  }
}

// The same where a thread can load four neighbouring lines at once, from `quad` on.
template <class Pairs, SplitShape shape, class Shared>
__device__ __forceinline__ void load_rows_as_quads(const SplitOperand& x, Shared& s,
                                                   std::int64_t line0, int thread, int quad,
                                                   std::int64_t first, int rows, int in_k,
                                                   Range (&of_line)[4]) {
  constexpr int kQuads = SplitTraits<shape>::lines / 4;
  constexpr int kInFlight = 8, kStep = kSplitThreads / kQuads;
  const float* from = x.data + (first + thread / kQuads) * x.ld + line0 + quad;
  for (int r0 = thread / kQuads; r0 < rows; r0 += kInFlight * kStep) {
    float4 v[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u, from += kStep * x.ld) {
      v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      const auto* const four = reinterpret_cast<const float4*>(from);
      if (r0 + u * kStep < in_k) v[u] = load_once<shape>(four);
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const float four[] = {v[u].x, v[u].y, v[u].z, v[u].w};
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) {
        s.rows[r0 + u * kStep][quad + i] = four[i];
        of_line[i].template add_element<Pairs>(four[i]);
      }
    }
  }
}

// Loads all rows of the block's part, the last round first: the first one stays in shared memory
// and is written first. of_more: ranges of the additional rows, in which a lane has had one line.
template <class Pairs, int kRows, class Load>
__device__ __forceinline__ void load_all(std::int64_t begin, std::int64_t end, bool with_more,
                                         bool in_quads, int quad, int lane, Range (&of_line)[4],
                                         const Range& of_more, const Load& load) {
  for (std::int64_t first = with_more ? begin : begin + (end - begin - 1) / kRows * kRows;
       first >= begin && begin < end; first -= kRows) {
    load(first);
  }
  if (with_more) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      of_line[i].add(of_more.template of_lane<Pairs>(in_quads ? quad + i : lane));
    }
  }
}

// The quick count mostly tells that no element is small. Where it does not, this counts the small
// ones of `rows` rows from `own` on. Four lanes share a line, and each has every fourth eight.
template <class Shared>
__device__ __forceinline__ void count_small(const Shared& s, int lane, int line, int own, int rows,
                                            unsigned largest, LossCount& count) {
  for (int at = lane % 4 * 8; at < rows; at += 32) {
    float v[8];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) v[i] = s.rows[own + at + i][line];
    count.add_small(v, largest);
  }
}

// Writes a lane's share of its line's pairs, scaled, and counts its elements. First come the rows
// that are in shared memory, then those that load() brings. A warp writes `part` rows of 8 lines at
// a time: four lanes share a line, and each writes eight neighbours.
template <class Pairs, SplitShape shape, class Load, class RowsFrom, class Sync>
__device__ __forceinline__ void write_rounds(const SplitOperand& x, SplitShared<shape>& s, int lane,
                                             std::int64_t line0, int line, int part,
                                             bool in_operand, float scale, unsigned largest,
                                             std::int64_t depth, std::int64_t begin,
                                             std::int64_t end, std::int64_t k_end, bool with_more,
                                             LossCount& count, const Load& load,
                                             const RowsFrom& rows_from, Sync& sync) {
  constexpr int kRows = SplitTraits<shape>::rows, kMore = SplitTraits<shape>::more,
                kEights = SplitTraits<shape>::lines / 8, kPart = SplitTraits<shape>::part;
  unsigned char* const to = x.pairs + (line0 + line) * x.line_bytes;
  const auto is_held = [](int row) { return kMore == 0 || row < kRows + kMore; };
  for (std::int64_t first = begin; first < end && !sync.skips;
       first += with_more ? end - begin : kRows) {
    if (first > begin) {
      sync();  // no thread reads the previous rows any more
      load(first);
      sync();  // the rows are complete
    }
    const int rows = with_more ? static_cast<int>(end - begin) : rows_from(first);
    for (int own = part; own < rows; own += kSplitWarps / kEights * kPart) {
      QuickCount quick;
      for (int at = own + lane % 4 * 8; at < own + kPart; at += 32) {
        if (first + at >= end) break;
        float v[8] = {};
        if (is_held(at)) {
          WARPLADDER_UNROLL_ON_GPU
          for (int i = 0; i < 8; ++i) v[i] = s.rows[Pairs::element(at / 8, i)][line] * scale;
        }
        unsigned hi[4] = {};
        if (in_operand && first + at < depth) Pairs::write8(to, first + at, v, hi, quick.magnitude);
        quick.add(hi);
      }
      const std::int64_t left = k_end - (first + own);
      if (!Pairs::kCounted || left <= 0) continue;
      quick.add_to(count);
      if constexpr (shape == SplitShape::long_lines) {
        static_assert(kPart == kSplitPiece);
        const unsigned exponents = warp::reduce<4>(quick.exponents, warp::Sum());
        if (lane % 4 == 0) count.add_piece(exponents, length_of_piece(left));
      }
      const std::int64_t behind = end - (first + own);
      int counted = behind < kPart ? static_cast<int>(behind) : kPart;
      if (kMore > 0 && counted > kRows + kMore - own) counted = kRows + kMore - own;
      if (left < counted || __any_sync(0xffffffffu, in_operand && quick.may_be_small())) {
        count_small(s, lane, line, own, counted, largest, count);
      }
    }
  }
}

// Chooses the scales of the block's lines, writes their pairs, and returns the counts of the lane's
// line, as far as the warp has it.
template <class Pairs, SplitShape shape, class Load, class RowsFrom, class AddOfWarps, class Sync>
__device__ __forceinline__ LossCount write_lines(const SplitOperand& x, SplitShared<shape>& s,
                                                 unsigned rank, unsigned cluster, int warp,
                                                 int lane, std::int64_t line0, std::int64_t depth,
                                                 std::int64_t begin, std::int64_t end,
                                                 std::int64_t k_end, bool with_more,
                                                 const Load& load, const RowsFrom& rows_from,
                                                 const AddOfWarps& add_of_warps, Sync& sync) {
  constexpr int kEights = SplitTraits<shape>::lines / 8, kPart = SplitTraits<shape>::part;
  const int line = warp % kEights * 8 + lane / 4, part = warp / kEights * kPart;
  Range range;
  if (cluster > 1) {
    for (unsigned r = 0; r < cluster; ++r) range.add(s.range_of_block[r][line]);
  } else {
    add_of_warps(range, line);
  }
  const bool in_operand = line0 + line < x.lines;
  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (in_operand && rank == 0 && warp < kEights && lane % 4 == 0) {
    x.factor[line0 + line] = factor_of(Pairs(), range, exponent);
  }
  LossCount count;
  write_rounds<Pairs, shape>(x, s, lane, line0, line, part, in_operand, scale, range.largest, depth,
                             begin, end, k_end, with_more, count, load, rows_from, sync);
  count.add_of_lanes<4, shape == SplitShape::long_lines>();
  count.set_line(in_operand, range.largest);
  return count;
}

// Records the block's loss. Its warps' counts lie where its rows were: eight lines of each warp.
template <SplitShape shape, class Shared, class Sync>
__device__ __forceinline__ void record_lines(const SplitOperand& x, Shared& s, unsigned block,
                                             int warp, int lane, LossCount count,
                                             std::int64_t length, Sync& sync) {
  constexpr int kLines = SplitTraits<shape>::lines, kCounts = kSplitWarps * 8;
  static_assert(sizeof(LossCount) * kCounts <= sizeof s.rows);
  auto* const counts = reinterpret_cast<LossCount*>(s.rows);
  sync();  // no thread reads the rows any more
  if (lane % 4 == 0) counts[warp * 8 + lane / 4] = count;
  record_loss(
      x, block,
      {counts, kLines, 1, kCounts / kLines, kLines, static_cast<unsigned>(length > 0 ? length : 0)},
      sync);
}

// Splits the lines of block `block`, which is block `rank` of a cluster of `blocks`. Called by the
// pass's 256 threads.
template <class Pairs, SplitShape shape, class Sync>
__device__ __forceinline__ void split_strided(const SplitOperand& x, unsigned block, unsigned rank,
                                              unsigned blocks, void* shared, Sync& sync) {
  // With these shapes a block has whole lines, and its cluster nothing to share.
  constexpr bool kAlone = shape == SplitShape::short_lines || shape == SplitShape::one_block_per_sm;
  const unsigned cluster = kAlone ? 1 : blocks;
  constexpr int kRows = SplitTraits<shape>::rows, kMore = SplitTraits<shape>::more,
                kLines = SplitTraits<shape>::lines, kQuads = kLines / 4;
  static_assert(kRows % 16 == 0 && kMore % 16 == 0);  // no eight elements lie on both sides
  static_assert(kMore == 0 || kLines == 32);          // see load_all()
  auto& s = *static_cast<SplitShared<shape>*>(shared);
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  if (cluster > 1) begin_range_exchange(s, cluster);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const std::int64_t line0 = std::int64_t{block / cluster} * kLines;
  const SplitPart own_part = split_part<shape>(x, depth, rank, cluster);
  const std::int64_t begin = own_part.begin, end = own_part.end;
  const bool with_more = own_part.held_at_once;
  const bool in_quads = line0 + kLines <= x.lines && x.in_vectors();
  // Rows from here on are not loaded. A block that skips its work loads none.
  const std::int64_t k_end = sync.skips ? begin : end < x.k ? end : x.k;
  const int quad = thread % kQuads * 4;
  Range of_line[4], of_more;  // of the thread's four lines, or of its single one in of_line[0]
  const auto rows_from = [&](std::int64_t first) {
    const bool is_full = shape != SplitShape::one_block_per_sm || end - first > kRows;
    return is_full ? kRows : static_cast<int>(end - first);
  };
  const auto load_words = [&]<int kInFlight>(std::int64_t first, int row, int rows, int in_k,
                                             Range& range) {
    load_rows_as_words<Pairs, shape, kInFlight>(x, s, line0, thread, first, row, rows, in_k, range);
  };
  const auto load = [&](std::int64_t first) {
    const int rows = rows_from(first);
    const int in_k = with_more || k_end - first < kRows ? static_cast<int>(k_end - first) : kRows;
    if (with_more) {
      load_words.template operator()<1>(first, kRows, kRows + kMore, in_k, of_more);
    }
    if (in_quads) {
      load_rows_as_quads<Pairs, shape>(x, s, line0, thread, quad, first, rows, in_k, of_line);
    } else {
      load_words.template operator()<16>(first, 0, rows, in_k, of_line[0]);
    }
  };
  load_all<Pairs, kRows>(begin, end, with_more, in_quads, quad, lane, of_line, of_more, load);
  // Lanes with the same lines join their ranges; the first of them writes it.
  const int of_lines = in_quads ? kQuads : kLines < 32 ? kLines : 32;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !in_quads) break;
    for (int distance = of_lines; distance < 32; distance *= 2) {
      of_line[i].template add_of_lane<Pairs>(distance);
    }
    if (lane < of_lines) s.range_of_warp[warp][in_quads ? quad + i : lane] = of_line[i];
  }
  const auto add_of_warps = [&](Range& range, int line) { s.add_of_warps(range, line); };
  sync();  // all warps' ranges and the rows are complete
  if (cluster > 1) exchange_ranges<kLines>(s, thread, rank, cluster, add_of_warps);
  const LossCount count =
      write_lines<Pairs, shape>(x, s, rank, cluster, warp, lane, line0, depth, begin, end, k_end,
                                with_more, load, rows_from, add_of_warps, sync);
  if (Pairs::kCounted) record_lines<shape>(x, s, block, warp, lane, count, k_end - begin, sync);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
