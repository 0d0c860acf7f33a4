#pragma once
// Many products of the same sizes in one launch. A CTA computes one tile of one product; the grid
// runs through the tiles of all products.

#include "ops/sgemm/rung_operands.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// CTAs of (kTile / 4)² threads; each thread has 4×4 elements of a kTile×kTile tile of C.
template <class Sum_, int kTile_>
struct BatchedConfig {
  using Sum = Sum_;  // float, or double for sums that are rounded once
  static constexpr int tile = kTile_, depth = 16, thread = 4, across = tile / thread,
                       threads = across * across, pitch = tile + 4,
                       loads = tile * depth / threads;  // of each operand, a thread and step
};

// An element of op(X) at (line, k): line is a row of A or a column of B.
struct BatchedOperand {
  std::int64_t line_stride, k_stride;
};

inline BatchedOperand batched_operand(bool along_k, std::int64_t ld) {
  return along_k ? BatchedOperand{ld, 1} : BatchedOperand{1, ld};
}

// A and B as the caller stores them, with the strides of op(A) and op(B).
struct BatchedGemm {
  Gemm gemm;
  Batch batch;
  BatchedOperand a, b;
  std::int64_t tiles_n, tiles;  // along n, and of one product
};

template <class C>
struct BatchedTiles {
  float a[C::depth][C::pitch], b[C::depth][C::pitch];
};

// Copies lines line0 … line0 + tile - 1 and depths k0 … k0 + depth - 1 of an operand to shared
// memory as [k][line], zeros where the operand ends. Neighbouring threads read neighbouring
// elements.
template <class C>
__device__ __forceinline__ void load_batched_tile(float (&to)[C::depth][C::pitch],
                                                  const float* from, BatchedOperand x,
                                                  std::int64_t line0, std::int64_t lines,
                                                  std::int64_t k0, std::int64_t k_end) {
  const bool along_k = x.k_stride == 1;
  WARPLADDER_UNROLL
  for (int i = 0; i < C::loads; ++i) {
    const int e = static_cast<int>(threadIdx.x) + i * C::threads;
    const int line = along_k ? e / C::depth : e % C::tile, k = along_k ? e % C::depth : e / C::tile;
    const bool inside = line0 + line < lines && k0 + k < k_end;
    to[k][line] = inside ? from[(line0 + line) * x.line_stride + (k0 + k) * x.k_stride] : 0.0f;
  }
}

template <class C, class Sum>
__device__ __forceinline__ void add_batched_step(Sum (&sum)[4][4], const BatchedTiles<C>& tiles,
                                                 int row, int column) {
  WARPLADDER_UNROLL
  for (int k = 0; k < C::depth; ++k) {
    const float4 a4 = *reinterpret_cast<const float4*>(&tiles.a[k][row]);
    const float4 b4 = *reinterpret_cast<const float4*>(&tiles.b[k][column]);
    const Sum a[] = {a4.x, a4.y, a4.z, a4.w}, b[] = {b4.x, b4.y, b4.z, b4.w};
    WARPLADDER_UNROLL
    for (int i = 0; i < C::thread; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < C::thread; ++j) sum[i][j] += a[i] * b[j];
    }
  }
}

// C's element, rounded once. beta == 0 must not read it.
template <class Sum>
__device__ __forceinline__ void store_batched(float* c, const Gemm& g, Sum sum) {
  const Sum product = static_cast<Sum>(g.alpha) * sum;
  *c = static_cast<float>(g.beta == 0.0f ? product : product + static_cast<Sum>(g.beta) * *c);
}

// What a CTA works on: a tile of a product, and the operands of that product.
struct BatchedTile {
  ProductOperands operands;
  std::int64_t row, column;
};
template <class C>
__device__ __forceinline__ BatchedTile batched_tile(const BatchedGemm& x, std::int64_t at) {
  const std::int64_t tile = at % x.tiles;
  const ProductOperands operands = operands_of(x.gemm, x.batch, at / x.tiles);
  return {operands, tile / x.tiles_n * C::tile, tile % x.tiles_n * C::tile};
}

constexpr int kSmallBatchedTile = 32;  // for products that are no larger
inline bool takes_small_tiles(const Problem& p) {
  return p.m <= kSmallBatchedTile || p.n <= kSmallBatchedTile;
}

template <class C>
void launch_batched_tiles(const Call& call, runtime::StreamView& stream,
                          void (*kernel)(BatchedGemm)) {
  const Problem& p = call.problem;
  Gemm g = gemm_of(call);
  if (p.alpha == 0.0f) g.k = 0;
  const std::int64_t tiles_n = tiles(p.n, C::tile), per_product = tiles(p.m, C::tile) * tiles_n,
                     work = per_product * call.batch.count;
  constexpr std::int64_t kMostBlocks = 1 << 30;
  const BatchedGemm x{
      g,       call.batch, batched_operand(!p.trans_a, p.lda), batched_operand(p.trans_b, p.ldb),
      tiles_n, per_product};
  const auto grid = static_cast<unsigned>(work < kMostBlocks ? work : kMostBlocks);
  runtime::launch(stream, {dim3(grid), dim3(C::threads)}, kernel, x);
}
// `small` and `large`: the kernel for tiles of 32×32, and of 64×64.
template <class Small, class Large>
void launch_batched(const Call& given, runtime::StreamView& stream, void (*small)(BatchedGemm),
                    void (*large)(BatchedGemm)) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || call.batch.count == 0) return;
  takes_small_tiles(p) ? launch_batched_tiles<Small>(call, stream, small)
                       : launch_batched_tiles<Large>(call, stream, large);
}

// Of tiles of 64×64: per warp and step of 16, four loads of either operand, of 32 elements each.
inline ladder::Totals predict_batched(const Problem& p) {
  using C = BatchedConfig<float, 64>;
  const std::uint64_t warp_steps =
                          p.m / C::tile * (p.n / C::tile) * (p.k / C::depth) * (C::threads / 32),
                      warp_tiles = p.m / C::tile * (p.n / C::tile) * (C::threads / 32);
  ladder::Totals t;
  t.global_load_requests = 2 * C::loads * warp_steps;
  t.global_load_sectors = 4 * t.global_load_requests;
  t.shared_store_requests = 2 * C::loads * warp_steps;
  // A's elements come along k: 16 places that are 68 words apart meet in pairs on a bank.
  t.shared_store_wavefronts = 3 * C::loads * warp_steps;
  t.shared_load_requests = 2 * C::depth * warp_steps;
  // Lanes that are neighbours share A's words: 2 wavefronts for each of A, 4 for each of B.
  t.shared_load_wavefronts = 3 * t.shared_load_requests;
  // A thread stores 16 elements, each with a request of its own: two rows of 16 places, four apart.
  t.global_store_requests = C::thread * C::thread * warp_tiles;
  t.global_store_sectors = 2 * 8 * t.global_store_requests;
  t.barriers = 2 * warp_steps;
  t.fmas = static_cast<std::uint64_t>(p.m) * p.n * p.k;
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
