#pragma once
// Where the operands of a batch's products lie.

#include "ops/sgemm/rung.hpp"
#include "parts/shares.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct ProductOperands {
  const float *a, *b;
  float* c;
};
__device__ __forceinline__ ProductOperands operands_of(const Gemm& g, const Batch& batch,
                                                       std::int64_t product) {
  if (batch.arrays) return {batch.a[product], batch.b[product], batch.c[product]};
  return {g.a + product * batch.stride_a, g.b + product * batch.stride_b,
          g.c + product * batch.stride_c};
}

// The tiles of a batch, product by product, of which CTAs take so many at a time.
struct DealtTiles {
  parts::Divisor of_product;
  unsigned step_products, step_tiles;

  static DealtTiles of(std::int64_t of_product, std::int64_t at_a_time) {
    return {parts::Divisor::of(of_product), static_cast<unsigned>(at_a_time / of_product),
            static_cast<unsigned>(at_a_time % of_product)};
  }
};
// One of them, found by its number.
struct DealtTile {
  std::int64_t product;
  unsigned tile;

  __device__ __forceinline__ DealtTile(const DealtTiles& all, unsigned number) {
    const auto [of_batch, of_product] = all.of_product(number);
    product = of_batch;
    tile = of_product;
  }
  __device__ __forceinline__ void advance(const DealtTiles& all) {
    product += all.step_products;
    tile += all.step_tiles;
    if (tile < all.of_product.by) return;
    tile -= all.of_product.by;
    ++product;
  }
};

// Whether four neighbours may be copied at once, as far as the address tells.
__device__ __forceinline__ bool is_whole(const float* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

// Whether four neighbours of an operand's lines, so many elements long, may be copied at once. It
// is what is known before arrays of pointers are read.
inline bool comes_by_fours(const float* data, std::int64_t ld, std::int64_t line,
                           std::int64_t stride, const Batch& batch) {
  const std::int64_t distances = ld | (batch.count > 1 ? stride : 0);
  return !batch.arrays && reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
         (line | distances) % 4 == 0;
}

// Whether lines of A or B begin elsewhere than at multiples of 16 bytes, as far as is known before
// arrays of pointers are read.
inline bool begins_anywhere(const Gemm& g, const Batch& batch) {
  const auto word_of = [](const float* data) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) / sizeof(float));
  };
  std::int64_t words = g.lda | g.ldb;
  if (!batch.arrays) words |= word_of(g.a) | word_of(g.b);
  if (batch.count > 1) words |= batch.stride_a | batch.stride_b;
  return words % 4 != 0;
}

// For rungs that launch a whole batch at once: calls run(Gemm, Batch, trans_a, trans_b) where there
// is anything to do. `Gemm` is row-major.
template <class Run>
void with_batch(const Call& given, const Run& run) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || call.batch.count == 0) return;
  Gemm g = gemm_of(call);
  if (p.alpha == 0.0f) g.k = 0;
  run(g, call.batch, p.trans_a, p.trans_b);
}
inline bool takes_batches(const Call&) { return true; }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
