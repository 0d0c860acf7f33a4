// Bound before: of an outer product, k of some tens at the most, C's stores take longer than the
// multiply-adds. row_07 stores 128 bytes of a row at a time, and only when its main loop, which is
// made for long k, has run down.
// Idea: all of k, up to 32, comes to shared memory at once. A warp has 8 rows of 256 columns, so
// that each of its requests stores 512 neighbouring bytes. Where C's lines allow no float4, its
// lanes' columns are neighbours, and each request stores 128.
//
// Prediction: up to k = 16, 75 % of what memory takes in writes. It fails: 4096×4096×4 takes 24 µs
// on an H200, where row_07 takes 25, and from k = 8 on row_07 is faster. row_22 takes 21. Accepts:
// every problem; float4 where alignment allows. Long k passes through in parts of 32. What binds
// it: memory; from k = 32 on shared memory, which gives a lane 16 words for its 64 multiply-adds.

#include "ops/sgemm/rung_sliced.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kShallow = 8, kDeep = 32;
template <int kDepth>
using Config = SlicedConfig<1, 8, 4, 1, 1, kDepth, 1, 3>;  // 32×256

// The lane's sums of one row, of which the first lies at `c` and `left` columns exist.
template <class C, bool kSingly>
__device__ __forceinline__ void store_row(float* c, std::int64_t left, const SlicedGemm& g,
                                          const float (&sum)[C::lane_y], int lane) {
  WARPLADDER_UNROLL
  for (int j = 0; j < C::lane_y; j += kSingly ? 1 : 4) {
    const int column = line_of<C::lanes_y, kSingly>(lane, j);
    if constexpr (kSingly) {
      if (column < left) store_scaled(c + column, g.alpha, sum[j], g.beta);
    } else {
      parts::store4<4>(c + column, left - column, g.alpha, &sum[j], g.beta);
    }
  }
}

// Rows are X and columns Y, whichever are fewer. kSingly: a lane's columns are no neighbours.
template <class C, bool kXAlong, bool kYAlong, bool kSingly>
__global__ void __launch_bounds__(C::threads, C::resident) multiply(SlicedGemm g) {
  __shared__ __align__(16) float x_tile[C::tile_x * C::depth], y_tile[C::tile_y * C::depth];
  const auto [down, across] = g.tiles_y(blockIdx.x);
  const std::int64_t row0 = std::int64_t{down} * C::tile_x,
                     column0 = std::int64_t{across} * C::tile_y;
  const SlicedPlace<C> at;
  float sum[C::lane_x][C::lane_y] = {};
  for (std::int64_t k = 0; k < g.k; k += C::depth) {
    if (k > 0) __syncthreads();  // nobody reads the part before any more
    copy_lines<C::tile_x, C::depth, C::threads, kXAlong>(x_tile, g.x, row0, k, g.k);
    copy_lines<C::tile_y, C::depth, C::threads, kYAlong>(y_tile, g.y, column0, k, g.k);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();  // all threads' copies are there
    const int depth = g.k - k < C::depth ? static_cast<int>(g.k - k) : C::depth;
    WARPLADDER_NO_UNROLL
    for (int step = 0; step < (depth + 3) / 4; ++step) {
      multiply_step<C, kXAlong, kYAlong, kSingly>(sum, x_tile, y_tile, at, step);
    }
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < C::lane_x; ++i) {
    const std::int64_t row = row0 + at.first_x + line_of<C::lanes_x, kXAlong>(at.lane_x, i);
    if (row >= g.x.lines) continue;
    store_row<C, kSingly>(g.c + row * g.c_x + column0, g.y.lines - column0, g, sum[i], at.lane_y);
  }
}

template <class C>
void launch_tiles(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  SlicedGemm s = lines_of(g, trans_a, trans_b, true).gemm;
  const std::int64_t tiles_m = tiles(g.m, C::tile_x), tiles_n = tiles(g.n, C::tile_y);
  s.tiles_y = parts::Divisor::of(tiles_n);
  const runtime::LaunchShape shape{tile_grid(tiles_m, tiles_n), dim3(C::threads)};
  const bool vectors = reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0 && g.ldc % 4 == 0;
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    if constexpr (!kBRows) {
      runtime::launch(stream, shape, multiply<C, kARows, true, true>, s);
    } else {
      runtime::launch(
          stream, shape,
          vectors ? multiply<C, kARows, false, false> : multiply<C, kARows, false, true>, s);
    }
  });
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  g.k <= kShallow ? launch_tiles<Config<kShallow>>(g, trans_a, trans_b, stream)
                  : launch_tiles<Config<kDeep>>(g, trans_a, trans_b, stream);
}

// Of whole parts of k. Columns may end within a tile.
ladder::Totals predict(const Problem& p) {
  using C = Config<kDeep>;
  const std::uint64_t ctas = p.m / C::tile_x * tiles(p.n, C::tile_y), warps = ctas * C::warps_x,
                      steps = warps * (p.k / 4);
  ladder::Totals t;
  t.global_load_requests = ctas * C::tile_x * p.k / 128 + p.m / C::tile_x * p.n * p.k / 128;
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_store_requests = ctas * ((C::tile_x + C::tile_y) * p.k / 128);
  t.shared_store_wavefronts = 4 * t.shared_store_requests;
  t.shared_load_requests = (C::lane_x + C::lane_y) * steps;
  t.shared_load_wavefronts = (2 * C::lane_x + 4 * C::lane_y) * steps;  // neighbours share x
  t.barriers = warps * (2 * (p.k / C::depth) - 1);
  t.global_store_requests = p.m * p.n / 128;
  t.global_store_sectors = 16 * t.global_store_requests;
  t.fmas = ctas * C::tile_x * C::tile_y * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_12_short_k) = {.idea = "all of k at once, C in requests of 512 bytes",
                                   .accepts = "every problem; float4 where alignment allows",
                                   .launch = launch_in<Layout::row_major, launch>,
                                   .predict = predict_in<Layout::row_major, predict>,
                                   // Below 8.0, without cp.async, it is wrong from PTX of 7.5
                                   // on Hopper; why is not found.
                                   .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
