#pragma once
// The kernel and the launch of row_34_even_batches.

#include "ops/sgemm/even_batches.hpp"
#include "ops/sgemm/rung_low_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The tiles of all products, product by product. `tiles` are those of one.
struct EvenBatch : EvenGemm {
  Batch batch;
  parts::Divisor of_product;

  template <class C>
  __device__ __forceinline__ TileOrigin take_tile(int tile, Gemm& g) const {
    const auto [product, in_product] = of_product(static_cast<unsigned>(tile));
    const ProductOperands of = operands_of(g, batch, product);
    g.a = of.a;
    g.b = of.b;
    g.c = of.c;
    return tiles.template origin<C::rows, C::columns>(in_product);
  }
};
template <class LowOperands>
struct BatchOperands : LowOperands {
  using Product = EvenBatch;
  static constexpr bool joins = false;
};

// `given`: products as they are called, p: one as it is multiplied.
template <class C, bool kFar>
void launch_even_batch(const Gemm& given, const Batch& batch, const Problem& p, const EvenShares& s,
                       bool turned, runtime::StreamView& stream) {
  const Gemm g = as_multiplied(given, turned);
  EvenBatch e{even_gemm<C>(g, s, g.workspace), turned ? twins_of(batch) : batch,
              parts::Divisor::of(tiles(g.m, C::rows) * tiles(g.n, C::columns))};
  e.turned = turned;
  with_low_operands<LowForm<C, false>, kFar>(g, p, e.batch, [&]<class Operands>() {
    launch_even_tiles<BatchOperands<Operands>>(e, s, false, stream);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
