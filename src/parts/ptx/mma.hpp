#pragma once
// Products of one warp on the tensor cores (PTX ISA, "mma"), in float64.
//
// Lane l holds, with g = l/4 and t = l%4: of A (16 rows × 4) a[i], row g + 8·i, element t; of B
// (4 × 8 columns) b, element t of column g; of the sums (16×8) sums[2·h + i], row g + 8·h, column
// 2·t + i, for i and h of 0 and 1.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// mma.sync.m16n8k4.f64: sums += A·B. Called by all 32 lanes of a warp together, which wait for each
// other. Every product is exact where a and b were floats; a sum is rounded as float64 is. On the
// CPU side the four products of a sum are added one after the other.
__device__ __forceinline__ void multiply_f64(double (&sums)[4], double a0, double a1, double b) {
#if defined(__CUDACC__)
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(a0), "d"(a1), "d"(b));
#else
  simt_mma_f64(sums, a0, a1, b);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
