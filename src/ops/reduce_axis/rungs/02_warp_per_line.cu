// Bound before: lanes that walk along rows touch a sector each for 4 bytes; lanes that walk along
// columns are too few.
// Idea: for rows, a warp to each: its lanes read neighbours, and shuffles join what they have. For
// columns, 16 groups of 32 threads go down the rows of a strip side by side, and shared memory
// joins what they have.
//
// Prediction: 4 sectors a request either way; for rows 5 shuffles each (2 for places).
// Accepts: every problem. What binds it: 4 bytes a lane in each load.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kRowThreads = 128;
constexpr StripShape kShape{512, 5, 1};

template <class F>
__global__ void __launch_bounds__(kRowThreads) reduce_rows(Call call) {
  const Problem& p = call.problem;
  const int lane = threadIdx.x % 32;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kRowThreads / 32) + threadIdx.x / 32;
  if (row >= p.rows) return;
  const float* in = call.in + row * p.ld;
  typename F::template Running<> running;
  int k = 0;
  for (std::int64_t j = lane; j < p.columns; j += 32) running.add(in[j], k++);
  const auto index_of = [&](int of) { return lane + std::int64_t{32} * of; };
  const auto v = parts::warp_reduce<F>(lane < p.columns ? running.value(index_of) : F::none());
  if (lane == 0) finish(call, row, v);
}

template <class F>
__global__ void __launch_bounds__(kShape.threads) reduce_columns(Call call) {
  __shared__
      typename F::Value table[StripTable<F, kShape.threads, kShape.width, kShape.shift>::kSize];
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kShape.columns();
  reduce_strip<F, kShape.threads, kShape.width, kShape.shift, 1>(
      call, column0, 0, 1, table, [&](int r, auto v) { finish(call, column0 + r, v); });
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  parts::for_function(p.function, p.length(), [&](auto function) {
    using F = decltype(function);
    if (p.lines == Lines::rows) {
      runtime::launch(stream, {dim3(blocks_for(p.rows, kRowThreads / 32)), dim3(kRowThreads)},
                      reduce_rows<F>, call);
    } else {
      runtime::launch(stream, {dim3(blocks_for(p.columns, kShape.columns())), dim3(kShape.threads)},
                      reduce_columns<F>, call);
    }
  });
}

ladder::Totals predict(const Problem& p) {
  if (p.lines == Lines::columns) {
    return predict_strips(p, {kShape, blocks_for(p.columns, kShape.columns())});
  }
  ladder::Totals t = predict_rows(p, 1);
  ops::PartialCosts(p.function).add_warp_reduce(t, p.rows);
  return t;
}

}  // namespace

WARPLADDER_RUNG(02_warp_per_line) = {
    .idea = "a warp to each row; groups of threads down the columns",
    .accepts = "every problem",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>};

}  // namespace warpladder::reduce_axis
