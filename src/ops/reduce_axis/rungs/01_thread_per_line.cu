// The start: a thread for each row, or for each column, which walks along it.
//
// Prediction: lanes that walk along columns are neighbours, so that a request is 4 whole sectors.
// Lanes that walk along rows are a row apart: 32 sectors a request, of each of which 4 bytes are
// wanted now. Accepts: every problem. What binds it: L1 for rows; for columns latency, with one
// load under way in each of a few threads.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kThreads = 128;

template <class F>
__global__ void __launch_bounds__(kThreads) reduce(Call call) {
  const Problem& p = call.problem;
  const std::int64_t line = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (line >= p.results()) return;
  const bool rows = p.lines == Lines::rows;
  const float* in = call.in + (rows ? line * p.ld : line);
  const std::int64_t step = rows ? 1 : p.ld, length = p.length();
  typename F::template Running<std::int64_t> running;
  for (std::int64_t k = 0; k < length; ++k) running.add(in[k * step], k);
  const auto same = [](std::int64_t k) { return k; };
  finish(call, line, length > 0 ? running.value(same) : F::none());
}

void launch(const Call& call, runtime::StreamView& stream) {
  parts::for_function(call.problem.function, call.problem.length(), [&](auto function) {
    runtime::launch(stream, {dim3(blocks_for(call.problem.results(), kThreads)), dim3(kThreads)},
                    reduce<decltype(function)>, call);
  });
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / 32;
  t.global_load_sectors = t.global_load_requests * (p.lines == Lines::rows ? 32 : 4);
  t.global_store_requests = p.results() / 32;
  t.global_store_sectors = t.global_store_requests * (is_place(p.function) ? 8 : 4);
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_thread_per_line) = {.idea = "a thread walks along each line",
                                       .accepts = "every problem",
                                       .launch = launch_call<launch>,
                                       .predict = predict_call<predict>};

}  // namespace warpladder::reduce_axis
