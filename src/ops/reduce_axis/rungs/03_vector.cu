// Bound before: 4 bytes a lane in each load, one of them under way.
// Idea: 16 bytes in each load, four loads under way. A block of 256 threads to each row; strips of
// 128 columns, each thread with four of them.
//
// Prediction: a quarter of the requests, with 16 sectors each. Accepts: every problem; where a row
// does not begin on 16 bytes its ends are read one by one, and columns by single words. What binds
// it: for lines of enough elements, and enough of them, memory.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kRowThreads = 256, kColumnThreads = 512, kShift = 5, kAcross = 1 << kShift,
              kInFlight = 4;

template <class F>
__global__ void __launch_bounds__(kRowThreads) reduce_rows(Call call) {
  const float* line = call.in + blockIdx.x * call.problem.ld;
  const auto v = parts::block_reduce<F, kRowThreads>(
      parts::part_of_line<F, kRowThreads, kInFlight>(line, call.problem.columns, 0, 1));
  if (threadIdx.x == 0) finish(call, blockIdx.x, v);
}

template <class F, int kWidth>
__global__ void __launch_bounds__(kColumnThreads) reduce_columns(Call call) {
  __shared__ typename F::Value table[StripTable<F, kColumnThreads, kWidth, kShift>::kSize];
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kAcross * kWidth;
  reduce_strip<F, kColumnThreads, kWidth, kShift, kInFlight>(
      call, column0, 0, 1, table, [&](int r, auto v) { finish(call, column0 + r, v); });
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const int width = vectors_allowed(call) ? 4 : 1;
  parts::for_function(p.function, p.length(), [&](auto function) {
    using F = decltype(function);
    if (p.lines == Lines::rows) {
      return runtime::launch(stream, {dim3(blocks_for(p.rows, 1)), dim3(kRowThreads)},
                             reduce_rows<F>, call);
    }
    runtime::launch(stream, {dim3(blocks_for(p.columns, kAcross * width)), dim3(kColumnThreads)},
                    width == 4 ? reduce_columns<F, 4> : reduce_columns<F, 1>, call);
  });
}

ladder::Totals predict(const Problem& p) {
  if (p.lines == Lines::columns) {
    const auto strips = static_cast<unsigned>(p.columns / (4 * kAcross));
    return predict_strips(p, {{kColumnThreads, kShift, 4}, strips});
  }
  ladder::Totals t = predict_rows(p, 4);
  ops::PartialCosts(p.function).add_block_reduce(t, p.rows, kRowThreads / 32);
  return t;
}

}  // namespace

WARPLADDER_RUNG(03_vector) = {.idea = "16 bytes a load, four loads under way",
                              .accepts = "every problem",
                              .launch = launch_call<launch>,
                              .predict = predict_call<predict>};

}  // namespace warpladder::reduce_axis
