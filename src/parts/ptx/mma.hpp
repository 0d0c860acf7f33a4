#pragma once
// Products of one warp on the tensor cores (PTX ISA, "mma"). Called by all 32 lanes of a warp
// together, which wait for each other.
//
// Let g = l/4 and t = l%4. Of the sums (16×8) lane l holds sums[2·h + i], row g + 8·h, column 2·t +
// i, for i and h of 0 and 1. In float64, for 4 elements along k, it holds of A (16 rows) a[i], row
// g + 8·i, element t. Of B (8 columns) it holds b, element t of column g. Of 32 bytes along k it
// holds words of 4 bytes: a[i + 2·h], row g + 8·i, word t + 4·h. It also holds b[h], column g, word
// t + 4·h. A word is two halves or a float.

#include "parts/ptx/absent.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// mma.sync.m16n8k4.f64: sums += A·B. Every product is exact where a and b were floats; a sum is
// rounded as float64 is. On the CPU side the four products of a sum are added one after the other.
__device__ __forceinline__ void multiply_f64(double (&sums)[4], double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(a0), "d"(a1), "d"(b));
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mma_f64(sums, a0, a1, b);
#endif
}

#if __CUDA_ARCH__ >= 800
// An asm statement for `sums`, `a` and `b`; the sums begin from what they are, or from zero.
#define WARPLADDER_MMA(shape_and_types)                                                          \
  if constexpr (kAdds) {                                                                         \
    asm volatile("mma.sync.aligned." shape_and_types                                             \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                    \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));            \
  } else {                                                                                       \
    asm volatile("mma.sync.aligned." shape_and_types                                             \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"          \
                 : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])                    \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f)); \
  }
#endif

// mma.sync.m16n8k16.f32.f16.f16: sums = A·B (+ sums if kAdds), halves in. The adder truncates, as
// wgmma's does. On the CPU side each instruction adds its exact products to the sum and truncates
// once.
template <bool kAdds>
__device__ __forceinline__ void mma_f16(float (&sums)[4], const unsigned (&a)[4],
                                        const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  WARPLADDER_MMA("m16n8k16.row.col.f32.f16.f16.f32")
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mma(sums, a, b, 2, kAdds);
#endif
}

// mma.sync.m16n8k8.f32.tf32.tf32: the same of floats, of which the upper 19 bits count.
template <bool kAdds>
__device__ __forceinline__ void mma_tf32(float (&sums)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  WARPLADDER_MMA("m16n8k8.row.col.f32.tf32.tf32.f32")
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mma(sums, a, b, 4, kAdds);
#endif
}
#undef WARPLADDER_MMA

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
