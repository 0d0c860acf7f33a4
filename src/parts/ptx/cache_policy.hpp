#pragma once
// Loads that tell the L2 cache what to keep (PTX ISA, "createpolicy" and "ld"), one instruction a
// function. A hint changes what is kept, never what is read, so that on the CPU side they are plain
// loads.

#include "device/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// createpolicy.fractional.L2::evict_first. What is loaded with it is the first to go when L2 needs
// room: a stream that is read once then leaves in peace what is read often.
__device__ __forceinline__ std::uint64_t evict_first() {
#if defined(__CUDACC__)
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
#else
  return 0;
#endif
}

// ld.global.nc.L1::no_allocate.L2::cache_hint. Nobody may write what is read while the kernel runs.
__device__ __forceinline__ float4 load_with(std::uint64_t policy, const float4* global) {
#if defined(__CUDACC__)
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(__cvta_generic_to_global(global)), "l"(policy));
  return v;
#else
  static_cast<void>(policy);
  return *global;
#endif
}
__device__ __forceinline__ int4 load_with(std::uint64_t policy, const int4* global) {
#if defined(__CUDACC__)
  int4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.s32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(global)), "l"(policy));
  return v;
#else
  static_cast<void>(policy);
  return *global;
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
