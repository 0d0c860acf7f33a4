// Bound before: the bank conflicts, 33 wavefronts for 32 multiply-adds. They stay for one rung
// more. Idea: a block of one dimension. A thread has one number to keep instead of two: its row and
// column are that number's low five bits and the rest. That saves a register where registers are
// short (here the compiler fills the 32 it may have, either way). It also says outright what a
// 32×32 block leaves to be remembered, that a warp's 32 threads differ in their row. And the rungs
// above need it: there a thread's place in the tile it fetches is not its place in C.
//
// Prediction: col_02's requests, sectors, wavefronts and barriers to the letter.
// Accepts: every problem; ragged tiles are filled with zeros. What binds it: the bank conflicts.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 32, block_n = 32, block_k = 32;
  constexpr int threads() const { return block_m * block_n; }
};
constexpr bool valid(Config c) {
  // Each thread fetches one element of either tile.
  return c.block_k == c.block_m && c.block_k == c.block_n && c.threads() <= 1024;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  __shared__ float a_tile[kConfig.block_m][kConfig.block_k];
  __shared__ float b_tile[kConfig.block_k][kConfig.block_n];
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int x = threadIdx.x % kConfig.block_m, y = threadIdx.x / kConfig.block_m;
  const std::int64_t row = row0 + x, column = column0 + y;

  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  float sum = 0.0f;
  for (std::int64_t k0 = 0; k0 < g.k; k0 += kConfig.block_k) {
    a_tile[x][y] = row < g.m && k0 + y < g.k ? a(row, k0 + y) : 0.0f;
    b_tile[x][y] = k0 + x < g.k && column < g.n ? b(k0 + x, column) : 0.0f;
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.block_k; ++k) {
      sum += a_tile[x][k] * b_tile[k][y];
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  }
  if (row < g.m && column < g.n) store_scaled(&g.c[row + column * g.ldc], g.alpha, sum, g.beta);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_transposes(!trans_a, !trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = 2 * k_tiles;
  t.global_load_sectors = (4 + 4) * k_tiles;
  t.shared_store_requests = 2 * k_tiles;
  t.shared_store_wavefronts = (32 + 32) * k_tiles;
  t.shared_load_requests = 2 * warps * p.k;
  t.shared_load_wavefronts = (32 + 1) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_03_flat_block) = {
    .idea = "a block of one dimension, row and column taken from threadIdx.x",
    .accepts = "every problem",
    .launch = launch_in<Layout::column_major, launch>,
    .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
