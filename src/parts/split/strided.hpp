#pragma once
// Splits lines that lie across memory: neighbours of a line are a leading dimension apart.

#include "parts/ptx/cluster.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/store_async.hpp"
#include "parts/split/loss.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Where blocks of a cluster meet over the lines that they share.
template <int kHeldRows, int kLines>
struct SplitStridedShared {
  static constexpr int kMostBlocks = 16;
  float rows[kHeldRows][kLines + 1];  // of k; the odd length keeps columns in all banks
  Range range_of_warp[kSplitWarps][kLines];
  alignas(16) Range range_of_block[kMostBlocks][kLines];  // by the block's rank in the cluster
  ptx::Barrier all_ranges;                                // have come, the own ones among them
  unsigned loss_of_warp[2 * kSplitWarps];
};
template <SplitShape shape>
using SplitShared = SplitStridedShared<SplitTraits<shape>::rows + SplitTraits<shape>::more,
                                       SplitTraits<shape>::lines>;

// Lines across memory: a block has some rows of some lines at a time, its cluster the whole lines.
template <class Pairs, SplitShape shape, class Sync>
__device__ __forceinline__ void split_strided(const SplitOperand& x, unsigned block, unsigned rank,
                                              unsigned blocks, void* shared, Sync& sync) {
  // A block of these has whole lines to itself, and its cluster nothing to share.
  constexpr bool kWholeLines =
      shape == SplitShape::short_lines || shape == SplitShape::one_block_per_sm;
  const unsigned cluster = kWholeLines ? 1 : blocks;
  constexpr int kRows = SplitTraits<shape>::rows, kMore = SplitTraits<shape>::more,
                kLines = SplitTraits<shape>::lines;
  static_assert(kRows % 16 == 0 && kMore % 16 == 0);  // no eight lies on both sides
  auto& s = *static_cast<SplitShared<shape>*>(shared);
  const std::int64_t depth = x.line_bytes / Pairs::kBytes;
  if (cluster > 1) {
    if (threadIdx.x == 0) {
      ptx::barrier_init(&s.all_ranges, 1);
      ptx::fence_barrier_init();
      ptx::arrive_expecting(&s.all_ranges, cluster * unsigned{sizeof s.range_of_block[0]});
    }
    __syncwarp();
    ptx::cluster_arrive_relaxed();
  }
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const std::int64_t line0 = std::int64_t{block / cluster} * kLines;
  const SplitPart own_part = split_part<shape>(x, depth, rank, cluster);
  const std::int64_t begin = own_part.begin, end = own_part.end;
  const bool with_more = own_part.held_at_once;
  const bool whole = line0 + kLines <= x.lines && x.in_vectors();
  // Of the rows behind, none is held. A block that leaves hands over that it has none.
  const std::int64_t k_end = sync.skips ? begin : end < x.k ? end : x.k;

  // A thread has four neighbouring lines of every kSplitThreads / (kLines / 4)-th row; or, where
  // addresses do not allow to load four at once, one line of every kSplitThreads / kLines-th.
  constexpr int kQuads = kLines / 4;
  const int quad = thread % kQuads * 4;
  Range of_line[4], of_more;
  const auto rows_from = [&](std::int64_t first) {
    return shape != SplitShape::one_block_per_sm || end - first > kRows
               ? kRows
               : static_cast<int>(end - first);
  };
  // Held rows `row` to `rows` - 1, of which those below `there` lie within k: a line a thread.
  const auto load_words = [&]<int kInFlight>(std::int64_t first, int row, int rows, int there,
                                             Range& range) {
    constexpr int kStep = kSplitThreads / kLines;
    const int one = thread % kLines;
    const std::int64_t line = line0 + one;
    const int r_first = row + thread / kLines, there_of_line = line < x.lines ? there : 0;
    const float* from = x.data + (first + r_first) * x.ld + line;
    for (int r0 = r_first; r0 < rows; r0 += kInFlight * kStep) {
      float v[kInFlight];
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kInFlight; ++i, from += kStep * x.ld) {
        v[i] = r0 + i * kStep < there_of_line ? load_past_l1<shape>(from) : 0.0f;
      }
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kInFlight; ++i) {
        s.rows[r0 + i * kStep][one] = v[i];
        range.template add_element<Pairs>(v[i]);
      }
    }
  };
  const auto load = [&](std::int64_t first) {
    const int rows = rows_from(first);
    const int there = with_more || k_end - first < kRows ? static_cast<int>(k_end - first) : kRows;
    if (with_more) load_words.template operator()<1>(first, kRows, kRows + kMore, there, of_more);
    if (whole) {
      constexpr int kInFlight = 8, kStep = kSplitThreads / kQuads;
      const float* from = x.data + (first + thread / kQuads) * x.ld + line0 + quad;
      for (int r0 = thread / kQuads; r0 < rows; r0 += kInFlight * kStep) {
        float4 v[kInFlight];
        WARPLADDER_UNROLL_ON_GPU
        for (int u = 0; u < kInFlight; ++u, from += kStep * x.ld) {
          v[u] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
          const auto* const four = reinterpret_cast<const float4*>(from);
          if (r0 + u * kStep < there) v[u] = load_once<shape>(four);
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
    } else {
      load_words.template operator()<16>(first, 0, rows, there, of_line[0]);
    }
  };
  // The rows that are written first come last, and stay.
  for (std::int64_t first = with_more ? begin : begin + (end - begin - 1) / kRows * kRows;
       first >= begin && begin < end; first -= kRows) {
    load(first);
  }
  if (with_more) {
    static_assert(kMore == 0 || kLines == 32);  // a lane has had a line of these rows
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      of_line[i].add(of_more.template of_lane<Pairs>(whole ? quad + i : lane));
    }
  }
  // Lanes that have the same lines join what they found; the first of them writes it.
  const int of_lines = whole ? kQuads : kLines < 32 ? kLines : 32;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !whole) break;
    for (int apart = of_lines; apart < 32; apart *= 2) {
      of_line[i].template add_of_lane<Pairs>(apart);
    }
    if (lane < of_lines) s.range_of_warp[warp][whole ? quad + i : lane] = of_line[i];
  }
  const auto add_of_warps = [&](Range& range, int of) {
    WARPLADDER_UNROLL_ON_GPU
    for (int w = 0; w < kSplitWarps; ++w) range.add(s.range_of_warp[w][of]);
  };
  sync();  // all warps' ranges, and the rows, are there
  if (cluster > 1) {
    ptx::cluster_wait();  // a block that has not begun has no shared memory yet
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

  // A warp has 8 lines of a piece of 256: four lanes side by side have a line's neighbours, eight
  // each.
  constexpr int kEights = kLines / 8, kPart = SplitTraits<shape>::part;
  const int line = warp % kEights * 8 + lane / 4, part = warp / kEights * kPart;
  Range range;
  if (cluster > 1) {
    for (unsigned r = 0; r < cluster; ++r) range.add(s.range_of_block[r][line]);
  } else {
    add_of_warps(range, line);
  }
  const bool here = line0 + line < x.lines;
  const int exponent = scale_exponent(Pairs(), range);
  const float scale = power_of_two(exponent);
  if (here && rank == 0 && warp < kEights && lane % 4 == 0) {
    x.factor[line0 + line] = factor_of(Pairs(), range, exponent);
  }
  PrecisionLoss loss = loss_of_line(here, range.largest);
  unsigned char* const to = x.pairs + (line0 + line) * x.line_bytes;
  const auto is_held = [](int row) { return kMore == 0 || row < kRows + kMore; };
  for (std::int64_t first = begin; first < end && !sync.skips;
       first += with_more ? end - begin : kRows) {
    if (first > begin) {
      sync();  // nobody reads rows that are about to change
      load(first);
      sync();  // the rows are there
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
        if (here && first + at < depth) Pairs::write8(to, first + at, v, hi);
        quick.add(hi);
      }
      const std::int64_t left = k_end - (first + own);
      if (!Pairs::kCounted || left <= 0) continue;
      const bool is_whole = left >= kPart;
      LossCount count;
      count.large = quick.large;
      // A quick tells how many are large, and most of the time that none is small.
      if (!is_whole || __any_sync(0xffffffffu, here && quick.may_be_small())) {
        count.large = 0;
        for (int at = own + lane % 4 * 8; at < own + kPart; at += 32) {
          if (first + at >= end || !is_held(at)) break;
          float v[8];
          WARPLADDER_UNROLL_ON_GPU
          for (int i = 0; i < 8; ++i) v[i] = s.rows[at + i][line];
          count.add(v, range.largest);
        }
      }
      WARPLADDER_UNROLL_ON_GPU
      for (int apart = 1; apart < 4; apart *= 2) {
        count.small += __shfl_xor_sync(0xffffffffu, count.small, apart);
        count.large += __shfl_xor_sync(0xffffffffu, count.large, apart);
      }
      if (!here || range.largest == 0) continue;
      if (is_whole) {
        include_whole<kPart>(loss, count.small, count.large);
      } else {
        include_rest<kPart>(loss, count, x.k, static_cast<int>(left));
      }
    }
  }
  record_loss<Pairs>(x, block, loss, s.loss_of_warp, sync);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
