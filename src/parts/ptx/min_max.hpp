#pragma once
// The least and the greatest of two numbers as IEEE 754-2019 has them: a NaN wins over every
// number, and -0 is less than +0. (fminf and fmaxf prefer the number, and may take either zero.)

#include "device/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// min.NaN.f32
__device__ __forceinline__ float minimum(float a, float b) {
#if defined(__CUDACC__)
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  // Without branches, in which the lanes of a warp would part.
  const unsigned a_bits = __float_as_uint(a), b_bits = __float_as_uint(b);
  const bool a_first = (a < b) | (a != a) | ((a == b) & (a_bits >> 31 != 0));
  const unsigned mask = 0u - unsigned{a_first};
  return __uint_as_float((a_bits & mask) | (b_bits & ~mask));
#endif
}

// max.NaN.f32
__device__ __forceinline__ float maximum(float a, float b) {
#if defined(__CUDACC__)
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
  return greatest;
#else
  const unsigned a_bits = __float_as_uint(a), b_bits = __float_as_uint(b);
  const bool a_first = (b < a) | (a != a) | ((a == b) & (a_bits >> 31 == 0));
  const unsigned mask = 0u - unsigned{a_first};
  return __uint_as_float((a_bits & mask) | (b_bits & ~mask));
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
