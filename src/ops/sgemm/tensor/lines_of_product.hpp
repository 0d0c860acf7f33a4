#pragma once
// A batch's products as lines along k.

#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/rung_sliced.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Number `product` of a batch. `lines` are those of `of`.
__device__ __forceinline__ SlicedGemm lines_of_product(const SlicedGemm& lines, const Gemm& of,
                                                       const Batch& batch, std::int64_t product) {
  SlicedGemm g = lines;
  const ProductOperands operands = operands_of(of, batch, product);
  g.x.data = g.x_in_lines ? operands.b : operands.a;
  g.y.data = g.x_in_lines ? operands.a : operands.b;
  g.x.vectors = is_whole(g.x.data) && g.x.ld % 4 == 0;
  g.y.vectors = is_whole(g.y.data) && g.y.ld % 4 == 0;
  g.c = operands.c;
  return g;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
