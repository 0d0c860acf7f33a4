// Bound before: rows of fewer than 32 entries leave lanes of their warp idle.
// Idea: as many lanes to a row as its mean length fills, so that a warp takes up to 16 rows at
// once.
//
// Prediction, where rows have 32 entries or more: 02's. Else, with L lanes a row, 32/L rows to a
// request, and log2(L) shuffles. Accepts: every matrix. What binds it: lanes wait for the longest
// row of their warp. And where rows are short each load is one of a chain: offsets, columns, x.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset, int kLanes>
__global__ void __launch_bounds__(kThreads) multiply(Csr<Offset> m) {
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const bool there = row < m.rows;
  const std::int64_t end = there ? m.row_offsets[row + 1] : 0;
  float sum = 0.0f;
  for (std::int64_t e = there ? m.row_offsets[row] + lane : 0; e < end; e += kLanes) {
    sum += __ldg(m.values + e) * __ldg(m.x + __ldg(m.column_indices + e));
  }
  sum = parts::warp::reduce<kLanes>(sum, parts::warp::Sum());
  if (there && lane == 0) parts::store_row(m, row, sum);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const std::int64_t mean = mean_row(call.problem);
  const auto go = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    runtime::launch(stream, {dim3(to_grid(ceil_div(m.rows, kThreads / kLanes))), dim3(kThreads)},
                    multiply<Offset, kLanes>, m);
  };
  if (mean < 4) return go(std::integral_constant<int, 2>());
  if (mean < 8) return go(std::integral_constant<int, 4>());
  if (mean < 16) return go(std::integral_constant<int, 8>());
  if (mean < 32) return go(std::integral_constant<int, 16>());
  go(std::integral_constant<int, 32>());
}

}  // namespace

WARPLADDER_RUNG(03_subwarp) = {.idea = "lanes fitted to the mean row",
                               .accepts = "every matrix",
                               .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                               .predict = predict_call<predict_warp_per_row>};

}  // namespace warpladder::spmv
