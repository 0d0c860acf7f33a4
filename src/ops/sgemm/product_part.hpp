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
template <class C, bool kARows, bool kBRows, int kVector>
__device__ __forceinline__ ProductPart part_of_block(const Gemm& g) {
  const auto [row, column] = tile_of_block<C::rows, C::columns>(g);
  return {g, row, column, kVector == 4};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
