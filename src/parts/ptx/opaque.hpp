#pragma once
// No instruction: keeps the compiler from knowing a value.

#include <cstdint>

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// What depends on `value` is computed behind this point. In a loop: anew in each turn, instead of
// once in front of it, so that it takes no registers meanwhile.
__device__ __forceinline__ void make_opaque(unsigned& value) {
#if defined(__CUDACC__)
  asm volatile("" : "+r"(value));
#else
  static_cast<void>(value);
#endif
}
__device__ __forceinline__ void make_opaque(std::int64_t& value) {
#if defined(__CUDACC__)
  asm volatile("" : "+l"(value));
#else
  static_cast<void>(value);
#endif
}
__device__ __forceinline__ void make_opaque(const float*& value) {
#if defined(__CUDACC__)
  asm volatile("" : "+l"(value));
#else
  static_cast<void>(value);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
