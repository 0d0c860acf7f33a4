// Bound before: lanes that walk along rows touch a sector each for 4 bytes; lanes that walk along
// columns are too few.
// Idea: for rows, a warp to each: its lanes read neighbours, and shuffles join what they have. For
// columns, 16 groups of 32 threads go down the rows of a strip side by side, and shared memory
// joins what they have.
//
// Prediction: 4 sectors a request either way; for rows 5 shuffles each (twice as many for places).
// Accepts: every problem. What binds it: 4 bytes a lane in each load.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kRowThreads = 128, kColumnThreads = 512, kShift = 5, kAcross = 1 << kShift;

template <class F>
__global__ void __launch_bounds__(kRowThreads) reduce_rows(Call call) {
  const Problem& p = call.problem;
  const int lane = threadIdx.x % 32;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kRowThreads / 32) + threadIdx.x / 32;
  if (row >= p.rows) return;
  const float* in = call.in + row * p.ld;
  typename F::Running running;
  for (std::int64_t j = lane; j < p.columns; j += 32) running.add(in[j], j);
  const auto v = parts::warp_reduce<F>(running.value());
  if (lane == 0) finish(call, row, v);
}

template <class F>
__global__ void __launch_bounds__(kColumnThreads) reduce_columns(Call call) {
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kAcross;
  reduce_strip<F, kColumnThreads, 1, kShift, 1>(
      call, column0, 0, 1, [&](int r, auto v) { finish(call, column0 + r, v); });
}

void launch(const Call& call, device::Stream& stream) {
  const Problem& p = call.problem;
  parts::for_function(p.function, [&](auto function) {
    using F = decltype(function);
    if (p.lines == Lines::rows) {
      device::launch(stream, {dim3(blocks_for(p.rows, kRowThreads / 32)), dim3(kRowThreads)},
                     reduce_rows<F>, call);
    } else {
      device::launch(stream, {dim3(blocks_for(p.columns, kAcross)), dim3(kColumnThreads)},
                     reduce_columns<F>, call);
    }
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t words = is_place(p.function) ? 2 : 1;
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / 32;
  t.global_load_sectors = 4 * t.global_load_requests;
  if (p.lines == Lines::rows) {
    t.global_store_requests = t.global_store_sectors = p.rows;
    t.shuffles = 5 * words * p.rows;
    return t;
  }
  const std::uint64_t strips = p.columns / kAcross, warps = kColumnThreads / 32;
  const ops::PartialCosts cost(p.function);
  t.global_store_requests = strips;
  t.global_store_sectors = 4 * words * strips;
  cost.add_shared_stores(t, warps * strips, 0);
  cost.add_shared_loads(t, warps * strips, 0);
  t.barriers = warps * strips;
  return t;
}

WARPLADDER_REDUCE_AXIS_RUNG("a warp to each row; groups of threads down the columns",
                            "every problem", launch, predict);

}  // namespace
}  // namespace warpladder::reduce_axis
