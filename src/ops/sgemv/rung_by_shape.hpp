#pragma once
// The kernels whose threads, lines and pieces are chosen by shape (ops/sgemv/shape.hpp).
// 07_by_shape and 08_full_waves launch them; they differ in how strips are planned.

#include "ops/sgemv/rung.hpp"
#include "parts/column_sums.hpp"
#include "parts/flag_finish.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemv {
inline namespace WARPLADDER_FLAVOUR {

// Which strips, of how many pieces, go across the lines.
using PlanStrips = Across (*)(const Gemv& gemv, const runtime::Machine& machine);

template <class C>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_along(Gemv g, std::int64_t size) {
  const int lane = threadIdx.x % C::lanes;
  const std::int64_t first_line =
      std::int64_t{blockIdx.x} * C::lines_of_block + threadIdx.x / C::lanes * C::lines;
  const std::int64_t first = C::may_split ? blockIdx.y * size : 0, left = g.length - first;
  const float* a[C::lines];
  WARPLADDER_UNROLL
  for (int l = 0; l < C::lines; ++l) {  // beyond the last line that one is read again
    const std::int64_t line = first_line + l < g.lines ? first_line + l : g.lines - 1;
    a[l] = g.a + line * g.ld + first;
  }
  float sum[C::lines] = {};
  parts::add_products<C::width, C::lanes, C::in_flight>(
      sum, a, g.x + first * g.incx, g.incx, C::may_split && left > size ? size : left, lane);
  parts::add_up_threads<C::threads, C::lanes>(sum);
  if constexpr (C::may_split) {
    std::uint64_t* slots = g.flags + first_line * parts::slots_of_value(gridDim.y);
    if (gridDim.y > 1 && !parts::gather_value(slots, sum[0])) return;
  }
  if (lane > 0) return;
  WARPLADDER_UNROLL
  for (int l = 0; l < C::lines; ++l) {
    if (first_line + l < g.lines) store_scaled(g, first_line + l, sum[l]);
  }
}

template <int kThreads, bool kVectors>
static __global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    multiply_across(Gemv g, int lanes_log2, std::int64_t size) {
  const int columns = 4 << lanes_log2, column = threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * columns;
  const std::int64_t line = blockIdx.y * size, left = g.lines - line;
  const float4 sums = parts::add_lines<kThreads, kVectors>(
      g.a + line * g.ld + first, g.ld, g.length - first, g.x + line * g.incx, g.incx,
      left < size ? left : size, lanes_log2);
  float sum = parts::add_up_groups<kThreads, kVectors>(sums, lanes_log2);
  if (gridDim.y > 1) {
    std::uint64_t* slots = g.flags + first * (gridDim.y - 1);
    if (!parts::gather_values<kThreads>(slots, lanes_log2 + 2, sum)) return;
  }
  if (column < columns && first + column < g.length) store_scaled(g, first + column, sum);
}

static inline void launch_lines(const Gemv& g, runtime::StreamView& stream) {
  with_along(g, [&](auto config) {
    using C = decltype(config);
    const Pieces pieces = pieces_along<C>(g, *stream.machine);
    const dim3 grid(to_grid(ceil_div(g.lines, C::lines_of_block)), to_grid(pieces.count));
    runtime::launch(stream, {grid, dim3(C::threads)}, multiply_along<C>, g, pieces.size);
  });
}
constexpr int kColumnThreads = 256;

// A column to a thread, or to a block.
template <bool kFewLines>
static __global__ void __launch_bounds__(kColumnThreads) multiply_columns(Gemv g) {
  const std::int64_t block = blockIdx.x;
  const std::int64_t column = kFewLines ? block * kColumnThreads + threadIdx.x : block;
  if (column >= g.length) return;
  float sum[] = {parts::add_column(g.a + column, g.ld, g.x, g.incx, g.lines,
                                   kFewLines ? 0 : threadIdx.x, kFewLines ? 1 : kColumnThreads)};
  if constexpr (!kFewLines) {
    parts::add_up_threads<kColumnThreads, kColumnThreads>(sum);
    if (threadIdx.x > 0) return;
  }
  store_scaled(g, column, sum[0]);
}

template <PlanStrips plan_strips, bool kVectors>
static void launch_strips(const Gemv& g, runtime::StreamView& stream) {
  const Across plan = plan_strips(g, *stream.machine);
  const dim3 grid(to_grid(plan.strips(g)), to_grid(plan.pieces.count));
  const auto kernel = plan.threads == 1024  ? multiply_across<1024, kVectors>
                      : plan.threads == 512 ? multiply_across<512, kVectors>
                                            : multiply_across<256, kVectors>;
  runtime::launch(stream, {grid, dim3(plan.threads)}, kernel, g, plan.lanes_log2, plan.pieces.size);
}
template <PlanStrips plan_strips>
static void launch_columns(const Gemv& g, runtime::StreamView& stream) {
  const bool few = few_lines(g);
  if (few || small_matrix(g)) {
    const dim3 grid(to_grid(few ? ceil_div(g.length, kColumnThreads) : g.length));
    return runtime::launch(stream, {grid, dim3(kColumnThreads)},
                           few ? multiply_columns<true> : multiply_columns<false>, g);
  }
  vectors_allowed(g) ? launch_strips<plan_strips, true>(g, stream)
                     : launch_strips<plan_strips, false>(g, stream);
}

inline ladder::Totals predict_lines_by_shape(const Gemv& g, const runtime::Machine& machine) {
  return with_along(g, [&](auto config) { return predict_lines<decltype(config)>(g, machine); });
}
template <PlanStrips plan_strips>
ladder::Totals predict_columns(const Gemv& g, const runtime::Machine& machine) {
  if (!small_matrix(g)) return predict_strips(g, plan_strips(g, machine));
  const std::uint64_t steps = g.lines * g.length / 32, warps = g.length * kColumnThreads / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (32 + 4) * steps;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = warps;
  t.shared_load_requests = t.shared_load_wavefronts = warps - g.length;
  t.global_store_requests = t.global_store_sectors = g.length;
  t.shuffles = 5 * warps;
  t.fmas = 32 * steps;
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv
