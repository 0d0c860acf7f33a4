#pragma once
// Products and loads of matrices by a warp, on the executor's tensor-core model. The lanes' parts
// lie as PTX defines them, with g = lane / 4 and t = lane % 4. sums[2h + i] is row g + 8h, column
// 2t + i. A word of A is row g + 8i, a word of B column g.

#include "simt/half_functions.hpp"
#include "simt/warp.hpp"

extern "C" {
void simt_mma(float* sums, const std::uint32_t* a, const std::uint32_t* b, int element_bytes,
              int add);
void simt_mma_f64(double* sums, double a0, double a1, double b);
void simt_ldmatrix(std::uint32_t* to, unsigned row, int count, int transposed);
}

namespace simt {
SIMT_INLINE void mma_half(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  simt_mma(sums, a, b, 2, 1);
}
SIMT_INLINE void mma_tf32(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  simt_mma(sums, a, b, 4, 1);
}
// A bfloat16 is the upper half of a float, so the product is two of floats: of the lower and of the
// upper elements. Along k any order will do that is the same in A and B.
SIMT_INLINE void mma_bfloat(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  const unsigned low_a[4] = {a[0] << 16, a[1] << 16, a[2] << 16, a[3] << 16};
  const unsigned low_b[2] = {b[0] << 16, b[1] << 16};
  const unsigned high_a[4] = {a[0] & ~0xffffu, a[1] & ~0xffffu, a[2] & ~0xffffu, a[3] & ~0xffffu};
  const unsigned high_b[2] = {b[0] & ~0xffffu, b[1] & ~0xffffu};
  mma_tf32(sums, low_a, low_b);
  mma_tf32(sums, high_a, high_b);
}
SIMT_INLINE void mma_into_halves(unsigned (&sums)[2], const unsigned (&a)[4],
                                 const unsigned (&b)[2]) {
  __half2 part[2];
  __builtin_memcpy(part, sums, sizeof part);
  float wide[4] = {part[0].x, part[0].y, part[1].x, part[1].y};
  mma_half(wide, a, b);
  part[0] = {__half(wide[0]), __half(wide[1])};
  part[1] = {__half(wide[2]), __half(wide[3])};
  __builtin_memcpy(sums, part, sizeof part);
}
}  // namespace simt
