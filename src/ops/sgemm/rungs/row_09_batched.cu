// Bound before: a product of 64×64×64 takes one CTA some microseconds and its launch as long. Many
// such products in a loop leave the GPU idle.
//
// Idea: one launch for a batch. The grid runs through the tiles of all products, which lie a stride
// apart or where arrays of pointers say. Tiles are 64×64, or 32×32 where m or n is 32 or less.
//
// Prediction, per warp and 16 steps of k: 8 global loads of 4 sectors, 8 shared stores and 32
// shared loads. A shared load has 2 wavefronts for A and 4 for B; 16 multiply-adds a thread and
// step.
//
// Accepts: every problem, batches in strides or in arrays of pointers; runs on every GPU.
// What binds it: shared-memory loads, 2 for 16 multiply-adds; operands are read word by word.

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

using Small = BatchedConfig<float, 32>;
using Large = BatchedConfig<float, 64>;
void launch(const Call& call, runtime::StreamView& stream) {
  launch_batched<Small, Large>(call, stream, multiply<Small>, multiply<Large>);
}

}  // namespace

WARPLADDER_RUNG(row_09_batched) = {.idea = "one launch for many products",
                                   .accepts = "every problem, and batches",
                                   .launch = launch,
                                   .predict = predict_in<Layout::row_major, predict_batched>,
                                   .takes = takes_batches};

}  // namespace warpladder::sgemm
