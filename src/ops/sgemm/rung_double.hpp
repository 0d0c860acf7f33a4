#pragma once
// Products on float64 tensor cores: of all of k, or of a slice of it, whose sums go to the
// workspace. Tiles are laid down in shared memory as float64, a tile ahead of what is multiplied.

#include "ops/sgemm/double_slices.hpp"
#include "ops/sgemm/product_slices.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/mma.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <class C>
struct DoubleTiles {
  static constexpr int kPad = 4;  // the four lines that a request reads begin 8 banks apart
  alignas(16) double a[2][C::depth][C::rows + kPad];
  alignas(16) double b[2][C::depth][C::columns + kPad];
};

// A lane holds two neighbouring rows of each 16 of its warp's, to multiply two columns of each 16.
// The sums that it gets are of four neighbouring columns.
__device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
__device__ __forceinline__ int member() { return threadIdx.x % 4; }
template <int kCount>
__device__ __forceinline__ void load_pairs(double (&part)[kCount], const double* from) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kCount; i += 2) {
    const double2 v = *reinterpret_cast<const double2*>(from + i * 8);
    part[i] = v.x;
    part[i + 1] = v.y;
  }
}

// A warp's sums, from C's element (row0, column0) on.
template <class C, int kVector>
__device__ __forceinline__ void store_sums(
    const Gemm& g, const double (&sum)[C::warp_rows / 16][C::warp_columns / 8][4],
    std::int64_t row0, std::int64_t column0) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::warp_rows / 8; ++i) {
    const std::int64_t row = row0 + i / 2 * 16 + 2 * group() + i % 2;
    if (row >= g.m) break;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::warp_columns / 8; j += 2) {
      const std::int64_t column = column0 + j * 8 + 4 * member();
      const double(&even)[4] = sum[i / 2][j], (&odd)[4] = sum[i / 2][j + 1];
      const int h = i % 2 * 2;
      const double four[4] = {even[h], odd[h], even[h + 1], odd[h + 1]};
      parts::store4<kVector>(&g.c[row * g.ldc + column], g.n - column, g.alpha, four, g.beta);
    }
  }
}

// Vectors are of four elements, where A and B allow it.
template <class C, bool kARows, bool kBRows, int kVector>
static __global__ void __launch_bounds__(C::threads) multiply_in_float64(PartlySliced product) {
  constexpr int kDepth = C::depth, kRows = C::warp_rows / 8, kColumns = C::warp_columns / 8;
  auto& shared = *runtime::dynamic_shared<DoubleTiles<C>>();
  const auto [g, row0, column0, vectors] = part_of_block<C, kARows, kBRows, kVector>(product);
  const int warp = threadIdx.x / 32, warp_row = warp / C::warps_across * C::warp_rows,
            warp_column = warp % C::warps_across * C::warp_columns;

  parts::TileFetch<C::rows, kDepth, C::threads, kARows, kVector> a_fetch(g.a, g.lda, g.m, row0);
  parts::TileFetch<C::columns, kDepth, C::threads, !kBRows, kVector> b_fetch(g.b, g.ldb, g.n,
                                                                             column0);
  double a_part[2][kRows], b_part[2][kColumns];
  double sum[kRows / 2][kColumns][4] = {};
  const auto load_parts = [&](int tile, int step) {
    const int k = step * C::step + member();
    load_pairs(a_part[step % 2], &shared.a[tile][k][warp_row + 2 * group()]);
    load_pairs(b_part[step % 2], &shared.b[tile][k][warp_column + 2 * group()]);
  };
  const auto multiply_parts = [&](int step) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kRows; i += 2) {
      WARPLADDER_UNROLL_ON_GPU
      for (int j = 0; j < kColumns; ++j) {
        ptx::multiply_f64(sum[i / 2][j], a_part[step % 2][i], a_part[step % 2][i + 1],
                          b_part[step % 2][j]);
      }
    }
  };
  const auto fetch = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
  };
  const auto store = [&](int tile) {
    a_fetch.store(shared.a[tile]);
    b_fetch.store(shared.b[tile]);
  };
  // A tile is laid down while the one before it is multiplied, and fetched a tile before that.
  unsigned left = g.k > kDepth ? static_cast<unsigned>(tiles(g.k, kDepth)) - 1 : 0;
  fetch(a_fetch.first_depth(g.k));
  store(0);
  if (left > 0) fetch(kDepth);
  __syncthreads();  // the first tile is whole
  load_parts(0, 0);
  const auto walk = [&](auto tile_number) {
    constexpr int tile = tile_number, kSteps = kDepth / C::step;
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) {
        load_parts(tile, step + 1);
      } else if (left > 0) {
        __syncthreads();  // the next tile is whole, and nobody reads this one any more
        load_parts(tile ^ 1, 0);
      }
      multiply_parts(step);
      if (step == 0 && left > 0) {
        store(tile ^ 1);
        if (left > 1) fetch(kDepth);
      }
    }
  };
  for (;; --left) {
    walk(std::integral_constant<int, 0>{});
    if (left == 0) break;
    --left;
    walk(std::integral_constant<int, 1>{});
    if (left == 0) break;
  }

  ptx::allow_next_kernel();  // the join
  vectors ? store_sums<C, 4>(g, sum, row0 + warp_row, column0 + warp_column)
          : store_sums<C, 1>(g, sum, row0 + warp_row, column0 + warp_column);
}

template <class C>
static void launch_double_slices(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                                 runtime::StreamView& stream) {
  launch_product_slices<double, C>(
      g, trans_a, trans_b, slices, stream,
      [&]<bool kARows, bool kBRows, int kVector>(dim3 grid, const PartlySliced& s) {
        runtime::launch(stream, {grid, dim3(C::threads), sizeof(DoubleTiles<C>)},
                        multiply_in_float64<C, kARows, kBRows, kVector>, s);
      });
}

// Of a product in tiles of C and one or more slices.
template <class C>
ladder::Totals predict_in_float64(const Problem& p, std::uint64_t slices) {
  const std::uint64_t warps = p.m * p.n / (C::warp_rows * C::warp_columns),
                      k_tiles = warps * (p.k / C::depth), steps = warps * (p.k / C::step),
                      of_a = C::rows * C::depth / C::threads / 4,  // float4 of a thread
      of_b = C::columns * C::depth / C::threads / 4;
  ladder::Totals t;
  t.global_load_requests = (of_a + of_b) * k_tiles;
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_store_requests = (4 * of_a + 2 * of_b) * k_tiles;
  t.shared_store_wavefronts = 8 * (of_a + of_b) * k_tiles;
  t.shared_load_requests = (C::warp_rows + C::warp_columns) / 16 * steps;
  t.shared_load_wavefronts = 4 * t.shared_load_requests;
  t.barriers = k_tiles;
  t.global_store_requests = C::warp_rows / 4 * warps * slices;
  t.global_store_sectors = 16 * t.global_store_requests;
  t.tensor_fmas = p.m * p.n * p.k;
  predict_join(t, p, slices);
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
