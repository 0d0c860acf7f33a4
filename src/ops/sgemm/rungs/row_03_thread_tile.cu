// Bound before: two shared-memory requests for every 32 multiply-adds.
// Idea: a thread computes 8×8 elements of C. A row of eight a's and a column of eight b's, once in
// registers, make 64 multiply-adds: 16 loads for 64 instead of 128. The block's tile grows to
// 128×128, so each element fetched from global memory is used 128 times instead of 16.
//
// Prediction, per warp and step of k (a warp's threads form two rows of sixteen):
//   8 loads of A, 2 wavefronts each: the two rows' words are 64 apart, on one bank
//   8 loads of B, 4 wavefronts each: sixteen words 8 apart share four banks
//   so 48 wavefronts for 64·32 multiply-adds, where row_02 needs 128
// Per warp and tile of 8 steps: 4 loads of A with 4 sectors (four rows of 8 words), 4 of B with 4;
//   4 stores to either tile, 1 wavefront each; 2 barriers.
// Accepts: every problem. What binds it: the bank conflicts, and loads of one word at a time.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

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
      WARPLADDER_UNROLL
      for (int i = 0; i < c.thread_m; ++i) {
        WARPLADDER_UNROLL
        for (int j = 0; j < c.thread_n; ++j) sum[i][j] += a_part[i] * b_part[j];
      }
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

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 64 / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = (4 + 4) * k_tiles;
  t.global_load_sectors = 4 * t.global_load_requests;
  t.shared_store_requests = t.shared_store_wavefronts = (4 + 4) * k_tiles;
  t.shared_load_requests = (8 + 8) * warps * p.k;
  t.shared_load_wavefronts = (8 * 2 + 8 * 4) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = 64 * warps;
  t.global_store_sectors = 64 * 32 * warps;  // neighbours of a warp are 8 words apart
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_03_thread_tile) = {
    .idea = "8x8 elements a thread: 64 multiply-adds for 16 loads",
    .accepts = "every problem",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
