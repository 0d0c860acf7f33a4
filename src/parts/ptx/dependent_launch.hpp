#pragma once
// Programmatic dependent launch (PTX ISA, "griddepcontrol"): a kernel launched with
// LaunchShape::overlaps_previous may start while the one in front of it still runs. On the CPU side
// kernels run one after the other, and these do nothing. Nor do they on GPUs before Hopper, where
// kernels of a stream never overlap.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// griddepcontrol.launch_dependents: the next kernel may start as soon as all blocks have called
// this or ended.
__device__ __forceinline__ void allow_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// griddepcontrol.wait: until the kernels in front have ended and what they wrote is there.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
