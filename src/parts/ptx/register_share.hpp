#pragma once
// setmaxnreg (PTX ISA): a warpgroup gives registers back, or takes some that others gave. Each of
// its four warps calls it, with a multiple of 8 from 24 to 256. The kernel's __launch_bounds__ must
// name the number of threads and 1 block. On the CPU side it does nothing.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

template <int registers>
__device__ __forceinline__ void give_registers() {
  static_assert(registers % 8 == 0 && registers >= 24 && registers <= 256);
#if defined(__CUDACC__)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

template <int registers>
__device__ __forceinline__ void take_registers() {
  static_assert(registers % 8 == 0 && registers >= 24 && registers <= 256);
#if defined(__CUDACC__)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
