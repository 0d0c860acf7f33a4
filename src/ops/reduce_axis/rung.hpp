#pragma once
// The only project header that a reduce_axis rung includes, parts/ apart.

#include <algorithm>

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/reduce_axis/problem.hpp"
#include "ops/reduction_costs.hpp"
#include "parts/reduction.hpp"

namespace warpladder::reduce_axis {
inline namespace WARPLADDER_FLAVOUR {

// The result of line i. Called by one thread.
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, float v) {
  const Problem& p = call.problem;
  call.values[i] = p.function == Function::mean ? v / static_cast<float>(p.length()) : v;
}
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, parts::Found v) {
  call.places[i] = v.at == parts::kNowhere ? -1 : v.at;
}

inline unsigned blocks_for(std::int64_t things, std::int64_t in_a_block) {
  return static_cast<unsigned>((things + in_a_block - 1) / in_a_block);
}

// ---- short rows

// Rows of up to kLanes vectors: four rows to each group of kLanes threads of the block. Or, of up
// to 4·kLanes vectors, one row to a group. Either way four vectors are under way in each thread.
template <class F, int kThreads, int kLanes, bool kFourRows>
__device__ __forceinline__ void short_rows(const Call& call) {
  constexpr int kGroups = kThreads / kLanes, kRows = kFourRows ? 4 : 1, kVectors = 4 / kRows;
  const Problem& p = call.problem;
  const int lane = threadIdx.x % kLanes, count = static_cast<int>(p.columns / 4);
  const std::int64_t row0 = std::int64_t{blockIdx.x} * kGroups * kRows + threadIdx.x / kLanes;
  constexpr float kPadding = F::padding();
  float4 v[kRows][kVectors];
  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    const auto* vectors = reinterpret_cast<const float4*>(call.in + row * p.ld);
    WARPLADDER_UNROLL
    for (int u = 0; u < kVectors; ++u) {
      v[i][u] = make_float4(kPadding, kPadding, kPadding, kPadding);
      if (lane + u * kLanes < count && row < p.rows) v[i][u] = __ldg(&vectors[lane + u * kLanes]);
    }
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    typename F::Value result = F::none();
    if (lane < count) result = F::template of_vectors<4 * kLanes>(v[i], 4 * lane);
    result = parts::warp_reduce<F, kLanes>(result);
    if (lane == 0 && row < p.rows) finish(call, row, result);
  }
}

// ---- columns: a block of kThreads takes a strip, 2^kShift threads wide, each thread with kWidth
// neighbouring columns; groups of threads go down the rows side by side.

// Whether four neighbouring columns may be read at once.
inline bool vectors_allowed(const Call& call) {
  const Problem& p = call.problem;
  return reinterpret_cast<std::uintptr_t>(call.in) % 16 == 0 && (p.ld | p.columns) % 4 == 0;
}

// kWidth neighbouring elements, at x[0][u], x[1][u], …
template <int kInFlight>
__device__ __forceinline__ void load_row(float (&x)[4][kInFlight], int u, const float* at) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(at));
  x[0][u] = v.x;
  x[1][u] = v.y;
  x[2][u] = v.z;
  x[3][u] = v.w;
}
template <int kInFlight>
__device__ __forceinline__ void load_row(float (&x)[1][kInFlight], int u, const float* at) {
  x[0][u] = __ldg(at);
}

// What this thread has of its columns: the rows first, first + step, … below `end`, of which there
// is at least one.
template <class F, int kWidth, int kInFlight>
__device__ __forceinline__ void go_down(const Call& call, std::int64_t column, std::int64_t first,
                                        std::int64_t end, int step,
                                        typename F::Value (&result)[kWidth]) {
  const std::int64_t leap = step * call.problem.ld;
  const float* at = call.in + first * call.problem.ld + column;
  typename F::template Running<> running[kWidth];
  float x[kWidth][kInFlight];
  std::int64_t row = first;
  int k = 0;
  WARPLADDER_NO_UNROLL
  for (; row + (kInFlight - 1) * step < end; row += kInFlight * step, k += kInFlight) {
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) load_row(x, u, at + u * leap);
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) running[c].add(x[c], k);
    at += kInFlight * leap;
  }
  if (row < end) {
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {  // the last turn, cut short
      WARPLADDER_UNROLL
      for (int c = 0; c < kWidth; ++c) x[c][u] = F::padding();
      if (row + u * step < end) load_row(x, u, at + u * leap);
    }
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) running[c].add(x[c], k);
  }
  const auto index_of = [&](int of) { return first + std::int64_t{of} * step; };
  WARPLADDER_UNROLL
  for (int c = 0; c < kWidth; ++c) result[c] = running[c].value(index_of);
}

