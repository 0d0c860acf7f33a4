#pragma once
// Loads from global memory with hints for the caches (PTX ISA, "ld"), one instruction a function.
// A hint changes what is fetched and kept, never what is read, so that on the CPU side they are
// plain loads.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// ld.global.L1::no_allocate.L2::256B. The L2 cache fetches the 256 bytes around the address, which
// helps when another block reads the rest; L1 keeps nothing. Nobody may write what is read while
// the kernel runs: the compiler may move the load past stores.
__device__ __forceinline__ float4 load_256(const float4* global) {
#if __CUDA_ARCH__ >= 800
  float4 v;
  asm volatile("ld.global.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(__cvta_generic_to_global(global)));
  return v;
#else
  return *global;
#endif
}

// ld.global.nc.L1::no_allocate. L1 keeps nothing of what is read once, and has the more room for
// the rest. Nobody may write what is read while the kernel runs.
__device__ __forceinline__ float4 load_once(const float4* global) {
#if defined(__CUDACC__)
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(__cvta_generic_to_global(global)));
  return v;
#else
  return *global;
#endif
}

// ld.global behind a predicate, without a branch. Where it does not hold, `value` stays. Nobody may
// write what is read while the kernel runs: the compiler may move the load past stores.
__device__ __forceinline__ void load_if(bool wanted, float& value, const float* global) {
#if defined(__CUDACC__)
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\t@p ld.global.f32 %0, [%2];\n\t}"
               : "+f"(value)
               : "r"(static_cast<int>(wanted)), "l"(__cvta_generic_to_global(global)));
#else
  if (wanted) value = *global;
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
