// Bound before: B's fragment reads take 8 wavefronts where 4 would do. A warp whose lanes form two
// rows of sixteen reads 2·8 words of A and 16·8 of B for each step. Idea: lay a warp's lanes out as
// 4×8 over a tile of 32×64, numbered along a Z-curve. Split a thread's 8×8 into four 4×4, 16 rows
// and 32 columns apart. Lanes that are neighbours along C's rows then read neighbouring float4 of
// B, and store neighbouring float4 of C.
//
// Prediction: row_05's requests; B's fragment reads fall from 8 to 2 wavefronts, as A's have it:
// lanes 2 apart share b's, neighbours share a's. A step of k costs a warp 8 instead of 20. A store
// of C touches 16 sectors, all of each used, instead of 32. Accepts: every problem; float4 where
// addresses, leading dimensions and lines are multiples of 4 elements. What binds it: the
// multiply-adds themselves; how many issue depends on the registers' banks.

#include "ops/sgemm/rung.hpp"
#include "parts/double_buffer.hpp"
#include "parts/outer_product.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 128, block_n = 128, block_k = 8, warp_m = 32, warp_n = 64, thread_m = 8,
      thread_n = 8;
  constexpr int warps_n() const { return block_n / warp_n; }
  constexpr int threads() const { return 32 * (block_m / warp_m) * warps_n(); }
};
constexpr bool valid(Config c) {
  return c.block_m % c.warp_m == 0 && c.block_n % c.warp_n == 0 && c.threads() <= 1024 &&
         c.warp_m == 4 * c.thread_m && c.warp_n == 8 * c.thread_n && c.thread_m == 8 &&
         c.thread_n == 8 && c.block_k % 2 == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

// Where a thread's first 4×4 lies in the block's tile. On a Z-curve over the 4×8 lanes, the bits of
// the lane's number belong in turn to its column and its row.
struct Place {
  int row, column;
};
__device__ __forceinline__ Place place_of(int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int lane_column = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
  const int lane_row = (lane >> 1 & 1) | (lane >> 2 & 2);
  return {warp / kConfig.warps_n() * kConfig.warp_m + lane_row * 4,
          warp % kConfig.warps_n() * kConfig.warp_n + lane_column * 4};
}

template <bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  __shared__ __align__(16) float a_tile[2][kConfig.block_k][kConfig.block_m];  // transposed
  __shared__ __align__(16) float b_tile[2][kConfig.block_k][kConfig.block_n];
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const Place at = place_of(threadIdx.x);

  parts::TileFetch<kConfig.block_m, kConfig.block_k, kConfig.threads(), kARows, kVector> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<kConfig.block_n, kConfig.block_k, kConfig.threads(), !kBRows, kVector> b_fetch(
      g.b, g.ldb, g.n, column0);
  float a_part[2][kConfig.thread_m], b_part[2][kConfig.thread_n];
  float sum[kConfig.thread_m][kConfig.thread_n] = {};
  const auto load_parts = [&](int tile, int k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kConfig.thread_m; i += 4) {
      parts::load4(&a_part[k % 2][i], &a_tile[tile][k][at.row + i / 4 * (kConfig.warp_m / 2)]);
    }
    WARPLADDER_UNROLL
    for (int j = 0; j < kConfig.thread_n; j += 4) {
      parts::load4(&b_part[k % 2][j], &b_tile[tile][k][at.column + j / 4 * (kConfig.warp_n / 2)]);
    }
  };

  const auto fetch = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
  };
  const auto store = [&](int tile) {
    a_fetch.store(a_tile[tile]);
    b_fetch.store(b_tile[tile]);
  };
  const auto multiply_parts = [&](int k) {
    parts::add_outer_product(sum, a_part[k % 2], b_part[k % 2]);
  };
  fetch(a_fetch.first_depth(g.k));
  parts::double_buffered<kConfig.block_k>(
      static_cast<unsigned>(tiles(g.k, kConfig.block_k)), [&] { fetch(kConfig.block_k); }, store,
      load_parts, multiply_parts);
  WARPLADDER_UNROLL
  for (int i = 0; i < kConfig.thread_m; ++i) {
    const std::int64_t row = row0 + at.row + i % 4 + i / 4 * (kConfig.warp_m / 2);
    if (row >= g.m) break;
    WARPLADDER_UNROLL
    for (int j = 0; j < kConfig.thread_n; j += 4) {
      const std::int64_t column = column0 + at.column + j / 4 * (kConfig.warp_n / 2);
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
  t.shared_load_wavefronts = (2 * 2 + 2 * 2) * warps * p.k;
  t.barriers = k_tiles;
  t.global_store_requests = 16 * warps;
  t.global_store_sectors = 16 * 16 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_06_warp_tile) = {
    .idea = "lanes 4x8 on a Z-curve, 8x8 as four 4x4: no bank conflicts",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
