// Bound before: row_08_double needs float64 tensor cores, which only data-centre GPUs have, and
// takes no arrays of pointers.
//
// Idea: row_09_batched with float64 sums on CUDA cores. A product of two floats is exact in
// float64. The sum of k of them is off by k · 2^-53 at most, and each element of C is rounded once.
//
// Prediction: row_09_batched's accesses and multiply-adds, these in float64.
//
// Accepts: every problem, batches in strides or in arrays of pointers; runs on every GPU.
// What binds it: float64 multiply-adds, 2 a cycle and multiprocessor on a GeForce, 64 on an H200.

#include "ops/sgemm/rung_batched.hpp"

namespace warpladder::sgemm {
namespace {

template <class C>
__global__ void __launch_bounds__(C::threads) multiply(BatchedGemm x) {
  __shared__ __align__(16) BatchedTiles<C> shared;
  const Gemm& g = x.gemm;
  const int row = static_cast<int>(threadIdx.x) / C::across * C::thread,
            column = static_cast<int>(threadIdx.x) % C::across * C::thread;
  for (std::int64_t at = blockIdx.x; at < x.tiles * x.batch.count; at += gridDim.x) {
    const BatchedTile tile = batched_tile<C>(x, at);
    typename C::Sum sum[C::thread][C::thread] = {};
    for (std::int64_t k = 0; k < g.k; k += C::depth) {
      load_batched_tile<C>(shared.a, tile.operands.a, x.a, tile.row, g.m, k, g.k);
      load_batched_tile<C>(shared.b, tile.operands.b, x.b, tile.column, g.n, k, g.k);
      __syncthreads();  // both tiles are there
      add_batched_step<C>(sum, shared, row, column);
      __syncthreads();  // nobody reads them any more
    }
    WARPLADDER_UNROLL
    for (int i = 0; i < C::thread; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < C::thread; ++j) {
        const std::int64_t to_row = tile.row + row + i, to_column = tile.column + column + j;
        if (to_row < g.m && to_column < g.n) {
          store_batched(tile.operands.c + to_row * g.ldc + to_column, g, sum[i][j]);
        }
      }
    }
  }
}

using Small = BatchedConfig<double, 32>;
using Large = BatchedConfig<double, 64>;
void launch(const Call& call, runtime::StreamView& stream) {
  launch_batched<Small, Large>(call, stream, multiply<Small>, multiply<Large>);
}

}  // namespace

WARPLADDER_RUNG(row_10_batched_double) = {.idea = "the same in float64, rounded once",
                                          .accepts = "every problem, and batches",
                                          .launch = launch,
                                          .predict = predict_in<Layout::row_major, predict_batched>,
                                          .takes = takes_batches};

}  // namespace warpladder::sgemm
