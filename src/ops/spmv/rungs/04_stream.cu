// Bound before: where rows are short, values and columns come in pieces of a few entries, one load
// behind another.
// Idea: a block takes neighbouring rows, whose entries lie in one piece. It reads that piece as it
// lies, without asking whose entries they are, and leaves the products in shared memory. Then lanes
// add up each row's.
//
// Prediction: each entry is read once, by requests of 32 neighbours; a sum's terms come from shared
// memory. Accepts: every matrix. What binds it: a block with a long row works on while the others
// are done.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256, kItems = 4, kStaged = kThreads * kItems;

template <class Offset>
__global__ void __launch_bounds__(kThreads) multiply(Csr<Offset> m, int lanes_log2) {
  __shared__ float products[kStaged];
  const int lanes = 1 << lanes_log2, lane = threadIdx.x & (lanes - 1);
  const std::int64_t rows_of_block = kThreads >> lanes_log2, row0 = blockIdx.x * rows_of_block,
                     row1 = row0 + rows_of_block < m.rows ? row0 + rows_of_block : m.rows,
                     row = row0 + (threadIdx.x >> lanes_log2);
  const std::int64_t first = m.row_offsets[row0], end = m.row_offsets[row1];
  const std::int64_t begin_of_row = row < row1 ? m.row_offsets[row] : end,
                     end_of_row = row < row1 ? m.row_offsets[row + 1] : end;
  float sum = 0.0f;
  for (std::int64_t e = first; e < end; e += kStaged) {
    const int count = static_cast<int>(end - e < kStaged ? end - e : kStaged);
    parts::HeldEntries<kThreads, kItems> held;
    held.load(m, static_cast<Offset>(e), count);
    held.multiply(m.x, 0, count, products);
    __syncthreads();  // the products are there before they are added up
    const std::int64_t from = begin_of_row > e ? begin_of_row - e : 0,
                       to = end_of_row - e < count ? end_of_row - e : count;
    for (std::int64_t i = from + lane; i < to; i += lanes) sum += products[i];
    __syncthreads();  // they have been before the next ones come
  }
  WARPLADDER_NO_UNROLL
  for (int bits = lanes / 2; bits > 0; bits /= 2) sum += parts::warp::exchange(sum, bits);
  if (row < row1 && lane == 0) parts::store_row(m, row, sum);
}

// About as many entries to a block as it stages at once.
int lanes_log2_for(const Problem& p) {
  int log2 = 0;
  while (log2 < 5 && mean_row(p) * (kThreads >> log2) > kStaged) ++log2;
  return log2;
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const int lanes_log2 = lanes_log2_for(call.problem);
  runtime::launch(stream, {dim3(to_grid(ceil_div(m.rows, kThreads >> lanes_log2))), dim3(kThreads)},
                  multiply<Offset>, m, lanes_log2);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = p.nnz / 32;
  const std::uint64_t lanes_log2 = lanes_log2_for(p), rows_of_warp = 32 >> lanes_log2;
  t.global_store_requests = p.rows / rows_of_warp;
  t.global_store_sectors = p.rows / rows_of_warp * (rows_of_warp > 8 ? rows_of_warp / 8 : 1);
  t.shuffles = lanes_log2 * p.rows / rows_of_warp;
  t.barriers = ladder::kNotPredicted;
  return t;
}

}  // namespace

WARPLADDER_RUNG(04_stream) = {.idea = "a block's entries staged in shared memory",
                              .accepts = "every matrix",
                              .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                              .predict = predict_call<predict>};

}  // namespace warpladder::spmv
