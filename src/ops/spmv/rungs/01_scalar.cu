// A thread for each row: the product as it is written down.
//
// Prediction, per 32 rows: two loads of their offsets, of 4 and 5 sectors. Per entry of theirs: a
// load of 32 sectors of values and one of 32 of columns, for neighbouring lanes stand a whole row
// apart. Of x it is as many sectors as they name different ones. An FMA an entry. Accepts: every
// matrix.
// What binds it: sectors of which 4 bytes are used; and a warp waits for the longest of its rows.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset>
__global__ void __launch_bounds__(kThreads) multiply(Csr<Offset> m) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= m.rows) return;
  const std::int64_t end = m.row_offsets[row + 1];
  float sum = 0.0f;
  for (std::int64_t e = m.row_offsets[row]; e < end; ++e) {
    sum += m.values[e] * m.x[m.column_indices[e]];
  }
  parts::store_row(m, row, sum);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call&, runtime::StreamView& stream) {
  runtime::launch(stream, {dim3(to_grid(ceil_div(m.rows, kThreads))), dim3(kThreads)},
                  multiply<Offset>, m);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.rows / 32, steps = p.nnz / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * warps + 3 * steps;
  t.global_load_sectors = 9 * warps + (32 + 32 + 1) * steps;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.nnz;
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_scalar) = {.idea = "one thread per row",
                              .accepts = "every matrix",
                              .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                              .predict = predict_call<predict>};

}  // namespace warpladder::spmv
