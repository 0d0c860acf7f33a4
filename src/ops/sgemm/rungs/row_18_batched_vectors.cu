// Bound before: row_16 and row_17 lay a product with one row down in tiles of 32 and more. Most of
// what they copy to shared memory and multiply is zeros.
// Idea: a product with one row or one column is a matrix times a vector, and takes as long as its
// matrix is read. Where the matrix's lines lie along k a warp multiplies four of them with the
// vector. Where they lie across, a CTA adds up 128 columns, line by line. No shared memory but for
// the last sums, and all products in one launch.
//
// Prediction: 75 % of what memory gives from 32 MiB on: 64 of 1×1024×1024 in 110 µs on an H100.
// Measured: 90 µs, where row_17 takes 105 and cuBLAS 95.
// Accepts: one row or one column, batches in strides or in arrays of pointers; float4 where
// alignment allows; runs on every GPU.
// What binds it: memory; few products with few outputs, the launch and the loads' latency.

#include "ops/sgemm/rung_operands.hpp"
#include "parts/column_sums.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kThreads = 256, kLanes = 32, kLines = 4, kInFlight = 2;
constexpr int kLinesOfBlock = kThreads / kLanes * kLines, kColumnsOfBlock = 128, kLanesLog2 = 5;

// Of each product: the matrix and the vector, as BLAS calls them, and one output after the other.
// by_row: C has one row, and the matrix is B. `whole`: sizes and strides are multiples of 4.
struct VectorBatch {
  Gemm gemm;
  Batch batch;
  std::int64_t outputs, ld, incx, incy;
  parts::Divisor blocks;  // of a product
  bool by_row, whole;
};

struct VectorOperands {
  const float *matrix, *x;
  float* y;
  bool vectors;
};
__device__ __forceinline__ VectorOperands operands_of(const VectorBatch& v) {
  const ProductOperands all = operands_of(v.gemm, v.batch, v.blocks(blockIdx.x).quotient);
  const float *matrix = v.by_row ? all.b : all.a, *x = v.by_row ? all.a : all.b;
  return {matrix, x, all.c, v.whole && is_whole(matrix) && is_whole(x)};
}

template <int kWidth>
__device__ __forceinline__ void multiply_lines(const VectorBatch& v, const VectorOperands& of) {
  const std::int64_t first =
      std::int64_t{v.blocks(blockIdx.x).remainder} * kLinesOfBlock + threadIdx.x / kLanes * kLines;
  const float* line[kLines];
  WARPLADDER_UNROLL
  for (int l = 0; l < kLines; ++l) {  // beyond the last line that one is read again
    line[l] = of.matrix + (first + l < v.outputs ? first + l : v.outputs - 1) * v.ld;
  }
  const int lane = threadIdx.x % kLanes;
  float sum[kLines] = {};
  parts::add_products<kWidth, kLanes, kInFlight>(sum, line, of.x, v.incx, v.gemm.k, lane);
  parts::add_up_threads<kThreads, kLanes>(sum);
  if (lane > 0) return;
  WARPLADDER_UNROLL
  for (int l = 0; l < kLines; ++l) {
    if (first + l < v.outputs) {
      store_scaled(of.y + (first + l) * v.incy, v.gemm.alpha, sum[l], v.gemm.beta);
    }
  }
}

__global__ void __launch_bounds__(kThreads) multiply_along(VectorBatch v) {
  const VectorOperands of = operands_of(v);
  of.vectors ? multiply_lines<4>(v, of) : multiply_lines<1>(v, of);
}

template <bool kVectors>
__device__ __forceinline__ void multiply_strip(const VectorBatch& v, const VectorOperands& of) {
  const std::int64_t first = std::int64_t{v.blocks(blockIdx.x).remainder} * kColumnsOfBlock;
  const float4 sums = parts::add_lines<kThreads, kVectors>(
      of.matrix + first, v.ld, v.outputs - first, of.x, v.incx, v.gemm.k, kLanesLog2);
  const float sum = parts::add_up_groups<kThreads, kVectors>(sums, kLanesLog2);
  const std::int64_t column = first + threadIdx.x;
  if (threadIdx.x < kColumnsOfBlock && column < v.outputs) {
    store_scaled(of.y + column * v.incy, v.gemm.alpha, sum, v.gemm.beta);
  }
}

__global__ void __launch_bounds__(kThreads) multiply_across(VectorBatch v) {
  const VectorOperands of = operands_of(v);
  of.vectors ? multiply_strip<true>(v, of) : multiply_strip<false>(v, of);
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const bool by_row = g.m == 1, along = by_row ? trans_b : !trans_a;
    VectorBatch v{
        g,      batch, by_row ? g.n : g.m, by_row ? g.ldb : g.lda, 1, by_row ? 1 : g.ldc, {},
        by_row, false};
    if (by_row && trans_a) v.incx = g.lda;
    if (!by_row && !trans_b) v.incx = g.ldb;
    v.whole = v.incx == 1 && (v.ld | (along ? g.k : v.outputs)) % 4 == 0;
    v.blocks = parts::Divisor::of(tiles(v.outputs, along ? kLinesOfBlock : kColumnsOfBlock));
    const dim3 grid(static_cast<unsigned>(v.blocks.by * batch.count));
    runtime::launch(stream, {grid, dim3(kThreads)}, along ? multiply_along : multiply_across, v);
  });
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return std::min(p.m, p.n) == 1 &&
         fits_grid(tiles(std::max(p.m, p.n), kLinesOfBlock), call.batch.count);
}

}  // namespace

WARPLADDER_RUNG(row_18_batched_vectors) = {
    .idea = "a batch of matrices times vectors, in one launch",
    .accepts = "one row or one column, and batches",
    .launch = launch,
    .predict = predict_in<Layout::row_major, predict_multiply_adds>,
    .takes = takes};

}  // namespace warpladder::sgemm
