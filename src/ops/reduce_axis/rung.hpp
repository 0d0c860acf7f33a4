#pragma once
// The only project header that a reduce_axis rung includes, parts/ apart.

#include <algorithm>
#include <bit>
#include <numeric>

#include "ladder/rung.hpp"
#include "ops/reduce_axis/problem.hpp"
#include "ops/reduction_costs.hpp"
#include "parts/reduction.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::reduce_axis {
inline namespace WARPLADDER_FLAVOUR {

// The result of line i. Called by one thread.
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, float v) {
  const Problem& p = call.problem;
  call.values[i] = p.function == Function::mean ? v / static_cast<float>(p.length()) : v;
}
template <class Word>
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, parts::Found<Word> v) {
  call.places[i] = v.index();
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
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    const auto* vectors = reinterpret_cast<const float4*>(call.in + row * p.ld);
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kVectors; ++u) {
      v[i][u] = make_float4(kPadding, kPadding, kPadding, kPadding);
      if (lane + u * kLanes < count && row < p.rows) v[i][u] = __ldg(&vectors[lane + u * kLanes]);
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    typename F::Value result = F::none();
    if (lane < count) result = F::template of_vectors<4 * kLanes>(v[i], 4 * lane);
    result = parts::warp_reduce<F, kLanes>(result);
    if (lane == 0 && row < p.rows) finish(call, row, result);
  }
}

// ---- columns: a block of kThreads takes a strip, 2^kShift threads wide, each thread with kWidth
// neighbouring columns. Groups of threads go down the rows side by side.

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

// What this thread has of kWidth neighbouring columns of a matrix: the rows first, first + step, …
// below `end`, of which there is at least one. `in` is the columns' first element; place(c, row)
// says where in its line an element lies.
template <class F, int kWidth, int kInFlight, class Place>
__device__ __forceinline__ void go_down(const float* in, std::int64_t ld, std::int64_t first,
                                        std::int64_t end, int step, const Place& place,
                                        typename F::Value (&result)[kWidth]) {
  const std::int64_t leap = step * ld;
  const float* at = in + first * ld;
  typename F::template Running<> running[kWidth];
  float x[kWidth][kInFlight];
  std::int64_t row = first;
  int k = 0;
  WARPLADDER_NO_UNROLL
  for (; row + (kInFlight - 1) * step < end; row += kInFlight * step, k += kInFlight) {
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) load_row(x, u, at + u * leap);
    WARPLADDER_UNROLL_ON_GPU
    for (int c = 0; c < kWidth; ++c) running[c].add(x[c], k);
    at += kInFlight * leap;
  }
  if (row < end) {
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {  // the last turn, cut short
      WARPLADDER_UNROLL_ON_GPU
      for (int c = 0; c < kWidth; ++c) x[c][u] = F::padding();
      if (row + u * step < end) load_row(x, u, at + u * leap);
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int c = 0; c < kWidth; ++c) running[c].add(x[c], k);
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int c = 0; c < kWidth; ++c) {
    result[c] = running[c].value([&](int of) { return place(c, first + std::int64_t{of} * step); });
  }
}

// A block of so many threads, 2^shift side by side.
struct StripShape {
  int threads, shift, width;
  constexpr int across() const { return 1 << shift; }
  constexpr int columns() const { return width << shift; }
};

template <class F, int kThreads, int kWidth, int kShift>
using StripTable = parts::PartialTable<typename F::Value, kThreads, 1 << kShift, kWidth>;

// Reduces a strip, or the share of it that is the `split`th of `splits`, by way of a table in
// shared memory of StripTable::kSize. visit(r, v) for the strip's column r, by one thread each.
template <class F, int kThreads, int kWidth, int kShift, int kInFlight, class Visit>
__device__ __forceinline__ void reduce_strip(const Call& call, std::int64_t column0, unsigned split,
                                             unsigned splits, typename F::Value* table,
                                             const Visit& visit) {
  using Table = StripTable<F, kThreads, kWidth, kShift>;
  constexpr int kAcross = 1 << kShift, kGroups = kThreads / kAcross;
  const int t = threadIdx.x, a = t % kAcross, group = t / kAcross;
  const std::int64_t column = column0 + a * kWidth, columns = call.problem.columns;
  const std::int64_t rows = call.problem.rows, share = (rows + splits - 1) / splits,
                     first = split * share + group,
                     end = (split + 1) * share < rows ? (split + 1) * share : rows;
  typename F::Value v[kWidth];
  WARPLADDER_UNROLL_ON_GPU
  for (int c = 0; c < kWidth; ++c) v[c] = F::none();
  if (column < columns && first < end) {
    const auto place = [](int, std::int64_t row) { return row; };
    go_down<F, kWidth, kInFlight>(call.in + column, call.problem.ld, first, end, kGroups, place, v);
  }
  if constexpr (kGroups == 1) {
    WARPLADDER_UNROLL_ON_GPU
    for (int c = 0; c < kWidth; ++c) {
      if (column < columns) visit(a * kWidth + c, v[c]);
    }
  } else {
    const auto joined = Table::template join<F>(table, v);
    const int r = t / Table::kLanes;
    if (t % Table::kLanes == 0 && column0 + r < columns) visit(r, joined);
  }
}

