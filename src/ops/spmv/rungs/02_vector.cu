// Bound before: neighbouring lanes stand a row apart, and use 4 bytes of each sector.
// Idea: a warp walks along a row together, 32 neighbouring entries at a time, and adds up its
// lanes' sums by exchanging them in registers.
//
// Prediction, per row: two loads of its offsets, a sector each, and five shuffles. Per 32 entries:
// 4 sectors of values and 4 of columns, and of x as many as they touch. Accepts: every matrix. What
// binds it: rows of fewer than 32 entries leave lanes idle, and most rows of most matrices are.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset>
__global__ void __launch_bounds__(kThreads) multiply(Csr<Offset> m) {
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (row >= m.rows) return;
  const std::int64_t end = m.row_offsets[row + 1];
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (std::int64_t e = m.row_offsets[row] + lane; e < end; e += 32) {
    sum += m.values[e] * m.x[m.column_indices[e]];
  }
  sum = parts::warp::reduce(sum, parts::warp::Sum());
  if (lane == 0) parts::store_row(m, row, sum);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call&, runtime::StreamView& stream) {
  runtime::launch(stream, {dim3(to_grid(ceil_div(m.rows, kThreads / 32))), dim3(kThreads)},
                  multiply<Offset>, m);
}

}  // namespace

WARPLADDER_RUNG(02_vector) = {.idea = "one warp per row, added up by shuffles",
                              .accepts = "every matrix",
                              .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                              .predict = predict_call<predict_warp_per_row>};

}  // namespace warpladder::spmv
