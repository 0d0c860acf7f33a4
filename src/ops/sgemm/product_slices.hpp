#pragma once
// A product, or slices of its k, in CTAs of one tile of C each. Here is what a CTA multiplies, and
// how the slices are launched and joined.

#include "ops/sgemm/join_slices.hpp"
#include "ops/sgemm/product_part.hpp"
#include "ops/sgemm/rung.hpp"
#include "ops/sgemm/slices.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/shares.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A product whose k is split into slices, of `rounds` tiles of k in all. C and alpha and beta are
// those of the slices: slice i stores its sums at gemm.c + i·elements. With one slice these are the
// product's own. vectors: rows of C begin at multiples of 16 bytes.
struct ProductSlices {
  Gemm gemm;
  int slices, rounds;
  parts::EvenParts of_rounds;  // a slice each
  std::int64_t elements;
  bool vectors;
};

// Narrows a product to a slice of k.
template <class C, bool kARows, bool kBRows>
__device__ __forceinline__ void take_slice(Gemm& g, const ProductSlices& all, int slice) {
  take_rounds<C, kARows, kBRows>(g, all.of_rounds.first(slice), all.of_rounds.first(slice + 1),
                                 all.rounds);
}

// Some rows or columns of C, of which CTAs multiply tiles. The first CTAs multiply those of
// `whole`, with all of k, the others slice after slice of the rest.
struct PartlySliced : ProductSlices {
  BandedTiles tiles;
  parts::Divisor of_slice;  // tiles
  Gemm whole;
  BandedTiles whole_tiles;
  unsigned whole_blocks;
  bool whole_vectors;
};
template <class C, bool kARows, bool kBRows, int kVector>
__device__ __forceinline__ ProductPart part_of_block(const PartlySliced& all) {
  if (blockIdx.x < all.whole_blocks) {
    const auto [row, column] = all.whole_tiles.origin<C::rows, C::columns>(blockIdx.x);
    return {all.whole, row, column, all.whole_vectors};
  }
  Gemm g = all.gemm;
  const auto [slice, tile] = all.of_slice(blockIdx.x - all.whole_blocks);
  const auto [row, column] = all.tiles.origin<C::rows, C::columns>(tile);
  take_slice<C, kARows, kBRows>(g, all, static_cast<int>(slice));
  g.c += std::int64_t{slice} * all.elements;
  return {g, row, column, all.vectors};
}

// Cuts the rows and columns off that are multiplied whole: returns these, and leaves the others.
inline Gemm cut_whole(Gemm& g, bool trans_a, bool trans_b, const Slices& slices) {
  Gemm whole = g;
  const std::int64_t rows = slices.whole_rows, columns = slices.whole_columns;
  whole.m = columns > 0 ? g.m : rows;
  whole.n = columns > 0 ? columns : g.n;
  g.m -= rows;
  g.n -= columns;
  g.a += trans_a ? rows : rows * g.lda;
  g.b += trans_b ? columns * g.ldb : columns;
  g.c += rows * g.ldc + columns;
  return whole;
}

template <class C>
std::int64_t tiles_of_c(const Gemm& g) {
  return tiles(g.m, C::rows) * tiles(g.n, C::columns);
}
template <class C>
BandedTiles banded_tiles(const Gemm& g) {
  return BandedTiles::of(std::max<std::int64_t>(1, tiles(g.m, C::rows)),
                         std::max<std::int64_t>(1, tiles(g.n, C::columns)));
}
inline bool stores_vectors(const Gemm& g) {
  return reinterpret_cast<std::uintptr_t>(g.c) % 16 == 0 && g.ldc % 4 == 0;
}

// launch.operator()<A by rows, B by rows, vector>(grid, slices) launches the kernel in tiles of C.
// With one slice it stores C itself, and needs no workspace; else the slices are joined in `Sum`.
template <class Sum, class C, class Launch>
static void launch_product_slices(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                                  runtime::StreamView& stream, const Launch& launch) {
  Gemm sliced = g;
  const Gemm whole = cut_whole(sliced, trans_a, trans_b, slices);
  const std::int64_t line = line_of_slice(sliced.n), of_slice = tiles_of_c<C>(sliced);
  PartlySliced s{{sliced, slices.count, slices.rounds,
                  parts::EvenParts::of(slices.rounds, slices.count), sliced.m * line, false},
                 banded_tiles<C>(sliced),
                 parts::Divisor::of(of_slice),
                 whole,
                 banded_tiles<C>(whole),
                 static_cast<unsigned>(tiles_of_c<C>(whole)),
                 stores_vectors(whole)};
  if (s.slices > 1) s.gemm = gemm_of_slices(sliced, line);
  s.vectors = stores_vectors(s.gemm);
  const dim3 grid(s.whole_blocks + static_cast<unsigned>(of_slice * s.slices));
  Gemm operands = g;  // C's alignment is known at run time
  operands.c = nullptr;
  operands.ldc = 0;
  for_layouts(operands, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
    launch.template operator()<kARows, kBRows, kVector>(grid, s);
  });
  if (s.slices > 1) launch_join<Sum>(sliced, s.slices, line, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
