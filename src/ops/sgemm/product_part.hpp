#pragma once
// Which part of a product a CTA multiplies. Also compiled at run time.

#include "ops/sgemm/gemm_tile.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What a CTA multiplies: a tile of a product.
struct ProductPart {
  Gemm gemm;
  std::int64_t row, column;
  bool vectors;
};
// Narrows a product to the tiles of k from `first` on, before `end`. Of all `rounds` of them only
// the first is ragged.
template <class C, bool kARows, bool kBRows>
__device__ __forceinline__ void take_rounds(Gemm& g, std::int64_t first, std::int64_t end,
                                            std::int64_t rounds) {
  const std::int64_t missing = rounds * C::depth - g.k;
  const std::int64_t k = first == 0 ? 0 : first * C::depth - missing;
  g.a += kARows ? k : k * g.lda;
  g.b += kBRows ? k * g.ldb : k;
  g.k = end * C::depth - missing - k;
}

template <class C, bool kARows, bool kBRows, int kVector>
__device__ __forceinline__ ProductPart part_of_block(const Gemm& g) {
  const auto [row, column] = tile_of_block<C::rows, C::columns>(g);
  return {g, row, column, kVector == 4};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
