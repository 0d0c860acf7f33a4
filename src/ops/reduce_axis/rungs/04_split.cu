// Bound before: 16 rows keep 16 blocks busy, 16 columns one strip, and a short row leaves most of a
// block idle.
// Idea: as many threads for a line as it has work. Short rows: one vector a lane, up to 32 rows a
// warp, four such groups in flight. Few long lines: split among blocks; others collect the partial
// results, as in reduce/07_one_launch. Columns: narrow strips first, then split strips.
// Prediction: 03's loads, a warp for each row up to 2048 columns; a split strip's words are
// published and read. Accepts: every problem; flags must be zero, and stay the stream's own.
// What binds it: memory; for index reductions also the instructions behind the last loads.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kRowThreads = 256, kInFlight = 4, kShort = 128;

template <class F, int kLanes, bool kFourRows>
__global__ void __launch_bounds__(kRowThreads) reduce_short_rows(Call call) {
  short_rows<F, kRowThreads, kLanes, kFourRows>(call);
}

template <class F>
__global__ void __launch_bounds__(kRowThreads) reduce_rows_by_warps(Call call) {
  const Problem& p = call.problem;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kRowThreads / 32) + threadIdx.x / 32;
  if (row >= p.rows) return;
  const auto v = parts::warp_reduce<F>(
      parts::part_of_line<F, 32, kInFlight>(call.in + row * p.ld, p.columns, 0, 1));
  if (threadIdx.x % 32 == 0) finish(call, row, v);
}

// A row to a block; where it is split, to as many blocks and one more.
template <class F, int kThreads, bool kSplit>
__global__ void __launch_bounds__(kThreads, 1536 / kThreads) reduce_rows_by_blocks(Call call) {
  const std::int64_t row = kSplit ? blockIdx.y : blockIdx.x;
  const unsigned splits = kSplit ? gridDim.x - 1 : 1, split = kSplit ? blockIdx.x : 0;
  const float* line = call.in + row * call.problem.ld;
  constexpr int kWords = parts::kWordsOf<F>;
  std::uint64_t* words = call.flags + kWords * row * splits;
  typename F::Value v;
  if (kSplit && split == splits) {
    v = parts::collect<F, 1>(words, kWords, threadIdx.x, kThreads, static_cast<int>(splits));
  } else {
    v = parts::part_of_line<F, kThreads, kInFlight>(line, call.problem.columns, split, splits);
  }
  v = parts::block_reduce<F, kThreads>(v);
  if (threadIdx.x != 0) return;
  if (kSplit && split < splits) {
    parts::publish(&words[kWords * split], v);
  } else {
    finish(call, row, v);
  }
}

// A strip to a block; where it is split, to as many blocks and one or more that collect.
template <class F, int kThreads, int kWidth, int kShift, bool kMaySplit = false>
__global__ void __launch_bounds__(kThreads, kThreads == 256 ? 3 : 2)
    reduce_columns(Call call, unsigned wanted, unsigned collectors) {
  constexpr int kColumns = kWidth << kShift;
  // Places, which take more instructions behind the last loads, have fewer under way.
  constexpr int kRows = kWidth == 1 || (kShift > 3 && kShift < 9 && parts::kIsPlace<F>) ? 4 : 8;
  __shared__ typename F::Value table[StripTable<F, kThreads, kWidth, kShift>::kSize];
  const unsigned splits = kMaySplit ? wanted : 1, split = kMaySplit ? blockIdx.y : 0;
  const std::int64_t columns = call.problem.columns, column0 = std::int64_t{blockIdx.x} * kColumns;
  if (split < splits) {
    reduce_strip<F, kThreads, kWidth, kShift, kRows>(
        call, column0, split, splits, table, [&](int r, auto v) {
          if (splits == 1) return finish(call, column0 + r, v);
          parts::publish(&call.flags[parts::kWordsOf<F> * (split * columns + column0 + r)], v);
        });
  } else if constexpr (kMaySplit) {
    collect_strip<F, kThreads, kWidth, kShift>(call, column0, splits, split, collectors, table);
  }
}

