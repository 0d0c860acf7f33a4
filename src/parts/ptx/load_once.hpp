#pragma once
// Loads of data that a kernel reads once (PTX ISA, "ld.global.nc" with "L1::no_allocate"), one
// instruction a function: it leaves the L1 cache to what is read again. Nothing may write there
// while the kernel runs.

#include "device/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// `from` is a multiple of 16 bytes.
__device__ __forceinline__ float4 load_once(const float4* from) {
#if defined(__CUDACC__)
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
#else
  return *from;
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