// Joins what lanes of a warp have of the same four columns, kAcross < 32 lanes being side by side.
// Two lanes that meet halve the columns between them, so that a lane is left with v[0], of the
// column returned, or with v[0] and v[1] (kAcross == 16), of that column and the second after it.
// Valid in lanes without bit 2 if kAcross is 4, in all of them otherwise.
template <class F, int kAcross>
__device__ __forceinline__ int share_columns(typename F::Value (&v)[4]) {
  static_assert(kAcross == 4 || kAcross == 8 || kAcross == 16);
  const auto meet = [&](int j, bool high, int of_low, int of_high, int distance) {
    const auto keep = parts::chosen(high, v[of_high], v[of_low]),
               give = parts::chosen(high, v[of_low], v[of_high]);
    v[j] = F::join(keep, parts::exchange(give, distance));
  };
  const bool high = threadIdx.x & 16, second = threadIdx.x & 8;
  constexpr int kApart = kAcross == 16 ? 1 : 2;
  meet(0, high, 0, kApart, 16);
  meet(1, high, 3 - kApart, 3, 16);
  if constexpr (kAcross == 16) return high;
  meet(0, second, 0, 1, 8);
  if constexpr (kAcross == 4) v[0] = F::join(v[0], parts::exchange(v[0], 4));
  return 2 * high + second;
}

// How a block of so many threads, 2^shift side by side, puts together what they have of a strip:
// tables of so many rows of partial results, to which a thread adds `kept`.
struct StripShape {
  int threads, shift, width;
  constexpr int across() const { return 1 << shift; }
  constexpr int columns() const { return width << shift; }
  constexpr int rows() const { return across() < 32 ? threads / 32 : threads / across(); }
  constexpr int kept() const { return across() < 16 ? 1 : across() == 16 ? 2 : width; }
};

// Reduces a strip, or the share of it that is the `split`th of `splits`. visit(r, v) for the
// strip's column r, by one thread each.
template <class F, int kThreads, int kWidth, int kShift, int kInFlight, class Visit>
__device__ __forceinline__ void reduce_strip(const Call& call, std::int64_t column0, unsigned split,
                                             unsigned splits, const Visit& visit) {
  constexpr StripShape kShape{kThreads, kShift, kWidth};
  constexpr int kAcross = kShape.across(), kGroups = kThreads / kAcross, kRows = kShape.rows(),
                kColumns = kShape.columns();
  const int t = threadIdx.x, a = t % kAcross, group = t / kAcross;
  const std::int64_t column = column0 + a * kWidth, columns = call.problem.columns;
  const std::int64_t rows = call.problem.rows, share = (rows + splits - 1) / splits,
                     first = split * share + group,
                     end = (split + 1) * share < rows ? (split + 1) * share : rows;
  typename F::Value v[kWidth];
  WARPLADDER_UNROLL
  for (int c = 0; c < kWidth; ++c) v[c] = F::none();
  if (column < columns && first < end) {
    go_down<F, kWidth, kInFlight>(call, column, first, end, kGroups, v);
  }
  if constexpr (kGroups == 1) {
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) {
      if (column < columns) visit(a * kWidth + c, v[c]);
    }
  } else {
    // In the table neighbouring threads' columns are neighbours: column c of thread a is c·kAcross
    // + a. Groups of kRows lanes then take up a column each.
    __shared__ parts::PartialTable<typename F::Value, kRows, kColumns> partial;
    if constexpr (kAcross < 32) {
      const int c = share_columns<F, kAcross>(v);
      if (kAcross > 4 || (t & 4) == 0) partial.set(t / 32, c * kAcross + a, v[0]);
      if constexpr (kShape.kept() == 2) partial.set(t / 32, (c + 2) * kAcross + a, v[1]);
    } else {
      WARPLADDER_UNROLL
      for (int c = 0; c < kWidth; ++c) partial.set(group, c * kAcross + a, v[c]);
    }
    __syncthreads();  // all are there before they are joined
    for (int i = t / kRows; i < kColumns; i += kThreads / kRows) {
      const auto joined = parts::warp_reduce<F, kRows>(partial.get(t % kRows, i));
      const int r = i % kAcross * kWidth + i / kAcross;
      if (t % kRows == 0 && column0 + r < columns) visit(r, joined);
    }
  }
}

// One of several blocks that join what the blocks of each split of a strip have published, and
// write the results: this one those of `count` columns from column0 on, up to 32 of them and a
// power of two. Everything here stands behind the last split's work.
template <class F, int kThreads>
__device__ __forceinline__ void collect_columns(const Call& call, std::int64_t column0, int count,
                                                unsigned splits) {
  constexpr int kRows = kThreads / 32;
  __shared__ parts::PartialTable<typename F::Value, kRows, 32> partial;
  const int t = threadIdx.x, c = t % count, group = t / count;
  const std::int64_t columns = call.problem.columns, column = column0 + c;
  typename F::Value v = F::none();
  if (column < columns) {
    v = parts::collect<F, 4>(&call.flags[parts::kWordsOf<F> * column], parts::kWordsOf<F> * columns,
                             group, kThreads / count, static_cast<int>(splits));
  }
  for (int distance = 16; distance >= count; distance /= 2) {
    v = F::join(v, parts::exchange(v, distance));
  }
  if (t % 32 < count) partial.set(t / 32, c, v);
  __syncthreads();  // all words are taken before they are joined
  for (int i = t / kRows; i < count; i += kThreads / kRows) {
    const auto joined = parts::warp_reduce<F, kRows>(partial.get(t % kRows, i));
    if (t % kRows == 0 && column0 + i < columns) finish(call, column0 + i, joined);
  }
}

