#pragma once
// The epilogue: a warpgroup's sums become elements of C, C = alpha·factors·sums + beta·C, straight
// from registers. epilogue_rows.hpp stages rows in shared memory; cluster_exchange.hpp first adds
// the sums of a cluster's blocks.

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tensor/workspace.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A NaN factor marks a line that Tf32Pairs cannot represent.
__device__ __forceinline__ bool is_representable(float factor) { return factor == factor; }

// Load column factors together, before the stores: otherwise possible aliasing serialises each load
// behind a store.
template <int count>
constexpr int kLoadedGroups = count / 4 < 8 ? count / 4 : 8;  // of eight columns
template <int count>
__device__ __forceinline__ void load_groups(const float* from, float2 (&to)[count]) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < count; ++i) to[i] = *reinterpret_cast<const float2*>(from + 8 * i);
}

// The first element of a warpgroup's tile at `corner` that belongs to this thread; ptx/wgmma.hpp
// shows how sums are distributed.
__device__ __forceinline__ TileOrigin thread_origin(TileOrigin corner) {
  const int thread = threadIdx.x % 128;
  return {corner.row + thread / 32 * 16 + thread % 32 / 4, corner.column + thread % 4 * 2};
}

// A thread's factors for a 64×N tile, N = 2·count: both rows, and the first groups of columns.
// Construct it before waiting for sums, to hide the latency of the loads.
template <int count>
struct TileFactors {
  float of_row[2];
  bool row_in_c[2], columns_in_c;
  float2 of_column[kLoadedGroups<count>];

  __device__ __forceinline__ TileFactors(const Gemm& g, const SplitGemm& s, TileOrigin corner)
      : columns_in_c(corner.column + 2 * count <= g.n) {
    const TileOrigin own = thread_origin(corner);
    WARPLADDER_UNROLL_ON_GPU
    for (int half = 0; half < 2; ++half) {
      row_in_c[half] = own.row + 8 * half < g.m;
      of_row[half] = row_in_c[half] ? s.a.factor[own.row + 8 * half] : 0.0f;
    }
    load(g, s, own.column);
  }
  // Two elements of C from four sums: in row `half`, in column group `i` of the loaded ones.
  __device__ __forceinline__ float2 result(const Gemm& g, const float* four, int half,
                                           int i) const {
    return make_float2(g.alpha * (four[2 * half] * of_row[half] * of_column[i].x),
                       g.alpha * (four[2 * half + 1] * of_row[half] * of_column[i].y));
  }
  // Loads the factors of the columns behind the first `groups` groups.
  __device__ __forceinline__ void advance(const Gemm& g, const SplitGemm& s, TileOrigin own,
                                          int groups) {
    if (groups > 0) load(g, s, own.column + 8 * groups);
  }

 private:
  __device__ __forceinline__ void load(const Gemm& g, const SplitGemm& s, std::int64_t column) {
    const float* const from = s.b.factor + column;
    if (columns_in_c) {
      load_groups(from, of_column);
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kLoadedGroups<count>; ++i) {
        const std::int64_t left = g.n - column - 8 * i;
        of_column[i] =
            make_float2(left > 0 ? from[8 * i] : 0.0f, left > 1 ? from[8 * i + 1] : 0.0f);
      }
    }
  }
};

// Whether a tile of `columns` columns can be stored without predicates on columns: all lie in C,
// rows begin at 32-byte sectors, and beta = 0.
__device__ __forceinline__ bool is_full_and_aligned(const Gemm& g, TileOrigin corner, int columns) {
  return corner.column + columns <= g.n && g.beta == 0.0f &&
         reinterpret_cast<std::uintptr_t>(g.c) % 32 == 0 && g.ldc % 8 == 0;
}

// Stores a tile that is_full_and_aligned().
template <int count>
__device__ __forceinline__ void store_full(const Gemm& g, const SplitGemm& s,
                                           TileFactors<count>& factors, const float (&sums)[count],
                                           TileOrigin own) {
  constexpr int kGroups = kLoadedGroups<count>;
  WARPLADDER_UNROLL_ON_GPU
  for (int first = 0; first < count / 4; first += kGroups) {
    factors.advance(g, s, own, first);
    WARPLADDER_UNROLL_ON_GPU
    for (int half = 0; half < 2; ++half) {
      if (!factors.row_in_c[half]) continue;
      float* const to = g.c + (own.row + 8 * half) * g.ldc + own.column + 8 * first;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kGroups; ++i) {
        // Evict C first: the L2 cache should keep the pairs, which are read again.
        __stcs(reinterpret_cast<float2*>(to + 8 * i),
               factors.result(g, &sums[4 * (first + i)], half, i));
      }
    }
  }
}

// How rows and columns of sums lie in memory: as C's, or as those of its transpose. The source's
// steps are those of the matrix that beta multiplies.
struct SumsLayout {
  std::int64_t rows, columns, row_step, column_step, source_row_step, source_column_step;
  const float *row_factor, *column_factor;
};
__device__ __forceinline__ SumsLayout as_c(const Gemm& g, const SplitGemm& s) {
  return {g.m, g.n, g.ldc, 1, g.ld_source, 1, s.a.factor, s.b.factor};
}
__device__ __forceinline__ SumsLayout as_transpose(const Gemm& g, const SplitGemm& s) {
  return {g.n, g.m, 1, g.ldc, 1, g.ld_source, s.b.factor, s.a.factor};
}

