// Bound before: row_12 brings all of k to shared memory, multiplies, and stores. Its CTAs do one
// after the other, and a lane reads ten times for 64 multiply-adds. 2449×3867×10 NT takes 29.6 µs
// on an H100, where C's bytes alone need 12.
//
// Idea: a lane keeps all of k of its four columns of B in registers. A's rows pass through shared
// memory: all lanes read the same four words for 16 multiply-adds. A row's sums leave at once, 128
// neighbouring bytes a request, while asynchronous copies bring the next rows. A CTA has so
// many rows that all CTAs run at the same time.
//
// Prediction: up to k = 16, 80 % of what memory takes in writes, whatever C's alignment:
// 2449×3867×10 in 16 µs. Measured: 19.2 µs, where cuBLAS takes 26. And 8192×8192×16 in 100 µs, 80 %
// of the data sheet's bandwidth, where row_12 takes 112. And 2047×2049×33 in 18.9 µs, where row_12
// takes 29 and cuBLAS 18.2. Accepts: every problem; each 48 of k take a launch, which adds to C.
// What binds it: memory; from k = 32 on shared memory, which gives 128 bytes a cycle.

#include "ops/sgemm/rung_columns.hpp"

namespace warpladder::sgemm {
namespace {

template <class C, bool kVectors>
__global__ void __launch_bounds__(C::threads, C::resident)
    multiply(Gemm g, ColumnOperand a, ColumnOperand b, int tiles_n, int blocks) {
  __shared__ __align__(16) ColumnShared<C> shared;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, depth = static_cast<int>(g.k),
            own = kVectors ? 4 * lane : lane;
  const std::int64_t column0 = std::int64_t{blockIdx.x} % tiles_n * C::columns,
                     row0 = std::int64_t{blockIdx.x} / tiles_n * (C::rows * blocks);
  const auto copy_a = [&](int block) {
    if (block < blocks) {
      copy_block<C, C::rows>(a, row0 + block * C::rows, depth,
                             [&](int row, int k) { return &shared.a[block % 2][row][k]; });
    }
    ptx::cp_async_commit();
  };
  copy_block<C, C::columns>(b, column0, depth,
                            [&](int column, int k) { return &shared.b[k][column]; });
  copy_a(0);
  ptx::cp_async_wait<0>();
  __syncthreads();  // all threads' copies are there
  float columns[C::depth][4];
  WARPLADDER_UNROLL
  for (int k = 0; k < C::depth; ++k) {
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) columns[k][j] = shared.b[k][own + (kVectors ? j : 32 * j)];
  }
  float* c = g.c + (row0 + warp) * g.ldc + column0 + own;
  const std::int64_t left = g.n - column0 - own;
  WARPLADDER_NO_UNROLL
  for (int block = 0; block < blocks; ++block) {
    copy_a(block + 1);
    WARPLADDER_UNROLL_BY(2)
    for (int row = warp; row < C::rows; row += C::threads / 32, c += C::threads / 32 * g.ldc) {
      if (row0 + block * C::rows + row >= g.m) break;
      float sum[4] = {};
      multiply_row<C>(sum, columns, shared.a[block % 2][row]);
      store_columns<C, kVectors>(c, left, g, sum);
    }
    ptx::cp_async_wait<0>();
    __syncthreads();  // the next rows are there, and these are read no more
  }
}

template <class C>
void launch_block(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const ColumnGrid grid = column_grid<C>(g.m, g.n, *stream.machine);
  const ColumnOperand a{g.a, trans_a ? 1 : g.lda, trans_a ? g.lda : 1, g.m},
      b{g.b, trans_b ? g.ldb : 1, trans_b ? 1 : g.ldb, g.n};
  const bool vectors = reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0 && g.ldc % 4 == 0;
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(grid.ctas)), dim3(C::threads)};
  runtime::launch(stream, shape, vectors ? multiply<C, true> : multiply<C, false>, g, a, b,
                  static_cast<int>(tiles(g.n, C::columns)), static_cast<int>(grid.blocks));
}

void launch(const Gemm& given, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  Gemm g = given;
  for (std::int64_t k = 0; k == 0 || k < given.k; k += kMostDepth) {
    g.k = std::min(given.k - k, kMostDepth);
    with_column_block(g.k, [&]<class C>() { launch_block<C>(g, trans_a, trans_b, stream); });
    g.a += kMostDepth * (trans_a ? g.lda : 1);
    g.b += kMostDepth * (trans_b ? 1 : g.ldb);
    g.beta = 1.0f;
  }
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  t.global_load_sectors = t.global_store_sectors = ladder::kNotPredicted;  // a launch reads C
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.global_load_requests = t.global_store_requests = ladder::kNotPredicted;
  for (std::int64_t k = 0; k < p.k; k += kMostDepth) {
    with_column_block(std::min(p.k - k, kMostDepth), [&]<class C>() {
      const ColumnGrid grid = column_grid<C>(p.m, p.n, machine);
      const std::uint64_t rows = p.m * tiles(p.n, C::columns), warps = 4 * grid.ctas;
      t.shared_load_requests += rows * (C::depth / 4) + warps * (4 * C::depth);
      t.shared_load_wavefronts += 2 * rows * (C::depth / 4) + 4 * warps * (4 * C::depth);
      t.barriers += warps * (1 + grid.blocks);
      t.fmas += rows * C::columns * (k > 0 ? C::depth + 1 : C::depth);  // and with C
    });
  }
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_22_columns_stay) = {.idea = "columns of B stay in registers, rows of A pass by",
                                        .accepts = "every problem; each 48 of k take a launch",
                                        .launch = launch_in<Layout::row_major, launch>,
                                        .predict = predict_in<Layout::row_major, predict>,
                                        .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