template <class F>
void launch_rows(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const dim3 block(kRowThreads);
  if (vectors_allowed(call) && p.columns <= kShort && p.columns > 0) {
    const int lanes = p.columns <= 4 ? 1 : p.columns <= 16 ? 4 : 8;
    const std::int64_t rows_at_once = kRowThreads / lanes * (p.columns <= 32 ? 4 : 1);
    const auto kernel = lanes == 1        ? reduce_short_rows<F, 1, true>
                        : lanes == 4      ? reduce_short_rows<F, 4, true>
                        : p.columns <= 32 ? reduce_short_rows<F, 8, true>
                                          : reduce_short_rows<F, 8, false>;
    return runtime::launch(stream, {dim3(blocks_for(p.rows, rows_at_once)), block}, kernel, call);
  }
  if (p.columns <= 2048 && p.rows > 64) {
    return runtime::launch(stream, {dim3(blocks_for(p.rows, kRowThreads / 32)), block},
                           reduce_rows_by_warps<F>, call);
  }
  const auto [threads, splits] = row_blocks_for(p, *stream.machine, kRowThreads, kInFlight);
  const auto kernel = splits > 1               ? reduce_rows_by_blocks<F, kRowThreads, true>
                      : threads == kRowThreads ? reduce_rows_by_blocks<F, kRowThreads, false>
                                               : reduce_rows_by_blocks<F, 2 * kRowThreads, false>;
  const auto rows = static_cast<unsigned>(p.rows);
  const dim3 grid = splits > 1 ? dim3(splits + 1, rows) : dim3(rows);
  runtime::launch(stream, {grid, dim3(threads)}, kernel, call);
}

template <class F>
void launch_columns(const Call& call, runtime::StreamView& stream) {
  const int width = vectors_allowed(call) ? 4 : 1;
  const Strips s = strips_for(call.problem, *stream.machine, width);
  const int shift = s.shape.shift;
  const auto kernel = width == 1               ? reduce_columns<F, 512, 1, 5, true>
                      : s.shape.threads == 256 ? reduce_columns<F, 256, 4, 3, true>
                      : shift == 2             ? reduce_columns<F, 512, 4, 2, true>
                      : shift == 3             ? reduce_columns<F, 512, 4, 3, true>
                      : shift == 4             ? reduce_columns<F, 512, 4, 4>
                      : shift == 5             ? reduce_columns<F, 512, 4, 5>
                      : shift == 7             ? reduce_columns<F, 512, 4, 7>
                                               : reduce_columns<F, 512, 4, 9>;
  const dim3 grid(s.count, s.splits + s.collectors), block(s.shape.threads);
  runtime::launch(stream, {grid, block}, kernel, call, s.splits, s.collectors);
}

void launch(const Call& call, runtime::StreamView& stream) {
  parts::for_function(call.problem.function, call.problem.length(), [&](auto function) {
    using F = decltype(function);
    (call.problem.lines == Lines::rows ? launch_rows<F> : launch_columns<F>)(call, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  if (p.lines == Lines::columns) return predict_strips(p, strips_for(p, machine, 4));
  ladder::Totals t = predict_rows(p, 4);
  const ops::PartialCosts cost(p.function);
  if (p.columns <= kShort) {  // four rows to a warp
    t.global_store_requests = t.global_store_sectors = p.rows / 4;
    cost.add_warp_reduce(t, p.rows / 4, 8);
  } else if (p.columns <= 2048) {
    cost.add_warp_reduce(t, p.rows);
  } else {
    cost.add_block_reduce(
        t, p.rows,
        static_cast<int>(row_blocks_for(p, machine, kRowThreads, kInFlight).threads) / 32);
  }
  return t;
}

}  // namespace

WARPLADDER_RUNG(04_split) = {.idea = "as many threads to a line as it has work for",
                             .accepts = "every problem",
                             .launch = launch_call<launch>,
                             .predict = predict_call<predict>};

}  // namespace warpladder::reduce_axis
