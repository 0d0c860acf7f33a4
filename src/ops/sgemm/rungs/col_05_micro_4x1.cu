// Bound before: two shared-memory requests for every 32 multiply-adds.
// Idea: a thread computes 4×1 elements of C. One b, once in a register, serves four multiply-adds:
// 5 loads for 4 instead of 8. The tile stays 32×32, so 256 threads do what 1024 did, and each
// fetches four elements of either tile.
//
// Prediction, per warp and step of k (a warp's threads form 8 rows of 4×1 in 4 columns):
//   4 loads of A, 1 wavefront each: words 4 apart on eight banks, each read by four lanes
//   1 load of B, 1 wavefront: four neighbouring words, for which B's tile is laid down as
//     tile[k][column]; a word of padding a row lets its stores, which run along k, miss each other
//   so 5 wavefronts for 4·32 multiply-adds, where col_04 needs 8
// Per warp and tile of 32 steps: 4 loads of A and 4 of B, 4 sectors each; 8 stores of 1 wavefront;
//   2 barriers. C is stored in 4 requests of 16 sectors, a quarter of each used at a time.
// Accepts: every problem. What binds it: shared-memory requests still, of one word a lane.

#include "ops/sgemm/rung.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 32, block_n = 32, block_k = 32, thread_m = 4;
  constexpr int across() const { return block_m / thread_m; }
  constexpr int threads() const { return across() * block_n; }
};
constexpr bool valid(Config c) {
  return c.block_m % c.thread_m == 0 && c.threads() % 32 == 0 && c.threads() <= 1024 &&
         c.block_m * c.block_k % c.threads() == 0 && c.block_k * c.block_n % c.threads() == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  // The padding is for stores that run along k: B's, or those of a transposed A.
  __shared__ float a_tile[kConfig.block_k][kConfig.block_m + 1];
  __shared__ float b_tile[kConfig.block_k][kConfig.block_n + 1];
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int x = threadIdx.x % kConfig.across() * kConfig.thread_m;
  const int y = threadIdx.x / kConfig.across();

  parts::TileFetch<kConfig.block_m, kConfig.block_k, kConfig.threads(), kARows, 1> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<kConfig.block_n, kConfig.block_k, kConfig.threads(), !kBRows, 1> b_fetch(
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
      WARPLADDER_UNROLL
      for (int i = 0; i < kConfig.thread_m; ++i) sum[i] += a_tile[k][x + i] * b;
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  };
  if (g.k > 0) step(a_fetch.first_depth(g.k));  // the ragged one; the others' depth is a constant
  for (auto left = static_cast<unsigned>(tiles(g.k, kConfig.block_k)); left > 1; --left) {
    step(kConfig.block_k);
  }
  const std::int64_t column = column0 + y;
  if (column >= g.n) return;
  WARPLADDER_UNROLL
  for (int i = 0; i < kConfig.thread_m; ++i) {
    const std::int64_t row = row0 + x + i;
    if (row < g.m) store_scaled(&g.c[row + column * g.ldc], g.alpha, sum[i], g.beta);
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_transposes(!trans_a, !trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 4 / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = (4 + 4) * k_tiles;
  t.global_load_sectors = 4 * t.global_load_requests;
  t.shared_store_requests = t.shared_store_wavefronts = (4 + 4) * k_tiles;
  t.shared_load_requests = t.shared_load_wavefronts = (4 + 1) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = 4 * warps;
  t.global_store_sectors = 4 * 16 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_05_micro_4x1) = {.idea = "4x1 elements a thread: 4 multiply-adds for 5 loads",
                                     .accepts = "every problem",
                                     .launch = launch_in<Layout::column_major, launch>,
                                     .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
