// Bound before: two global requests for every 32 multiply-adds; each element of A is fetched n
// times. Idea: a block's 256 threads need the same 16 rows of A and 16 columns of B. They fetch a
// 16×32 tile of A and a 32×16 tile of B into shared memory, once. Every element is then used 16
// times from there.
//
// Prediction, per warp and tile of k (32 steps):
//   global: 2 requests for A (a row of the tile each) and 2 for B (two rows) instead of 32 each, 4
//   sectors each: 1/8 of row_01's sectors
//   shared: 4 stores of 1 wavefront; per step 1 load of A (two words, broadcast) and 1 of B
//   (sixteen words, read twice), 1 wavefront each
//   2 barriers
// Accepts: every problem; ragged tiles are filled with zeros. What binds it: the shared-memory
// loads, two requests for 32 multiply-adds, just as before, only from nearer.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 16, block_n = 16, block_k = 32;
  constexpr int threads() const { return block_m * block_n; }
  constexpr int a_loads() const { return block_k / block_n; }
  constexpr int b_loads() const { return block_k / block_m; }
};
constexpr bool valid(Config c) {
  return c.block_k % c.block_m == 0 && c.block_k % c.block_n == 0 && c.threads() <= 1024;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  // Padded, so that a warp's two rows lie on different banks.
  __shared__ __align__(16) float a_tile[kConfig.block_m][kConfig.block_k + 4];
  __shared__ float b_tile[kConfig.block_k][kConfig.block_n];
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int x = threadIdx.x, y = threadIdx.y, t = y * kConfig.block_n + x;

  Operand<kARows> a{g.a, g.lda};
  Operand<kBRows> b{g.b, g.ldb};
  float sum = 0.0f;
  for (std::int64_t left = g.k; left > 0; left -= kConfig.block_k) {
    for (int l = 0; l < kConfig.a_loads(); ++l) {
      const int e = l * kConfig.threads() + t, i = e / kConfig.block_k, k = e % kConfig.block_k;
      a_tile[i][k] = row0 + i < g.m && k < left ? a(row0 + i, k) : 0.0f;
    }
    for (int l = 0; l < kConfig.b_loads(); ++l) {
      const int e = l * kConfig.threads() + t, k = e / kConfig.block_n, j = e % kConfig.block_n;
      b_tile[k][j] = k < left && column0 + j < g.n ? b(k, column0 + j) : 0.0f;
    }
    a.data += kConfig.block_k * a.across();
    b.data += kConfig.block_k * b.down();
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.block_k; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  }
  const std::int64_t row = row0 + y, column = column0 + x;
  if (row < g.m && column < g.n) store_scaled(&g.c[row * g.ldc + column], g.alpha, sum, g.beta);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)),
      dim3(kConfig.block_n, kConfig.block_m)};
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = (2 + 2) * k_tiles;
  t.global_load_sectors = 4 * t.global_load_requests;
  t.shared_store_requests = t.shared_store_wavefronts = (2 + 2) * k_tiles;
  t.shared_load_requests = t.shared_load_wavefronts = 2 * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_02_block_tile) = {
    .idea = "tiles of A and B in shared memory, each element used 16 times",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
