// The kernel of sgemm/row_03_thread_tile, split over two files: the multiply-adds of a step are a
// function of outer_product.cu. docs/compile-flow.md shows what that costs with separate
// compilation, and that link-time optimisation takes the cost away. A test holds the kernel to the
// rung's.

#include "ops/sgemm/gemm_tile.hpp"

__device__ void add_outer_product(float (&sum)[8][8], const float (&a)[8], const float (&b)[8]);

namespace warpladder::sgemm {

struct Config {
  int block_m = 128, block_n = 128, block_k = 8, thread_m = 8, thread_n = 8;
  constexpr int threads() const { return block_m / thread_m * (block_n / thread_n); }
  constexpr int a_loads() const { return block_m * block_k / threads(); }
  constexpr int b_loads() const { return block_k * block_n / threads(); }
};
constexpr bool valid(Config c) {
  return c.block_m % c.thread_m == 0 && c.block_n % c.thread_n == 0 && c.threads() <= 1024 &&
         c.a_loads() * c.threads() == c.block_m * c.block_k &&
         c.b_loads() * c.threads() == c.block_k * c.block_n;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  constexpr Config c = kConfig;
  __shared__ float a_tile[c.block_m][c.block_k];
  __shared__ float b_tile[c.block_k][c.block_n];
  const auto [row0, column0] = tile_of_block<c.block_m, c.block_n>(g);
  const int t = threadIdx.x;
  const int x = t % (c.block_n / c.thread_n) * c.thread_n,
            y = t / (c.block_n / c.thread_n) * c.thread_m;

  Operand<kARows> a{g.a, g.lda};
  Operand<kBRows> b{g.b, g.ldb};
  float sum[c.thread_m][c.thread_n] = {};
  for (std::int64_t left = g.k; left > 0; left -= c.block_k) {
    for (int l = 0; l < c.a_loads(); ++l) {
      const int i = (l * c.threads() + t) / c.block_k, k = (l * c.threads() + t) % c.block_k;
      a_tile[i][k] = row0 + i < g.m && k < left ? a(row0 + i, k) : 0.0f;
    }
    for (int l = 0; l < c.b_loads(); ++l) {
      const int k = (l * c.threads() + t) / c.block_n, j = (l * c.threads() + t) % c.block_n;
      b_tile[k][j] = k < left && column0 + j < g.n ? b(k, column0 + j) : 0.0f;
    }
    a.data += c.block_k * a.across();
    b.data += c.block_k * b.down();
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < c.block_k; ++k) {
      float a_part[c.thread_m], b_part[c.thread_n];
      WARPLADDER_UNROLL
      for (int i = 0; i < c.thread_m; ++i) a_part[i] = a_tile[y + i][k];
      WARPLADDER_UNROLL
      for (int j = 0; j < c.thread_n; ++j) b_part[j] = b_tile[k][x + j];
      add_outer_product(sum, a_part, b_part);
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < c.thread_m; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < c.thread_n; ++j) {
      const std::int64_t row = row0 + y + i, column = column0 + x + j;
      if (row < g.m && column < g.n)
        store_scaled(&g.c[row * g.ldc + column], g.alpha, sum[i][j], g.beta);
    }
  }
}

// Row-major products without transposes.
template __global__ void multiply<true, true>(Gemm g);

}  // namespace warpladder::sgemm
