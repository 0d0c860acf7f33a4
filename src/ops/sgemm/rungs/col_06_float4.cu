// Bound before: shared-memory requests of one word a lane, 5 for 4 multiply-adds of a thread.
// Idea: ask for four words at a time. Global memory is read and C written as float4, and a thread's
// four a's, which lie side by side, are one request. Two neighbouring lanes take the same rows of
// two columns. So a quarter-warp, by which 16 bytes a lane are served, reads 64 bytes of A instead
// of 128.
//
// Prediction, per warp and step of k:
//   A: 1 request of 2 wavefronts, since neighbouring lanes share; B: 1 of 1
//   so 3 wavefronts in 2 requests, where col_05 has 5 in 5.
// Per warp and tile of 32 steps: 1 load of A and 1 of B, 16 sectors each; A's store: 1 request of 4
//   wavefronts; B's, word by word, since its columns become the tile's rows: 4 of 1. C is stored in
//   1 request of 16 sectors, all of each used.
// Accepts: every problem; float4 where addresses, leading dimensions and lines are multiples of 4
// elements. What binds it: 4 multiply-adds for 5 words; each of A's is used for one column only.

#include "ops/sgemm/rung.hpp"
#include "parts/outer_product.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 32, block_n = 32, block_k = 32, thread_m = 4;
  constexpr int across() const { return block_m / thread_m; }
  constexpr int threads() const { return across() * block_n; }
};
constexpr bool valid(Config c) {
  return c.thread_m == 4 && c.across() == 8 && c.threads() <= 1024 &&
         c.block_m * c.block_k % (4 * c.threads()) == 0 &&
         c.block_k * c.block_n % (4 * c.threads()) == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  // A word of padding lets B's columns, stored word by word, miss each other. Where B lies by rows,
  // the tile's rows are stored as float4 and stay multiples of 16 bytes.
  constexpr int kPadding = kBRows ? 0 : 1;
  __shared__ __align__(16) float a_tile[kConfig.block_k][kConfig.block_m];
  __shared__ __align__(16) float b_tile[kConfig.block_k][kConfig.block_n + kPadding];
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int pair = threadIdx.x / 2;  // of neighbouring lanes
  const int x = pair % kConfig.across() * kConfig.thread_m;
  const int y = pair / kConfig.across() * 2 + threadIdx.x % 2;

  parts::TileFetch<kConfig.block_m, kConfig.block_k, kConfig.threads(), kARows, kVector> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<kConfig.block_n, kConfig.block_k, kConfig.threads(), !kBRows, kVector> b_fetch(
      g.b, g.ldb, g.n, column0);
  float sum[kConfig.thread_m] = {};
  const auto step = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
    a_fetch.store(a_tile);
    b_fetch.store(b_tile);
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.block_k; ++k) {
      const float b = b_tile[k][y];
      float a[kConfig.thread_m];
      parts::load4(a, &a_tile[k][x]);
      WARPLADDER_UNROLL
      for (int i = 0; i < kConfig.thread_m; ++i) sum[i] += a[i] * b;
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  };
  if (g.k > 0) step(a_fetch.first_depth(g.k));  // the ragged one; the others' depth is a constant
  for (auto left = static_cast<unsigned>(tiles(g.k, kConfig.block_k)); left > 1; --left) {
    step(kConfig.block_k);
  }
  const std::int64_t row = row0 + x, column = column0 + y;
  if (column >= g.n) return;
  parts::store4<kVector>(&g.c[row + column * g.ldc], g.m - row, g.alpha, sum, g.beta);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_layouts(g, !trans_a, !trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows, kVector>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 4 / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = 2 * k_tiles;
  t.global_load_sectors = 2 * 16 * k_tiles;
  t.shared_store_requests = (1 + 4) * k_tiles;
  t.shared_store_wavefronts = (4 + 4) * k_tiles;
  t.shared_load_requests = (1 + 1) * warps * p.k;
  t.shared_load_wavefronts = (2 + 1) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = warps;
  t.global_store_sectors = 16 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_06_float4) = {.idea = "float4 from global memory, of A's tile, and into C",
                                  .accepts = "every problem; float4 where alignment allows",
                                  .launch = launch_in<Layout::column_major, launch>,
                                  .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
