#pragma once
// What row_22_columns_stay does with the blocks of column_blocks.hpp: copies of lines to shared
// memory, a row's sums, and their way to C.

#include "ops/sgemm/column_blocks.hpp"
#include "ops/sgemm/rung.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The pitch spreads copies of neighbours along k over the banks.
template <class C>
struct ColumnShared {
  float b[C::depth][C::columns + 4];
  float a[2][C::rows][C::depth];
};

// Element (line, k) lies at line·line_stride + k·k_stride.
struct ColumnOperand {
  const float* data;
  std::int64_t line_stride, k_stride, lines;
};

// The threads copy kLines lines: to(line, k) says where. Neighbouring threads copy neighbours in
// memory. What does not exist becomes zero.
template <class C, int kLines, class To>
__device__ __forceinline__ void copy_block(const ColumnOperand& x, std::int64_t line0, int depth,
                                           const To& to) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t left = x.lines - line0;
  const float* const block = x.data + line0 * x.line_stride;
  if (x.k_stride == 1) {
    constexpr int kAtOnce = C::threads / C::depth;
    const int first = thread / C::depth, k = thread % C::depth;
    if (first >= kAtOnce) return;
    const float* from = block + first * x.line_stride + k;
    WARPLADDER_UNROLL_BY(8)
    for (int line = first; line < kLines; line += kAtOnce, from += kAtOnce * x.line_stride) {
      ptx::cp_async<4>(to(line, k), from, k < depth && line < left ? 4 : 0);
    }
  } else {
    constexpr int kAtOnce = C::threads / kLines;
    const int line = thread % kLines, first = thread / kLines;
    const float* from = block + line + first * x.k_stride;
    WARPLADDER_UNROLL_BY(8)
    for (int k = first; k < C::depth; k += kAtOnce, from += kAtOnce * x.k_stride) {
      ptx::cp_async<4>(to(line, k), from, k < depth && line < left ? 4 : 0);
    }
  }
}

// The lane's columns of row `row` of the block: sums over all of k.
template <class C>
__device__ __forceinline__ void multiply_row(float (&sum)[4], const float (&b)[C::depth][4],
                                             const float* a) {
  WARPLADDER_UNROLL
  for (int k = 0; k < C::depth; k += 4) {
    float four[4];
    parts::load4(four, a + k);
    WARPLADDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < 4; ++j) sum[j] = fmaf(four[i], b[k + i][j], sum[j]);
    }
  }
}

// kVectors: a lane's columns are neighbours, which C takes at once; else 32 apart.
template <class C, bool kVectors>
__device__ __forceinline__ void store_columns(float* c, std::int64_t left, const Gemm& g,
                                              const float (&sum)[4]) {
  if constexpr (kVectors) {
    parts::store4<4>(c, left, g.alpha, sum, g.beta);
  } else {
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (32 * j < left) store_scaled(c + 32 * j, g.alpha, sum[j], g.beta);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
