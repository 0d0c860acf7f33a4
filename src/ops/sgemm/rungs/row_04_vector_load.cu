// Bound before: 16 shared-memory requests a step of k, with 48 wavefronts, and loads of one word.
// Idea: ask for four words at a time. Global memory is read as float4, and A's tile is stored
// transposed. So a thread's eight a's lie side by side, as its eight b's do, and each fragment is
// two float4 requests.
//
// Prediction, per warp and step of k:
// - A: 2 requests of 2 wavefronts. Neighbouring lanes share a row's words, a broadcast.
// - B: 2 requests of 8 wavefronts. Eight lanes are 8 words apart, two on each bank.
// - Together 20 wavefronts, where row_03 has 48.
// Per warp and tile of 8 steps: 1 load of A and 1 of B, 16 sectors each (512 bytes). A's transposed
// stores are 4 requests of 2 wavefronts (a row's two halves lie 4·128 words apart). B's store is 1
// request of 4. C is stored as float4: 16 requests of 32 sectors, half of each used at a time.
// Accepts: every problem; float4 where addresses, leading dimensions and lines are multiples of 4
// elements. What binds it: every thread waits for the next tile before it computes on it.

#include "ops/sgemm/rung.hpp"
#include "parts/outer_product.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 128, block_n = 128, block_k = 8, thread_m = 8, thread_n = 8;
  constexpr int threads() const { return block_m / thread_m * (block_n / thread_n); }
};
constexpr bool valid(Config c) {
  return c.block_m % c.thread_m == 0 && c.block_n % c.thread_n == 0 && c.threads() <= 1024 &&
         c.thread_m % 4 == 0 && c.thread_n % 4 == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  constexpr Config c = kConfig;
  __shared__ __align__(16) float a_tile[c.block_k][c.block_m];  // transposed
  __shared__ __align__(16) float b_tile[c.block_k][c.block_n];
  const auto [row0, column0] = tile_of_block<c.block_m, c.block_n>(g);
  const int across = c.block_n / c.thread_n;
  const int x = threadIdx.x % across * c.thread_n, y = threadIdx.x / across * c.thread_m;

  parts::TileFetch<c.block_m, c.block_k, c.threads(), kARows, kVector> a_fetch(g.a, g.lda, g.m,
                                                                               row0);
  parts::TileFetch<c.block_n, c.block_k, c.threads(), !kBRows, kVector> b_fetch(g.b, g.ldb, g.n,
                                                                                column0);
  float sum[c.thread_m][c.thread_n] = {};
  int depth = a_fetch.first_depth(g.k);
  for (auto left = static_cast<unsigned>(tiles(g.k, c.block_k)); left > 0; --left) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
    depth = c.block_k;
    a_fetch.store(a_tile);
    b_fetch.store(b_tile);
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k < c.block_k; ++k) {
      float a_part[c.thread_m], b_part[c.thread_n];
      WARPLADDER_UNROLL
      for (int i = 0; i < c.thread_m; i += 4) parts::load4(&a_part[i], &a_tile[k][y + i]);
      WARPLADDER_UNROLL
      for (int j = 0; j < c.thread_n; j += 4) parts::load4(&b_part[j], &b_tile[k][x + j]);
      parts::add_outer_product(sum, a_part, b_part);
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < c.thread_m; ++i) {
    const std::int64_t row = row0 + y + i;
    if (row >= g.m) break;
    WARPLADDER_UNROLL
    for (int j = 0; j < c.thread_n; j += 4) {
      const std::int64_t column = column0 + x + j;
      parts::store4<kVector>(&g.c[row * g.ldc + column], g.n - column, g.alpha, &sum[i][j], g.beta);
    }
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_layouts(g, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows, kVector>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 64 / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = 2 * k_tiles;
  t.global_load_sectors = 2 * 16 * k_tiles;
  t.shared_store_requests = (4 + 1) * k_tiles;
  t.shared_store_wavefronts = (4 * 2 + 4) * k_tiles;
  t.shared_load_requests = (2 + 2) * warps * p.k;
  t.shared_load_wavefronts = (2 * 2 + 2 * 8) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = 16 * warps;
  t.global_store_sectors = 16 * 32 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_04_vector_load) = {
    .idea = "float4 from global and shared memory, A's tile transposed",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
