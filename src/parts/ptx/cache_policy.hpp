#pragma once
// Loads that tell the L2 cache what to keep (PTX ISA, "createpolicy" and "ld"), one instruction a
// function. A hint changes what is kept, never what is read: on the CPU side, and on GPUs before
// Ampere, these are plain loads.

#include <type_traits>

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// createpolicy.fractional.L2::evict_first. What is loaded with it is the first to go when L2 needs
// room. So a stream that is read once leaves in peace what is read often.
__device__ __forceinline__ std::uint64_t evict_first() {
#if __CUDA_ARCH__ >= 800
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
#if __CUDA_ARCH__ >= 800
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
#else
  return 0;
#endif
}

#if __CUDA_ARCH__ >= 800
// asm statements of the loads below, for `v`, `global`, `policy` and, behind a predicate, `wanted`.
#define WARPLADDER_LOAD(load, v_is)  \
  asm volatile(load " %0, [%1], %2;" \
               : "=" v_is(v)         \
               : "l"(__cvta_generic_to_global(global)), "l"(policy))
#define WARPLADDER_LOAD_IF(load, v_is)                                                         \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t@p " load " %0, [%1], %2;\n\t}" \
               : "+" v_is(v)                                                                   \
               : "l"(__cvta_generic_to_global(global)), "l"(policy),                           \
                 "r"(static_cast<int>(wanted)))
#endif

// ld.global.L1::no_allocate.L2::cache_hint, of a float or an int.
template <class T>
__device__ __forceinline__ T load_with([[maybe_unused]] std::uint64_t policy, const T* global) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, int>);
#if __CUDA_ARCH__ >= 800
  T v;
  if constexpr (std::is_same_v<T, float>) {
    WARPLADDER_LOAD("ld.global.L1::no_allocate.L2::cache_hint.f32", "f");
  } else {
    WARPLADDER_LOAD("ld.global.L1::no_allocate.L2::cache_hint.s32", "r");
  }
  return v;
#else
  return *global;
#endif
}

// The same behind a predicate, without a branch; 0 where it does not hold.
template <class T>
__device__ __forceinline__ T load_with([[maybe_unused]] std::uint64_t policy, const T* global,
                                       bool wanted) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, int>);
#if __CUDA_ARCH__ >= 800
  T v = 0;
  if constexpr (std::is_same_v<T, float>) {
    WARPLADDER_LOAD_IF("ld.global.L1::no_allocate.L2::cache_hint.f32", "f");
  } else {
    WARPLADDER_LOAD_IF("ld.global.L1::no_allocate.L2::cache_hint.s32", "r");
  }
  return v;
#else
  return wanted ? *global : T(0);
#endif
}

// ld.global.nc.L2::cache_hint behind a predicate: L1 keeps what comes. Nobody may write what is
// read while the kernel runs.
__device__ __forceinline__ float load_kept_with([[maybe_unused]] std::uint64_t policy,
                                                const float* global, bool wanted) {
#if __CUDA_ARCH__ >= 800
  float v = 0.0f;
  WARPLADDER_LOAD_IF("ld.global.nc.L2::cache_hint.f32", "f");
  return v;
#else
  return wanted ? *global : 0.0f;
#endif
}

#undef WARPLADDER_LOAD
#undef WARPLADDER_LOAD_IF

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
