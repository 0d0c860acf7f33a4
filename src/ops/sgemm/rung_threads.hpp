#pragma once
// What a thread does with a tile of C whose operands it reads straight from global memory
// (row_15_tiny_products): no barrier, no shared memory.

#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/thread_tiles.hpp"
#include "parts/outer_product.hpp"
#include "parts/warp.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Four elements of k: of a row of A, and of four columns of B. Zeros lie beyond the end of k. Where
// columns end, the last one is read again.
template <bool kARows, bool kVectors>
__device__ __forceinline__ void load_row(float (&to)[kFour], const Gemm& g, const float* a, int row,
                                         int k) {
  if constexpr (kARows && kVectors) {
    parts::load4(to, a + row * g.lda + k);
  } else {
    WARPLADDER_UNROLL
    for (int i = 0; i < kFour; ++i) {
      const bool there = kVectors || k + i < g.k;
      to[i] = there ? a[kARows ? row * g.lda + k + i : (k + i) * g.lda + row] : 0.0f;
    }
  }
}
template <bool kBRows, bool kVectors>
__device__ __forceinline__ void load_columns(float (&to)[kFour][kFour], const Gemm& g,
                                             const float* b, int column, int k) {
  const int last = static_cast<int>(g.n) - 1;
  WARPLADDER_UNROLL
  for (int i = 0; i < kFour; ++i) {
    if constexpr (kVectors && kBRows) {
      parts::load4(to[i], b + (k + i) * g.ldb + column);
    } else if constexpr (kVectors) {
      float four[kFour];  // of column i
      parts::load4(four, b + (column + i) * g.ldb + k);
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) to[j][i] = four[j];
    } else {
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) {
        const int at = column + j < last ? column + j : last;
        to[i][j] = k + i < g.k ? b[kBRows ? (k + i) * g.ldb + at : at * g.ldb + k + i] : 0.0f;
      }
    }
  }
}

// Where a lane's tile begins, and the lane's part of k.
struct Place {
  int row, column, part;
};

template <class C>
__device__ __forceinline__ void join_lanes(float (&sum)[C::rows][kFour]) {
  if constexpr (C::lanes > 1) {
    WARPLADDER_UNROLL
    for (int r = 0; r < C::rows; ++r) {
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) {
        sum[r][j] = parts::warp::reduce<C::lanes>(sum[r][j], parts::warp::Sum());
      }
    }
  }
}

// All lanes of a warp, for their shuffles; those that are not `there` store nothing.
template <class C, bool kARows, bool kBRows, bool kVectors>
__device__ __forceinline__ void multiply_tile(const Gemm& g, const ProductOperands& x, Place at,
                                              bool there) {
  const int last = static_cast<int>(g.m) - 1;
  float sum[C::rows][kFour] = {};
  WARPLADDER_UNROLL_BY(2)
  for (int k = kFour * at.part; k < static_cast<int>(g.k); k += C::depth) {
    float a[C::rows][kFour], b[kFour][kFour];
    load_columns<kBRows, kVectors>(b, g, x.b, at.column, k);
    WARPLADDER_UNROLL
    for (int r = 0; r < C::rows; ++r) {
      const int row = at.row + r < last ? at.row + r : last;
      load_row<kARows, kVectors>(a[r], g, x.a, row, k);
    }
    WARPLADDER_UNROLL
    for (int i = 0; i < kFour; ++i) {
      WARPLADDER_UNROLL
      for (int r = 0; r < C::rows; ++r) {
        WARPLADDER_UNROLL
        for (int j = 0; j < kFour; ++j) sum[r][j] += a[r][i] * b[i][j];
      }
    }
  }
  join_lanes<C>(sum);
  WARPLADDER_UNROLL
  for (int r = 0; r < C::rows; ++r) {
    if (!there || at.part != r % C::lanes || at.row + r > last) continue;
    parts::store4<kVectors ? 4 : 1>(x.c + (at.row + r) * g.ldc + at.column, g.n - at.column,
                                    g.alpha, sum[r], g.beta);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