// Joins what the blocks of each split of a strip have published, and writes the results. These are
// of kThreads / kGroups columns from column0 on, with kGroups threads to a column. Everything here
// stands behind the last split's work.
constexpr int kWordsInFlight = 5;
template <class F, int kThreads, int kGroups>
__device__ __forceinline__ void collect_columns(const Call& call, std::int64_t column0,
                                                unsigned splits, typename F::Value* table) {
  constexpr int kAcross = kThreads / kGroups, kWords = parts::kWordsOf<F>;
  using Table = parts::PartialTable<typename F::Value, kThreads, kAcross, 1>;
  const int t = threadIdx.x;
  const std::int64_t columns = call.problem.columns, column = column0 + t % kAcross;
  typename F::Value v[1] = {F::none()};
  if (column < columns) {
    v[0] = parts::collect<F, kWordsInFlight>(&call.flags[kWords * column], kWords * columns,
                                             t / kAcross, kGroups, static_cast<int>(splits));
  }
  const auto joined = Table::template join<F>(table, v);  // behind its barrier all words are taken
  const std::int64_t of = column0 + t / Table::kLanes;
  if (t % Table::kLanes == 0 && of < columns) finish(call, of, joined);
}

// The same of a strip, or a collector's share of it, up to 32 threads to a column. Collectors are
// the blocks behind those of the splits.
template <class F, int kThreads, int kWidth, int kShift>
__device__ __forceinline__ void collect_strip(const Call& call, std::int64_t column0,
                                              unsigned splits, unsigned split, unsigned collectors,
                                              typename F::Value* table) {
  constexpr int kGroups = (kThreads >> kShift) / kWidth, kShare = kThreads / 32;
  using V = typename F::Value;
  static_assert(parts::PartialTable<V, kThreads, kThreads / kGroups, 1>::kSize <=
                    StripTable<F, kThreads, kWidth, kShift>::kSize &&
                parts::PartialTable<V, kThreads, kShare, 1>::kSize <=
                    StripTable<F, kThreads, kWidth, kShift>::kSize);
  if (collectors == 1) {
    collect_columns<F, kThreads, kGroups>(call, column0, splits, table);
  } else {
    collect_columns<F, kThreads, 32>(call, column0 + (split - splits) * kShare, splits, table);
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

// Long rows: into how many blocks each is split, and how many threads those have. `threads` of them
// have so many vectors under way; twice as many where a row is whole and takes several turns.
struct RowBlocks {
  unsigned threads, splits;
};
inline RowBlocks row_blocks_for(const Problem& p, const runtime::Machine& machine, int threads,
                                int in_flight) {
  const std::int64_t turns = p.columns / (4 * threads * in_flight);
  const unsigned splits =
      p.rows < 96 ? splits_for(p.rows, 512 * machine.multiprocessors / 132, turns) : 1;
  return {static_cast<unsigned>(splits == 1 && turns >= 2 ? 2 * threads : threads), splits};
}

// Of narrow strips there are many, so that few columns need splits, and groups of threads have much
// to go down. But wherever possible all blocks run at once.
inline Strips strips_for(const Problem& p, const runtime::Machine& machine, int width) {
  const unsigned multiprocessors = machine.multiprocessors;  // 132 where numbers were measured
  const auto strips = [&](int threads, int shift) {
    return Strips{{threads, shift, width}, blocks_for(p.columns, std::int64_t{width} << shift)};
  };
  if (width == 4 && 132 * strips(512, 3).count >= 100 * multiprocessors) {
    for (const int shift : {3, 4, 5, 7}) {
      if (strips(512, shift).count <= 2 * multiprocessors) return strips(512, shift);
    }
    return strips(512, 9);
  }
  const auto split = [&](int threads, int shift, int rows_in_flight, std::int64_t blocks) {
    Strips s = strips(threads, shift);
    s.splits = splits_for(s.count, blocks, p.rows / ((threads >> shift) * rows_in_flight));
    // As many collectors as let each thread ask for all of its words at once.
    const unsigned together = kWordsInFlight * threads / s.shape.columns();
    if (s.splits > 1) s.collectors = s.splits <= together ? 1 : 32 * s.shape.columns() / threads;
    return s;
  };
  if (width == 1) return split(512, 5, 4, 2 * multiprocessors);
  if (p.columns <= 16) return split(512, 2, 8, multiprocessors);
  return p.columns <= 128 ? split(512, 3, 8, multiprocessors)
                          : split(256, 3, 8, 2 * multiprocessors);
}

// Strips of columns whose rows are no whole vectors, with so many rows under way; a result takes so
// many words.
constexpr StripShape kRagged{512, 6, 1};
inline Strips ragged_strips_for(const Problem& p, const runtime::Machine& machine,
                                int rows_in_flight, int words) {
  Strips s{kRagged, blocks_for(p.columns, kRagged.columns())};
  const int groups = kRagged.threads / kRagged.across();
  s.splits =
      splits_for(s.count, 2 * machine.multiprocessors / words, p.rows / (groups * rows_in_flight));
  if (s.splits > 1) s.collectors = s.splits <= unsigned(kWordsInFlight * groups) ? 1 : 32 / groups;
  return s;
}

// What parts::PartialTable's join costs in so many blocks, and the stores of what each lane with a
// result then writes, `bytes` of it.
inline void add_join(ladder::Totals& t, const ops::PartialCosts& cost, std::uint64_t blocks,
                     const StripShape& shape, std::uint64_t bytes) {
  const std::uint64_t warps = blocks * shape.threads / 32, accesses = warps * shape.width;
  const int lanes = shape.threads / shape.columns(), columns = 32 / lanes;
  cost.add_shared_stores(t, accesses, 0);
  cost.add_shared_loads(t, accesses, 0);
  // Of more columns than neighbours two begin on one bank.
  if (columns / (cost.place ? 2 : 1) > shape.width) {
    t.shared_load_wavefronts += cost.wavefronts(accesses, 0);
  }
  cost.add_warp_reduce(t, warps, lanes);
  t.barriers += warps;
  t.global_store_requests += warps;
  t.global_store_sectors += warps * std::max<std::uint64_t>(columns * bytes / 32, 1);
}

// Blocks of strips or their splits, then those that collect.
inline ladder::Totals predict_strips(const Problem& p, const Strips& s) {
  const ops::PartialCosts cost(p.function);
  const std::uint64_t blocks = std::uint64_t{s.count} * s.splits, warps = s.shape.threads / 32;
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / (32 * s.shape.width);
  t.global_load_sectors = p.rows * p.columns / 8;
  if (s.shape.across() == s.shape.threads) {  // nothing to join
    t.global_store_requests = blocks * warps * s.shape.width;
    t.global_store_sectors =
        t.global_store_requests * std::min<std::uint64_t>(s.shape.width * cost.bytes(), 32);
    return t;
  }
  add_join(t, cost, blocks, s.shape, s.splits > 1 ? 8 : cost.bytes());
  if (s.splits == 1) return t;
  // The words are taken by atomics, which count as stores.
  const std::uint64_t collectors = std::uint64_t{s.count} * s.collectors,
                      columns = s.shape.columns() / s.collectors,
                      splits_at_once = columns < 32 ? 32 / columns : 1;
  t.global_store_requests += collectors * (columns > 32 ? columns / 32 : 1) *
                             ((s.splits + splits_at_once - 1) / splits_at_once);
  t.global_store_sectors += collectors * s.splits * columns / 4;
  add_join(t, cost, collectors, {s.shape.threads, std::countr_zero(columns), 1}, cost.bytes());
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

// launch() is called with at least one result. `predict` counts for a compact, aligned matrix whose
// sizes are multiples of 128.
using LaunchRung = void (*)(const Call& call, runtime::StreamView& stream);

template <LaunchRung launch>
void launch_call(const Call& call, runtime::StreamView& stream) {
  if (call.problem.results() > 0) launch(call, stream);
}
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(call.problem, machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce_axis
