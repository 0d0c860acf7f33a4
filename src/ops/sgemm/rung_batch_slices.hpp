#pragma once
// A batch in one launch, in CTAs of a tile of C each: of all of k, or of slices of it.

#include "ops/sgemm/product_slices.hpp"
#include "ops/sgemm/rung_operands.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A product's tiles lie along x of the grid, one product behind the other; slices along y. `of_c`:
// tiles of a product, of which `down` lie below each other. Sums of slices lie product by product.
struct BatchSlices : ProductSlices {
  Batch batch;
  parts::Divisor of_c, down;
};
template <class C, bool kARows, bool kBRows, int kVector>
__device__ __forceinline__ ProductPart part_of_block(const BatchSlices& all) {
  const auto [product, tile] = all.of_c(blockIdx.x);
  const auto [column, row] = all.down(tile);
  Gemm g = all.gemm;
  const ProductOperands operands = operands_of(g, all.batch, product);
  g.a = operands.a;
  g.b = operands.b;
  const auto slice = static_cast<int>(blockIdx.y);
  take_slice<C, kARows, kBRows>(g, all, slice);
  if (all.slices > 1) {
    g.c += (std::int64_t{product} * all.slices + slice) * all.elements;
  } else {
    g.c = operands.c;
  }
  return {g, std::int64_t{row} * C::rows, std::int64_t{column} * C::columns,
          all.vectors && is_whole(g.c)};
}

// Products lie along y of the grid.
template <class Sum, int kJoiners>
static __global__ void __launch_bounds__(kJoinThreads)
    join_slices_of_batch(Join j, Gemm g, Batch batch) {
  j.partial += std::int64_t{blockIdx.y} * j.slices * j.elements;
  j.c = operands_of(g, batch, blockIdx.y).c;
  add_slices<Sum, kJoiners>(j);
}
template <class Sum>
static void launch_join_of_batch(const Gemm& g, const Batch& batch, int slices, std::int64_t line,
                                 runtime::StreamView& stream) {
  const Join join = join_of(g, slices, line);
  with_join_shape(join, batch.count, [&]<int kJoiners>(const runtime::LaunchShape& shape) {
    runtime::launch(stream, shape, join_slices_of_batch<Sum, kJoiners>, join, g, batch);
  });
}

// The kernel is kernel.operator()<A by rows, B by rows, vector>(), in tiles of C.
template <class C, class Kernel>
static void launch_batch_slices(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                                const Slices& slices, runtime::StreamView& stream,
                                const Kernel& kernel) {
  const std::int64_t down = tiles(g.m, C::rows), of_c = down * tiles(g.n, C::columns),
                     line = line_of_slice(g.n);
  BatchSlices s{{g, slices.count, slices.rounds, parts::EvenParts::of(slices.rounds, slices.count),
                 g.m * line, g.ldc % 4 == 0},
                batch,
                parts::Divisor::of(of_c),
                parts::Divisor::of(down)};
  if (s.slices > 1) {
    s.gemm = gemm_of_slices(s.gemm, line);
    s.vectors = true;
  }
  Gemm operands = g;  // C's alignment is known at run time, and that of arrays is not
  operands.c = nullptr;
  operands.ldc = batch.arrays || begins_anywhere(g, batch) ? 1 : 0;
  const runtime::LaunchShape shape{
      dim3(static_cast<unsigned>(of_c * batch.count), static_cast<unsigned>(s.slices)),
      dim3(C::threads)};
  for_layouts(operands, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    runtime::launch(stream, shape, kernel.template operator()<kARows, kBRows, kVector>(), s);
  });
  if (s.slices > 1) launch_join_of_batch<float>(g, batch, s.slices, line, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
