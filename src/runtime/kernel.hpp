#pragma once
// All that a kernel's source needs of the runtime. That is CUDA C++ itself (nvcc's, or the
// executor's meaning of it), launch(), and the few words that the two compilers spell differently.

#if defined(__CUDACC_RTC__)  // compiled at run time, where nothing is launched
#include "runtime/run_time_names.hpp"
#else
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#else
#include "executor/cuda_language.hpp"
#endif
#include "runtime/launch.hpp"
#endif

// In front of a loop with a constant trip count: unroll it whole. GCC ignores `#pragma unroll`.
// _ON_GPU: where it goes over an array of registers. For these the CPU side has memory in any case,
// and a long loop would only be slow to compile.
// _LOADS: where it only brings loads forward. The plain flavour has no need of it. A CPU fetches
// ahead for one load that walks down a column, but not for eight that take turns.
// In front of any other: unroll it n times; or not at all, so that a short kernel is a short code
// to fetch.
// WARPLADDER_INLINE_ON_GPU stands for __forceinline__ before a function that many kernels call with
// arrays of registers. g++ shall compile it once for them all (DECISIONS 109). WARPLADDER_ROLLED:
// quick builds leave the plain flavour's loops as they are, and compile sooner.
#define WARPLADDER_TEXT(...) #__VA_ARGS__
#if defined(__CUDACC__)
#define WARPLADDER_UNROLL _Pragma("unroll")
#define WARPLADDER_UNROLL_BY(n) _Pragma(WARPLADDER_TEXT(unroll n))
#define WARPLADDER_UNROLL_ON_GPU WARPLADDER_UNROLL
#define WARPLADDER_UNROLL_LOADS WARPLADDER_UNROLL
#define WARPLADDER_NO_UNROLL _Pragma("unroll 1")
#define WARPLADDER_INLINE_ON_GPU __forceinline__
#else
#if defined(WARPLADDER_ROLLED)
#define WARPLADDER_UNROLL
#define WARPLADDER_UNROLL_BY(n)
#else
#define WARPLADDER_UNROLL _Pragma("GCC unroll 128")
#define WARPLADDER_UNROLL_BY(n) _Pragma(WARPLADDER_TEXT(GCC unroll n))
#endif
#define WARPLADDER_UNROLL_ON_GPU
#define WARPLADDER_IS_plain 1
#define WARPLADDER_IS_JOINED(flavour) WARPLADDER_IS_##flavour
#define WARPLADDER_IS(flavour) WARPLADDER_IS_JOINED(flavour)
#if WARPLADDER_IS(WARPLADDER_FLAVOUR)
#define WARPLADDER_UNROLL_LOADS
#else
#define WARPLADDER_UNROLL_LOADS WARPLADDER_UNROLL
#endif
#define WARPLADDER_NO_UNROLL _Pragma("GCC unroll 1")
#define WARPLADDER_INLINE_ON_GPU inline __attribute__((noinline))
#endif

namespace warpladder::runtime {
inline namespace WARPLADDER_FLAVOUR {

// The block's dynamic shared memory, aligned to 1,024 bytes. One array serves the whole project.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(1024) unsigned char warpladder_dynamic_shared[];
  return reinterpret_cast<T*>(warpladder_dynamic_shared);
#else
  return reinterpret_cast<T*>(simt_dynamic_shared());
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::runtime
