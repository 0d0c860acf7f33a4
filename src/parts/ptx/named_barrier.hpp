#pragma once
// Barriers of some of a block's warps (PTX ISA, "barrier"). A block has sixteen; 0 is
// __syncthreads's.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// barrier.sync: until `threads` threads have come, whole warps of them; what they wrote to memory
// before is there for all of them after. The lanes of a warp need not come together.
template <int id, int threads>
__device__ __forceinline__ void named_barrier() {
  static_assert(id > 0 && id < 16 && threads % 32 == 0);
#if defined(__CUDACC__)
  asm volatile("barrier.sync %0, %1;" ::"n"(id), "n"(threads) : "memory");
#else
  simt_named_barrier(id, threads);
#endif
}

// bar.sync: the same for warps whose lanes come together, as they do behind __syncwarp(). ptxas
// then knows that they are together, and may keep in uniform registers what all of them share.
template <int threads>
__device__ __forceinline__ void named_barrier_together(int id) {
  static_assert(threads % 32 == 0);
#if defined(__CUDACC__)
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(threads) : "memory");
#else
  simt_named_barrier(id, threads);
#endif
}
template <int id, int threads>
__device__ __forceinline__ void named_barrier_together() {
  static_assert(id > 0 && id < 16);
  named_barrier_together<threads>(id);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