// Stores any tile element by element: those that lie in C and in representable lines.
template <int count>
__device__ __forceinline__ void store_predicated(const Gemm& g, const SumsLayout& layout,
                                                 const float (&sums)[count], TileOrigin own) {
  WARPLADDER_UNROLL_ON_GPU
  for (int half = 0; half < 2; ++half) {
    const std::int64_t row = own.row + 8 * half;
    if (row >= layout.rows) return;
    const float row_factor = layout.row_factor[row];
    float* const to = g.c + row * layout.row_step + own.column * layout.column_step;
    const float* const source =
        g.source + row * layout.source_row_step + own.column * layout.source_column_step;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < 2 * count; ++j) {
      if (j % 8 > 1 || own.column + j >= layout.columns) continue;
      const float of_column = layout.column_factor[own.column + j];
      if (!is_representable(row_factor) || !is_representable(of_column)) continue;
      store_scaled(to + j * layout.column_step, source + j * layout.source_column_step, g.alpha,
                   sums[j / 8 * 4 + j % 8 + 2 * half] * row_factor * of_column, g.beta);
    }
  }
}

// Computes those elements of a rectangle of C whose row or column is not representable, in FP32
// arithmetic from A and B. Thread `first` of `threads` takes elements first, first + threads, …
__device__ __forceinline__ void multiply_unsplit(const Gemm& g, const SplitGemm& s,
                                                 std::int64_t row0, int rows, std::int64_t column0,
                                                 int columns, int first, int threads) {
  const std::int64_t a_line = s.a.contiguous ? s.a.ld : 1, a_next = s.a.contiguous ? 1 : s.a.ld,
                     b_line = s.b.contiguous ? s.b.ld : 1, b_next = s.b.contiguous ? 1 : s.b.ld;
  for (int at = first; at < rows * columns; at += threads) {
    const std::int64_t i = row0 + at / columns, j = column0 + at % columns;
    if (i >= g.m || j >= g.n ||
        (is_representable(s.a.factor[i]) && is_representable(s.b.factor[j]))) {
      continue;
    }
    float sum = 0.0f;
    for (std::int64_t k = 0; k < g.k; ++k) {
      sum += s.a.data[i * a_line + k * a_next] * s.b.data[j * b_line + k * b_next];
    }
    store_scaled(g.c + i * g.ldc + j, g.source + i * g.ld_source + j, g.alpha, sum, g.beta);
  }
}

// Whether all lines of a tile are representable. Called by whole warps.
template <class Pairs>
__device__ __forceinline__ bool all_representable(const Gemm& g, const SplitGemm& s,
                                                  TileOrigin corner, int rows, int columns) {
  if constexpr (!Pairs::kNeedsLeast) return true;
  bool all = true;
  for (int i = threadIdx.x % 32; i < rows; i += 32) {
    all &= corner.row + i >= g.m || is_representable(s.a.factor[corner.row + i]);
  }
  for (int j = threadIdx.x % 32; j < columns; j += 32) {
    all &= corner.column + j >= g.n || is_representable(s.b.factor[corner.column + j]);
  }
  return __all_sync(0xffffffffu, all);
}

// Stores a warpgroup's 64×N tile, N = 2·count, whose first element in C is `corner`. Called by the
// warpgroup's 128 threads.
template <class Pairs, int count>
__device__ __forceinline__ void store_sums(const Gemm& g, const SplitGemm& s,
                                           const float (&sums)[count], TileOrigin corner) {
  TileFactors<count> factors(g, s, corner);
  const TileOrigin own = thread_origin(corner);
  const bool representable = all_representable<Pairs>(g, s, corner, 64, 2 * count);
  if (representable && is_full_and_aligned(g, corner, 2 * count)) {
    store_full(g, s, factors, sums, own);
  } else {
    store_predicated(g, as_c(g, s), sums, own);
  }
  if (!representable) {
    multiply_unsplit(g, s, corner.row, 64, corner.column, 2 * count, threadIdx.x % 128, 128);
  }
}

// The same of tiles below each other.
template <class Pairs, int tiles, int count>
__device__ __forceinline__ void store_sums(const Gemm& g, const SplitGemm& s,
                                           const float (&sums)[tiles][count], TileOrigin corner) {
  WARPLADDER_UNROLL_ON_GPU
  for (int t = 0; t < tiles; ++t) {
    store_sums<Pairs>(g, s, sums[t], {corner.row + t * 64, corner.column});
  }
}

// The same of one tile, always element by element: less code.
template <class Pairs, int count>
__device__ __forceinline__ void store_by_element(const Gemm& g, const SplitGemm& s,
                                                 const float (&sums)[count], TileOrigin corner) {
  store_predicated(g, as_c(g, s), sums, thread_origin(corner));
  if constexpr (Pairs::kNeedsLeast) {
    multiply_unsplit(g, s, corner.row, 64, corner.column, 2 * count, threadIdx.x % 128, 128);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
