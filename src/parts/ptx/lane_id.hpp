#pragma once
// %laneid (PTX ISA, "Special Registers"): the thread's number within its warp, 0 to 31. A block's
// threads fall into warps in the order x, y, z.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

__device__ __forceinline__ int lane_id() {
#if defined(__CUDACC__)
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  const unsigned row = threadIdx.y + blockDim.y * threadIdx.z;
  return static_cast<int>((threadIdx.x + blockDim.x * row) % 32);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
