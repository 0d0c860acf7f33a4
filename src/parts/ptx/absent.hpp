#pragma once
// What stands for an instruction on GPUs that do not have it. Kernels compile for them all the
// same; a rung's `needs` keeps them from being launched there.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

#if defined(__CUDACC__)
// trap: ends the kernel with an error.
__device__ __forceinline__ void no_such_instruction() { asm volatile("trap;"); }
#endif

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
