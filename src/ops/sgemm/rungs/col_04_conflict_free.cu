// Bound before: the bank conflicts. Down the rows of a tile[row][column] neighbours are 32 words
// apart, on one bank, and a warp's 32 words come one after the other.
// Idea: lay the tiles down as the matrices are, by columns. A warp's lanes, which lie down the
// rows, then store and load neighbouring words.
//
// Prediction: col_03's requests, sectors and barriers. Each shared store and load of 32 wavefronts
// now takes 1, so that a step of k costs a warp 2 wavefronts instead of 33.
// Accepts: every problem; ragged tiles are filled with zeros. What binds it: the shared-memory
// loads, two requests for 32 multiply-adds.

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
  __shared__ float a_tile[kConfig.block_k][kConfig.block_m];  // both by columns: [column][row]
  __shared__ float b_tile[kConfig.block_n][kConfig.block_k];
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int x = threadIdx.x % kConfig.block_m, y = threadIdx.x / kConfig.block_m;
  const std::int64_t row = row0 + x, column = column0 + y;

  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  float sum = 0.0f;
  for (std::int64_t k0 = 0; k0 < g.k; k0 += kConfig.block_k) {
    a_tile[y][x] = row < g.m && k0 + y < g.k ? a(row, k0 + y) : 0.0f;
    b_tile[y][x] = k0 + x < g.k && column < g.n ? b(k0 + x, column) : 0.0f;
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.block_k; ++k) {
      sum += a_tile[k][x] * b_tile[y][k];
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
  t.shared_store_requests = t.shared_store_wavefronts = 2 * k_tiles;
  t.shared_load_requests = t.shared_load_wavefronts = 2 * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_04_conflict_free) = {.idea = "tiles laid down by columns: no bank conflicts",
                                         .accepts = "every problem",
                                         .launch = launch_in<Layout::column_major, launch>,
                                         .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
