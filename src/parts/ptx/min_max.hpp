#pragma once
// The least and the greatest of two numbers as IEEE 754-2019 has them: a NaN wins over every
// number, and -0 is less than +0. (fminf and fmaxf prefer the number, and may take either zero.)
// One instruction from compute capability 8.0 on.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// selp: a if `first`, else b. On the CPU side without a branch, in which the lanes of a warp would
// part.
template <class T>
__device__ __forceinline__ T select(bool first, T a, T b) {
#if defined(__CUDACC__)
  return first ? a : b;
#else
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const Bits mask = Bits{0} - Bits{first};
  return std::bit_cast<T>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask));
#endif
}

// min.NaN.f32
__device__ WARPLADDER_INLINE_ON_GPU float minimum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  return select((a < b) | (a != a) | ((a == b) & (__float_as_uint(a) >> 31 != 0)), a, b);
#endif
}

// max.NaN.f32
__device__ WARPLADDER_INLINE_ON_GPU float maximum(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float greatest;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(greatest) : "f"(a), "f"(b));
  return greatest;
#else
  return select((b < a) | (a != a) | ((a == b) & (__float_as_uint(a) >> 31 == 0)), a, b);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
