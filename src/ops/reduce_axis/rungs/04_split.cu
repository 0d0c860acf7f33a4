// Bound before: 16 rows keep 16 blocks busy, and 16 columns one strip; and of a short row most of a
// block has nothing.
// Idea: as many threads to a line as it has work for. Short rows: a vector a lane, so that a warp
// takes up to 32 rows at once, four of those under way. Long lines, where there are few: split
// among blocks, whose partial results one more block collects, as in reduce/07_one_launch.
// Columns in narrow strips, which are many, before a strip is split.
//
// Prediction: of rows that are not few 03's loads, with a warp to each up to 2048 columns; of
// columns 03's, in strips of 32, with three shuffles and a block that collects where they are
// split. Accepts: every problem; flags must be zero, and stay the stream's own. What binds it:
// memory, from some tens of MiB on.

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
template <class F, bool kSplit>
__global__ void __launch_bounds__(kRowThreads) reduce_rows_by_blocks(Call call) {
  const std::int64_t row = kSplit ? blockIdx.y : blockIdx.x;
  const unsigned splits = kSplit ? gridDim.x - 1 : 1, split = kSplit ? blockIdx.x : 0;
  const float* line = call.in + row * call.problem.ld;
  std::uint64_t* words = call.flags + 2 * row * splits;
  typename F::Value v;
  if (kSplit && split == splits) {
    v = parts::collect<F, 1>(words, 2, threadIdx.x, kRowThreads, static_cast<int>(splits));
  } else {
    v = parts::part_of_line<F, kRowThreads, kInFlight>(line, call.problem.columns, split, splits);
  }
  v = parts::block_reduce<F, kRowThreads>(v);
  if (threadIdx.x != 0) return;
  if (kSplit && split < splits) {
    parts::publish(&words[2 * split], v);
  } else {
    finish(call, row, v);
  }
}

// A strip to a block; where it is split, to as many blocks and one more.
template <class F, int kThreads, int kWidth, int kShift, int kRowsInFlight, bool kMaySplit = true>
__global__ void __launch_bounds__(kThreads, kThreads == 256 ? 3 : 1024 / kThreads)
    reduce_columns(Call call, unsigned wanted) {
  constexpr int kColumns = kWidth << kShift;
  const unsigned splits = kMaySplit ? wanted : 1, split = kMaySplit ? blockIdx.y : 0;
  const std::int64_t columns = call.problem.columns, column0 = std::int64_t{blockIdx.x} * kColumns;
  if (split < splits) {
    reduce_strip<F, kThreads, kWidth, kShift, kRowsInFlight>(
        call, column0, split, splits, [&](int r, auto v) {
          if (splits == 1) return finish(call, column0 + r, v);
          parts::publish(&call.flags[2 * (split * columns + column0 + r)], v);
        });
  } else if constexpr (kMaySplit) {
    collect_strip<F, kThreads, kColumns>(call, column0, splits);
  }
}

template <class F>
void launch_rows(const Call& call, device::Stream& stream) {
  const Problem& p = call.problem;
  const dim3 block(kRowThreads);
  if (vectors_allowed(call) && p.columns <= kShort && p.columns > 0) {
    const int lanes = p.columns <= 4 ? 1 : p.columns <= 16 ? 4 : 8;
    const std::int64_t rows_at_once = kRowThreads / lanes * (p.columns <= 32 ? 4 : 1);
    const auto kernel = lanes == 1        ? reduce_short_rows<F, 1, true>
                        : lanes == 4      ? reduce_short_rows<F, 4, true>
                        : p.columns <= 32 ? reduce_short_rows<F, 8, true>
                                          : reduce_short_rows<F, 8, false>;
    return device::launch(stream, {dim3(blocks_for(p.rows, rows_at_once)), block}, kernel, call);
  }
  if (p.columns <= 2048 && p.rows > 64) {
    return device::launch(stream, {dim3(blocks_for(p.rows, kRowThreads / 32)), block},
                          reduce_rows_by_warps<F>, call);
  }
  const unsigned splits = splits_for(p.rows, 1056, p.columns / (4 * kRowThreads * kInFlight));
  const auto rows = static_cast<unsigned>(p.rows);
  device::launch(stream, {splits > 1 ? dim3(splits + 1, rows) : dim3(rows), block},
                 splits > 1 ? reduce_rows_by_blocks<F, true> : reduce_rows_by_blocks<F, false>,
                 call);
}

template <class F>
void launch_columns(const Call& call, device::Stream& stream) {
  const int width = vectors_allowed(call) ? 4 : 1;
  const Strips s = strips_for(call.problem, width);
  const auto kernel = width == 1         ? reduce_columns<F, 512, 1, 5, 4>
                      : s.shift == 2     ? reduce_columns<F, 1024, 4, 2, 4>
                      : s.shift == 5     ? reduce_columns<F, 512, 4, 5, 4, false>
                      : s.shift == 9     ? reduce_columns<F, 512, 4, 9, 8, false>
                      : s.threads == 256 ? reduce_columns<F, 256, 4, 3, 8>
                                         : reduce_columns<F, 1024, 4, 3, 4>;
  const dim3 grid(s.count, s.splits > 1 ? s.splits + 1 : 1), block(s.threads);
  device::launch(stream, {grid, block}, kernel, call, s.splits);
}

void launch(const Call& call, device::Stream& stream) {
  parts::for_function(call.problem.function, [&](auto function) {
    using F = decltype(function);
    call.problem.lines == Lines::rows ? launch_rows<F>(call, stream)
                                      : launch_columns<F>(call, stream);
  });
}

ladder::Totals predict(const Problem& p) {
  if (p.lines == Lines::columns) return predict_strips(p, strips_for(p, 4));
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / 128;
  t.global_load_sectors = p.rows * p.columns / 8;
  t.global_store_requests = t.global_store_sectors = p.rows;
  const ops::PartialCosts cost(p.function);
  if (p.columns <= kShort) {  // four rows to a warp, three steps
    t.global_store_requests = p.rows / 4;
    t.global_store_sectors = p.rows / 4;
    t.shuffles = cost.requests(3 * p.rows / 4);
  } else if (p.columns <= 2048) {
    cost.add_warp_reduce(t, p.rows);
  } else {
    cost.add_block_reduce(t, p.rows, kRowThreads / 32);
  }
  return t;
}

WARPLADDER_REDUCE_AXIS_RUNG("as many threads to a line as it has work for", "every problem", launch,
                            predict);

}  // namespace
}  // namespace warpladder::reduce_axis
