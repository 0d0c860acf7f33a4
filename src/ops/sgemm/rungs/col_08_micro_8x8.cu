// Bound before: the shared-memory loads, 4 wavefronts for multiply-adds that issue in 4 cycles.
// Idea: a thread computes 8×8 elements of C: 16 words for 64 multiply-adds. The tile grows to
// 128×128, in 8 steps of k, and each element fetched from global memory is used 128 times. The 8×8
// are four 4×4, 32 rows and 16 columns apart, so that a warp's float4 stay neighbours.
//
// Prediction, per warp and step of k (a warp's lanes form 8 rows and 4 columns of four 4×4):
//   A: 2 requests of 2 wavefronts, B: 2 of 2 (half-warps, since lanes share their float4)
//   so 8 wavefronts for 64·32 multiply-adds, where col_07 needs 16
// Per warp and tile of 8 steps: 1 load of A and 1 of B, 16 sectors each; A's store: 1 request of 4
//   wavefronts; B's, word by word: 4 of 1 (rows of the tile 4 apart lie on banks 16 apart, thanks
//   to a padding of 4 words, and a warp stores to two such); 2 barriers. C is stored as float4: 16
//   requests of 16 sectors, all of each used.
// Accepts: every problem; float4 where addresses, leading dimensions and lines are multiples of 4
// elements. What binds it: every thread waits for the next tile before it computes on it, and only
// two blocks share a multiprocessor.

#include "ops/sgemm/rung.hpp"
#include "parts/outer_product.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

struct Config {
  int block_m = 128, block_n = 128, block_k = 8, warp_m = 64, warp_n = 32, padding = 4;
  constexpr int warps_m() const { return block_m / warp_m; }
  constexpr int threads() const { return 32 * warps_m() * (block_n / warp_n); }
};
constexpr bool valid(Config c) {
  return c.block_m % c.warp_m == 0 && c.block_n % c.warp_n == 0 && c.threads() <= 1024 &&
         c.warp_m == 8 * 8 && c.warp_n == 4 * 8 && c.padding % 4 == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

// Where a thread's first 4×4 lies in the block's tile. The lane's bits belong in turn to its row
// and its column. So any eight neighbouring lanes share few float4 of A and of B.
struct Place {
  int row, column;
};
__device__ __forceinline__ Place place_of(unsigned thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int lane_row = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
  const int lane_column = (lane >> 1 & 1) | (lane >> 2 & 2);
  return {warp % kConfig.warps_m() * kConfig.warp_m + lane_row * 4,
          warp / kConfig.warps_m() * kConfig.warp_n + lane_column * 4};
}

template <bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(kConfig.threads(), 2) multiply(Gemm g) {
  __shared__ __align__(16) float a_tile[kConfig.block_k][kConfig.block_m + kConfig.padding];
  __shared__ __align__(16) float b_tile[kConfig.block_k][kConfig.block_n + kConfig.padding];
  const auto [row0, column0] = column_tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const Place at = place_of(threadIdx.x);

  parts::TileFetch<kConfig.block_m, kConfig.block_k, kConfig.threads(), kARows, kVector> a_fetch(
      g.a, g.lda, g.m, row0);
  parts::TileFetch<kConfig.block_n, kConfig.block_k, kConfig.threads(), !kBRows, kVector> b_fetch(
      g.b, g.ldb, g.n, column0);
  float sum[8][8] = {};  // [column][row]
  const auto step = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
    a_fetch.store(a_tile);
    b_fetch.store(b_tile);
    __syncthreads();  // both tiles are whole before anyone reads them
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.block_k; ++k) {
      float a[8], b[8];
      parts::load4(&a[0], &a_tile[k][at.row]);
      parts::load4(&a[4], &a_tile[k][at.row + kConfig.warp_m / 2]);
      parts::load4(&b[0], &b_tile[k][at.column]);
      parts::load4(&b[4], &b_tile[k][at.column + kConfig.warp_n / 2]);
      parts::add_outer_product(sum, b, a);
    }
    __syncthreads();  // everyone has read them before the next step overwrites them
  };
  if (g.k > 0) step(a_fetch.first_depth(g.k));  // the ragged one; the others' depth is a constant
  for (auto left = static_cast<unsigned>(tiles(g.k, kConfig.block_k)); left > 1; --left) {
    step(kConfig.block_k);
  }
  const std::int64_t row = row0 + at.row, column = column0 + at.column;
  float* const c = &g.c[row + column * g.ldc];
  WARPLADDER_UNROLL
  for (int j = 0; j < 8; ++j) {
    const int right = j % 4 + j / 4 * (kConfig.warp_n / 2);
    if (column + right >= g.n) break;
    WARPLADDER_UNROLL
    for (int i = 0; i < 8; i += 4) {
      const int down = i / 4 * (kConfig.warp_m / 2);
      parts::store4<kVector>(&c[down + right * g.ldc], g.m - row - down, g.alpha, &sum[j][i],
                             g.beta);
    }
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{
      tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n)), dim3(kConfig.threads())};
  for_layouts(g, !trans_a, !trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    runtime::launch(stream, shape, multiply<kARows, kBRows, kVector>, g);
  });
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.m * p.n / 64 / 32, k_tiles = warps * (p.k / kConfig.block_k);
  ladder::Totals t;
  t.global_load_requests = 2 * k_tiles;
  t.global_load_sectors = 2 * 16 * k_tiles;
  t.shared_store_requests = (1 + 4) * k_tiles;
  t.shared_store_wavefronts = (4 + 4) * k_tiles;
  t.shared_load_requests = (2 + 2) * warps * p.k;
  t.shared_load_wavefronts = (2 * 2 + 2 * 2) * warps * p.k;
  t.barriers = 2 * k_tiles;
  t.global_store_requests = 16 * warps;
  t.global_store_sectors = 16 * 16 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(col_08_micro_8x8) = {.idea = "8x8 elements a thread: 64 multiply-adds for 16 words",
                                     .accepts = "every problem; float4 where alignment allows",
                                     .launch = launch_in<Layout::column_major, launch>,
                                     .predict = predict_in<Layout::column_major, predict>};

}  // namespace warpladder::sgemm
