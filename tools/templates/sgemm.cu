// Bound before: <the resource that bound the rung before, with its number>.
// Idea: {{idea}}.
//
// Prediction, per warp: <requests, sectors, wavefronts, multiply-adds; predict() says it in code>.
// Accepts: every problem. What binds it: <the next rung's first line>.
//
// This is the naive product, which is right; make it faster.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 8, block_n = 32;
  constexpr int threads() const { return block_m * block_n; }
};
constexpr bool valid(Config c) { return c.threads() % 32 == 0 && c.threads() <= 1024; }
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  const auto tiles_n = static_cast<unsigned>(tiles(g.n, kConfig.block_n));
  const std::int64_t row = std::int64_t{blockIdx.x / tiles_n} * kConfig.block_m + threadIdx.y;
  const std::int64_t column = std::int64_t{blockIdx.x % tiles_n} * kConfig.block_n + threadIdx.x;
  if (row >= g.m || column >= g.n) return;

  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  float sum = 0.0f;
  for (std::int64_t k = 0; k < g.k; ++k) sum += a(row, k) * b(k, column);
  store_scaled(&g.c[row * g.ldc + column], g.alpha, sum, g.beta);
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
  const std::uint64_t warps = p.m * p.n / 32, steps = warps * p.k;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (1 + 4) * steps;  // one word of A for all lanes, 32 neighbours of B
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG({{stem}}) = {.idea = "{{idea}}",
                             .accepts = "every problem",
                             .launch = launch_in<Layout::row_major, launch>,
                             .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
