// Bound before: one core, one sum at a time.
// Idea: one thread per element of C. Thousands of sums run at once. A warp's 32 lanes ask for their
// operands together, so that the memory system can merge what they ask for.
//
// Prediction, per warp and step of k (a 16×16 block's warp is two rows of sixteen columns):
//   A: 1 request, 2 sectors: one word for each of the two rows, `lda` apart
//   B: 1 request, 2 sectors: the same sixteen neighbouring words for both rows
// That is 4 sectors for 32 multiply-adds: each operand comes from global memory (its caches, at
// best) n or m times.
// Accepts: every problem. What binds it: the load units, two requests for 32 multiply-adds.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 16, block_n = 16;
  constexpr int threads() const { return block_m * block_n; }
};
constexpr bool valid(Config c) { return c.threads() % 32 == 0 && c.threads() <= 1024; }
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kConfig.threads()) multiply(Gemm g) {
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const std::int64_t row = row0 + threadIdx.y, column = column0 + threadIdx.x;
  if (row >= g.m || column >= g.n) return;

  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  const float* a_at = &a(row, 0);
  const float* b_at = &b(0, column);
  float sum = 0.0f;
  // Eight steps at a time: sixteen loads are under way before the first product needs one.
  for (auto eights = static_cast<unsigned>(g.k / 8); eights > 0; --eights) {
    WARPLADDER_UNROLL_LOADS
    for (int k = 0; k < 8; ++k) {
      sum += a_at[k * a.across()] * b_at[k * b.down()];
    }
    a_at += 8 * a.across();
    b_at += 8 * b.down();
  }
  for (int k = 0; k < g.k % 8; ++k) {
    sum += a_at[k * a.across()] * b_at[k * b.down()];
  }
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
  t.global_load_sectors = (2 + 2) * steps;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;  // two rows of sixteen words
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_01_naive) = {.idea = "one thread per element of C, operands from global memory",
                                 .accepts = "every problem",
                                 .launch = launch_in<Layout::row_major, launch>,
                                 .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
