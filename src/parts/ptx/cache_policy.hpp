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
  // volatile: made anew at each use, rather than kept in registers
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
#else
  return 0;
#endif
}

// createpolicy.fractional.L2::evict_last. What is loaded with it stays as long as L2 has anything
// else to give up.
__device__ __forceinline__ std::uint64_t evict_last() {
#if defined(__CUDACC__)
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
#else
  return 0;
#endif
}

// ld.global.L1::no_allocate.L2::cache_hint.
__device__ __forceinline__ float load_with(std::uint64_t policy, const float* global) {
#if defined(__CUDACC__)
  float v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;"
               : "=f"(v)
               : "l"(__cvta_generic_to_global(global)), "l"(policy));
  return v;
#else
  static_cast<void>(policy);
  return *global;
#endif
}
__device__ __forceinline__ int load_with(std::uint64_t policy, const int* global) {
#if defined(__CUDACC__)
  int v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;"
               : "=r"(v)
               : "l"(__cvta_generic_to_global(global)), "l"(policy));
  return v;
#else
  static_cast<void>(policy);
  return *global;
#endif
}

// The same behind a predicate, without a branch; 0 where it does not hold.
__device__ __forceinline__ float load_with(std::uint64_t policy, const float* global, bool wanted) {
#if defined(__CUDACC__)
  float v = 0.0f;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
      "@p ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;\n\t}"
      : "+f"(v)
      : "l"(__cvta_generic_to_global(global)), "l"(policy), "r"(static_cast<int>(wanted)));
  return v;
#else
  static_cast<void>(policy);
  return wanted ? *global : 0.0f;
#endif
}
__device__ __forceinline__ int load_with(std::uint64_t policy, const int* global, bool wanted) {
#if defined(__CUDACC__)
  int v = 0;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
      "@p ld.global.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;\n\t}"
      : "+r"(v)
      : "l"(__cvta_generic_to_global(global)), "l"(policy), "r"(static_cast<int>(wanted)));
  return v;
#else
  static_cast<void>(policy);
  return wanted ? *global : 0;
#endif
}

// ld.global.nc.L2::cache_hint behind a predicate: L1 keeps what comes. Nobody may write what is
// read while the kernel runs.
__device__ __forceinline__ float load_kept_with(std::uint64_t policy, const float* global,
                                                bool wanted) {
#if defined(__CUDACC__)
  float v = 0.0f;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
      "@p ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;\n\t}"
      : "+f"(v)
      : "l"(__cvta_generic_to_global(global)), "l"(policy), "r"(static_cast<int>(wanted)));
  return v;
#else
  static_cast<void>(policy);
  return wanted ? *global : 0.0f;
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
