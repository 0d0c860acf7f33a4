// Bound before: nothing; this file is read first. tc_01 does the same with a pass and shared parts.
// Idea: one warpgroup and one tile, everything written out. 128 threads round FP32 words to TF32 on
// their way to shared memory, lay them down as wgmma reads them, multiply, and store the fragments.
//
// A line of A or B is 32 words along k: 128 bytes, eight pieces of 16. Piece p of line r lies at
// place p XOR r mod 8 (the 128-byte swizzle), so one piece of eight lines meets all banks. wgmma
// takes 8 words along k at a time: the descriptor moves on by 32 bytes.
//
// Prediction, of a tile of 64×64 and 32 of k: 128 requests to load, 4 sectors each, and 128 to
// store to shared memory. A's 64 take 1 wavefront, B's 64, turned on their way, take 4. 4 warps
// meet at 2 barriers. C takes 128 stores of 8 sectors. m·n·k multiply-adds on the tensor cores.
// Measured on an H200: 47.4 ms at 8192×8192×8192, where cublasSgemm takes 21.5.
// Accepts: moderate values. What binds it: loads, which take turns with the products.

#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "parts/float_pairs.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kBlock = 64, kDepth = 32, kThreads = 128;

struct Shared {
  float a[kBlock * kDepth], b[kBlock * kDepth];  // lines along k, swizzled
};

// op(X) as lines along k: word k of line i lies at data[i * line_stride + k * k_stride].
struct Lines {
  const float* data;
  std::int64_t lines, line_stride, k_stride;
};

// Lanes stand along k where words along k are neighbours in memory, else along the lines.
__device__ __forceinline__ void load_tile(float* tile, const Lines& x, std::int64_t line0,
                                          std::int64_t k0, std::int64_t depth) {
  const bool along_k = x.k_stride == 1;
  for (int word = threadIdx.x; word < kBlock * kDepth; word += kThreads) {
    const int line = along_k ? word / kDepth : word % kBlock;
    const int k = along_k ? word % kDepth : word / kBlock;
    const bool exists = line0 + line < x.lines && k0 + k < depth;
    const float value =
        exists ? x.data[(line0 + line) * x.line_stride + (k0 + k) * x.k_stride] : 0.0f;
    const int piece = k / 4 ^ line % 8;  // the swizzle
    tile[line * kDepth + piece * 4 + k % 4] = parts::tf32_value(value);
  }
}

__global__ void __launch_bounds__(kThreads) multiply(Gemm g, Lines a, Lines b) {
  auto& shared = *runtime::dynamic_shared<Shared>();
  const auto [row0, column0] = tile_of_block<kBlock, kBlock>(g);
  const ptx::TileDescriptor a_tile = ptx::tile_descriptor(shared.a),
                            b_tile = ptx::tile_descriptor(shared.b);
  float sums[kBlock / 2] = {};  // the thread's fragment of 64×64
  for (std::int64_t k = 0; k < g.k; k += kDepth) {
    load_tile(shared.a, a, row0, k, g.k);
    load_tile(shared.b, b, column0, k, g.k);
    ptx::fence_async_proxy();  // the tensor cores see what threads stored
    __syncthreads();           // the tile is whole
    ptx::wgmma_fence();
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 128; step += 32) {  // bytes: 8 words along k
      ptx::multiply_tf32(sums, ptx::behind(a_tile, step), ptx::behind(b_tile, step), true);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
    __syncthreads();  // nobody reads the tile any more
  }
  // The fragment: rows 16·warp + lane / 4 + 8·h, columns 8·j + lane % 4 · 2 + i.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  WARPLADDER_UNROLL_ON_GPU
  for (int s = 0; s < kBlock / 2; ++s) {
    const int j = s / 4, h = s / 2 % 2, i = s % 2;
    const std::int64_t row = row0 + 16 * warp + lane / 4 + 8 * h,
                       column = column0 + 8 * j + lane % 4 * 2 + i;
    if (row < g.m && column < g.n) {
      store_scaled(&g.c[row * g.ldc + column], g.alpha, sums[s], g.beta);
    }
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const Lines a = trans_a ? Lines{g.a, g.m, 1, g.lda} : Lines{g.a, g.m, g.lda, 1};
  const Lines b = trans_b ? Lines{g.b, g.n, g.ldb, 1} : Lines{g.b, g.n, 1, g.ldb};
  const runtime::LaunchShape shape{tile_grid(tiles(g.m, kBlock), tiles(g.n, kBlock)),
                                   dim3(kThreads), sizeof(Shared)};
  runtime::launch(stream, shape, multiply, g, a, b);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t blocks = p.m / kBlock * (p.n / kBlock), steps = blocks * (p.k / kDepth);
  ladder::Totals t;
  t.global_load_requests = 2 * 64 * steps;
  t.global_load_sectors = 4 * t.global_load_requests;
  t.shared_store_requests = 2 * 64 * steps;
  t.shared_store_wavefronts = (64 * 1 + 64 * 4) * steps;
  t.barriers = 2 * 4 * steps;
  t.global_store_requests = 4 * 32 * blocks;
  t.global_store_sectors = 8 * t.global_store_requests;
  t.tensor_fmas = p.m * p.n * p.k;
  return t;
}

}  // namespace

WARPLADDER_RUNG(tc_16_one_tile) = {
    .idea = "one warpgroup, one tile: the swizzle and fragments in full",
    .accepts = "moderate values",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .takes = promises_moderate_values,
    .arithmetic = in_tf32(0x1p14)};

}  // namespace warpladder::sgemm
