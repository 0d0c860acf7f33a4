#pragma once
// A value of which the compiler does not know where it comes from. So it computes what follows from
// it where that is needed, instead of keeping it in registers. No instruction.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

__device__ __forceinline__ unsigned hidden(unsigned value) {
#if defined(__CUDACC__)
  asm volatile("" : "+r"(value));
#endif
  return value;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
