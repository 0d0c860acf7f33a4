// Bound before: a block waits for its next tile before it computes on it, and a thread for its next
// fragment before it multiplies.
// Idea: two of everything. While the block computes on one tile, the next is on its way from global
// memory into registers. While a thread multiplies one fragment, it reads the next. The last step
// of a tile is peeled off the loop. So the next tile's stores and its first fragment's loads
// overlap that step's multiply-adds. Writing into the other tile, a block needs one barrier a tile.
//
// Prediction: row_04's requests, sectors and wavefronts to the letter; half its barriers (one for
// each tile, the first included).
// Accepts: every problem; float4 where addresses, leading dimensions and lines are multiples of 4
// elements. What binds it: B's fragments, whose reads still take 8 wavefronts where 4 would do.

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
         c.thread_m % 4 == 0 && c.thread_n % 4 == 0 && c.block_k % 2 == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

template <bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  __shared__ __align__(16) float a_tile[2][kConfig.block_k][kConfig.block_m];  // transposed
  __shared__ __align__(16) float b_tile[2][kConfig.block_k][kConfig.block_n];
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int across = kConfig.block_n / kConfig.thread_n;
  const int x = threadIdx.x % across * kConfig.thread_n,
            y = threadIdx.x / across * kConfig.thread_m;

  parts::TileFetch<kConfig.block_m, kConfig.block_k, kConfig.threads(), kARows, kVector> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<kConfig.block_n, kConfig.block_k, kConfig.threads(), !kBRows, kVector> b_fetch(
      g.b, g.ldb, g.n, column0);
  float a_part[2][kConfig.thread_m], b_part[2][kConfig.thread_n];
  float sum[kConfig.thread_m][kConfig.thread_n] = {};
  const auto load_parts = [&](int tile, int k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kConfig.thread_m; i += 4) {
      parts::load4(&a_part[k % 2][i], &a_tile[tile][k][y + i]);
    }
    WARPLADDER_UNROLL
    for (int j = 0; j < kConfig.thread_n; j += 4) {
      parts::load4(&b_part[k % 2][j], &b_tile[tile][k][x + j]);
    }
  };

  const int first = a_fetch.first_depth(g.k);
  a_fetch.fetch(first);
  b_fetch.fetch(first);
  a_fetch.store(a_tile[0]);
  b_fetch.store(b_tile[0]);
  __syncthreads();  // the first tiles are whole
  load_parts(0, 0);
  // Computes on one pair of tiles while the next, if there is one, is on its way. That the compiler
  // knows which it is saves the arithmetic on their addresses.
  const auto step = [&](auto tile_number, auto more) {
    constexpr int tile = tile_number;
    if (more) {
      a_fetch.fetch(kConfig.block_k);
      b_fetch.fetch(kConfig.block_k);
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k + 1 < kConfig.block_k; ++k) {
      load_parts(tile, k + 1);
      parts::add_outer_product(sum, a_part[k % 2], b_part[k % 2]);
    }
    if (more) {
      // The other tiles were last read before the barrier of the step before.
      a_fetch.store(a_tile[tile ^ 1]);
      b_fetch.store(b_tile[tile ^ 1]);
      __syncthreads();  // they are whole, and nobody reads this step's tiles any more
      load_parts(tile ^ 1, 0);
    }
    parts::add_outer_product(sum, a_part[1], b_part[1]);
  };
  constexpr std::integral_constant<int, 0> even{};
  constexpr std::integral_constant<int, 1> odd{};
  auto left = static_cast<unsigned>(tiles(g.k, kConfig.block_k));
  for (; left > 2; left -= 2) {
    step(even, std::true_type{});
    step(odd, std::true_type{});
  }
  if (left == 2) {
    step(even, std::true_type{});
    step(odd, std::false_type{});
  } else {
    step(even, std::false_type{});  // if k is 0, on tiles of zeros
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kConfig.thread_m; ++i) {
    const std::int64_t row = row0 + y + i;
    if (row >= g.m) break;
    WARPLADDER_UNROLL
    for (int j = 0; j < kConfig.thread_n; j += 4) {
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
  t.barriers = k_tiles;
  t.global_store_requests = 16 * warps;
  t.global_store_sectors = 16 * 32 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_05_double_buffer) = {
    .idea = "two tiles and two fragments: the next is fetched while one is used",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