// Strips of width·2^shift columns: a block of so many threads to each, or to each of its splits,
// and blocks that collect.
struct Strips {
  StripShape shape;
  unsigned count, splits = 1, collectors = 0;
};

// Into how many each line is split, so that there are at most so many blocks, and each split has
// something to do.
inline unsigned splits_for(std::int64_t lines, std::int64_t blocks, std::int64_t turns) {
  const std::int64_t splits = std::min(blocks / lines, turns);
  return splits < 2 ? 1 : static_cast<unsigned>(splits);
}

// Of narrow strips there are many, so that few columns need splits, and groups of threads have much
// to go down; but wherever possible all blocks run at once.
inline Strips strips_for(const Problem& p, int width) {
  const auto strips = [&](int threads, int shift) {
    return Strips{{threads, shift, width}, blocks_for(p.columns, std::int64_t{width} << shift)};
  };
  if (width == 4 && strips(512, 3).count >= 100) {
    for (const int shift : {3, 4, 5, 7}) {
      if (strips(512, shift).count <= 264) return strips(512, shift);
    }
    return strips(512, 9);
  }
  const auto split = [&](int threads, int shift, int rows_in_flight, std::int64_t blocks) {
    Strips s = strips(threads, shift);
    s.splits = splits_for(s.count, blocks, p.rows / ((threads >> shift) * rows_in_flight));
    if (s.splits > 1) s.collectors = s.splits < 48 ? 1 : s.shape.columns() / 8;
    return s;
  };
  if (width == 1) return split(512, 5, 4, 264);
  if (p.columns <= 16) return split(512, 2, 8, 132);
  return p.columns <= 128 ? split(512, 3, 8, 132) : split(256, 3, 8, 264);
}

// Of strips that splits have, and of 32 columns if they are split: their blocks, then those that
// collect.
inline ladder::Totals predict_strips(const Problem& p, const Strips& s) {
  const ops::PartialCosts cost(p.function);
  const auto rows = static_cast<std::uint64_t>(s.shape.rows()), words = cost.requests(1);
  const std::uint64_t warps = s.shape.threads / 32, blocks = std::uint64_t{s.count} * s.splits,
                      columns_at_once = 32 / rows;
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / (32 * s.shape.width);
  t.global_load_sectors = p.rows * p.columns / 8;
  const std::uint64_t shared_out = s.shape.across() == 8 ? 3 : s.shape.across() == 16 ? 2 : 0;
  t.shuffles = cost.requests(blocks * warps * shared_out);
  // Joining a strip's rows, so many columns at once; the columns lie `width` apart.
  const auto add_join = [&](std::uint64_t strips, std::uint64_t kept) {
    const std::uint64_t turns = strips * s.shape.columns() / columns_at_once;
    cost.add_shared_stores(t, strips * warps * kept, 0);
    cost.add_shared_loads(t, turns, 0);
    cost.add_warp_reduce(t, turns, static_cast<int>(rows));
    t.barriers += strips * warps;
    return turns;
  };
  const std::uint64_t turns = add_join(blocks, s.shape.kept());
  const auto sectors = [&](std::uint64_t bytes) {  // of results so far apart
    return std::clamp<std::uint64_t>(columns_at_once * bytes / 32, 1, columns_at_once);
  };
  if (s.splits == 1) {
    t.global_store_requests = turns;
    t.global_store_sectors = turns * sectors(s.shape.width * 4 * words);
    return t;
  }
  // Published, and taken by atomics, a warp the words of a split.
  t.global_store_requests = words * (turns + blocks);
  t.global_store_sectors =
      words * (turns * sectors(s.shape.width * 8 * words) + blocks * 8 * words);
  const std::uint64_t collecting = add_join(s.count, 1);
  t.global_store_requests += collecting;
  t.global_store_sectors += collecting;
  return t;
}

// Of rows read by so many elements at a time, without what joins them: one store each.
inline ladder::Totals predict_rows(const Problem& p, int width) {
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / (32 * width);
  t.global_load_sectors = p.rows * p.columns / 8;
  t.global_store_requests = t.global_store_sectors = p.rows;
  return t;
}

// launch() is called with at least one result.
using LaunchRung = void (*)(const Call& call, device::Stream& stream);
using PredictRung = ladder::Totals (*)(const Problem& problem);

template <LaunchRung launch>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  if (call.problem.results() > 0) launch(call, stream);
}
template <PredictRung predict>
ladder::Totals predict_call(const void* erased) {
  return predict(static_cast<const Call*>(erased)->problem);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce_axis

// Declares the rung of this file. `predict` counts for a compact, aligned matrix whose sizes are
// multiples of 128.
#define WARPLADDER_REDUCE_AXIS_RUNG(idea, accepts, launch, predict)                            \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"reduce_axis", __FILE__, idea, accepts, ::warpladder::device::kThisFlavour, false,      \
       &::warpladder::reduce_axis::launch_call<launch>,                                        \
       &::warpladder::reduce_axis::predict_call<predict>})
