// The foot of the column-major ladder; before it, one core and one sum at a time.
// Idea: one thread per element of C, in blocks of 32×32. A column-major column lies in one piece,
// so a warp takes 32 rows of one column. Its lanes read neighbouring words of A, and store
// neighbouring words of C.
//
// Prediction, per warp and step of k:
//   A: 1 request, 4 sectors: 32 neighbouring words
//   B: 1 request, 1 sector: the same word for all lanes
// That is 5 sectors for 32 multiply-adds, and each operand comes from global memory (its caches, at
// best) n or m times.
// Accepts: every problem. What binds it: the load units, two requests for 32 multiply-adds.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 32, block_n = 32;
  constexpr int threads() const { return block_m * block_n; }
};
constexpr bool valid(Config c) { return c.block_m % 32 == 0 && c.threads() <= 1024; }
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const std::int64_t row = row0 + threadIdx.x, column = column0 + threadIdx.y;
  if (row >= g.m || column >= g.n) return;

  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  float sum = 0.0f;
  for (std::int64_t k = 0; k < g.k; ++k) {
    sum += a(row, k) * b(k, column);
  }
  store_scaled(&g.c[row + column * g.ldc], g.alpha, sum, g.beta);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)),
      dim3(kConfig.block_m, kConfig.block_n)};
  for_transposes(!trans_a, !trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 32, steps = warps * p.k;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (4 + 1) * steps;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_01_naive) = {.idea = "one thread per element of C, a warp down a column of 32",
                                 .accepts = "every problem",
                                 .launch = launch_in<Layout::column_major, launch>,
                                 .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
