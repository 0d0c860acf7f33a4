#pragma once
// A product, or slices of its k, in CTAs of one tile of C each: what a CTA multiplies, and how the
// slices are launched and joined.

#include "ops/sgemm/join_slices.hpp"
#include "ops/sgemm/product_part.hpp"
#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/slices.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A product whose k is split into `slices`, of `rounds` tiles of k in all. C and alpha and beta are
// those of the slices: slice i stores its sums at gemm.c + i·elements. With one slice these are the
// product's own. vectors: rows of C begin at multiples of 16 bytes.
struct ProductSlices {
  Gemm gemm;
  int slices, rounds;
  std::int64_t elements;
  bool vectors;
};

// Narrows a product to the CTA's slice of k, and returns that slice. Slices lie along y of the
// grid. Only the first tile of k is ragged, which is the first slice's.
template <class C, bool kARows, bool kBRows>
__device__ __forceinline__ std::int64_t take_slice(Gemm& g, const ProductSlices& all) {
  const auto slice = static_cast<std::int64_t>(blockIdx.y);
  const std::int64_t first = slice * all.rounds / all.slices,
                     end = (slice + 1) * all.rounds / all.slices,
                     missing = std::int64_t{all.rounds} * C::depth - g.k;
  const std::int64_t k = first == 0 ? 0 : first * C::depth - missing;
  g.a += kARows ? k : k * g.lda;
  g.b += kBRows ? k * g.ldb : k;
  g.k = end * C::depth - missing - k;
  return slice;
}

template <class C, bool kARows, bool kBRows, int kVector>
__device__ __forceinline__ ProductPart part_of_block(const ProductSlices& all) {
  Gemm g = all.gemm;
  const auto [row, column] = tile_of_block<C::rows, C::columns>(g);
  g.c += take_slice<C, kARows, kBRows>(g, all) * all.elements;
  return {g, row, column, all.vectors};
}

// launch.operator()<A by rows, B by rows, vector>(grid, slices) launches the kernel in tiles of C.
// With one slice it stores C itself, and needs no workspace; else the slices are joined in `Sum`.
template <class Sum, class C, class Launch>
static void launch_product_slices(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                                  runtime::StreamView& stream, const Launch& launch) {
  const std::int64_t of_c = tiles(g.m, C::rows) * tiles(g.n, C::columns), line = line_of_slice(g.n);
  ProductSlices s{g, slices.count, slices.rounds, g.m * line, false};
  if (s.slices > 1) {
    s.gemm.c = static_cast<float*>(g.workspace);
    s.gemm.ldc = line;
    s.gemm.alpha = 1.0f;
    s.gemm.beta = 0.0f;
  }
  s.vectors = reinterpret_cast<std::uintptr_t>(s.gemm.c) % 16 == 0 && s.gemm.ldc % 4 == 0;
  const dim3 grid(static_cast<unsigned>(of_c), static_cast<unsigned>(s.slices));
  Gemm operands = g;  // C's alignment is known at run time
  operands.c = nullptr;
  operands.ldc = 0;
  for_layouts(operands, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    launch.template operator()<kARows, kBRows, kVector>(grid, s);
  });
  if (s.slices > 1) launch_join<Sum>(g, s.slices, line, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
