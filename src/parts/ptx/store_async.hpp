#pragma once
// st.async (PTX ISA): stores to another block's shared memory that count at an mbarrier there. So
// nobody needs a barrier of the cluster to know that they have landed.

#include "parts/ptx/mbarrier.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// st.async.mbarrier::complete_tx::bytes.v4: 16 bytes to `there`, which count at `full` of the same
// block when they have landed; both come from in_block(). That block has begun, and made its
// barrier, and ends no earlier than it has waited for them. In a launch without clusters the chip
// takes it for an illegal instruction, even to the block itself.
__device__ __forceinline__ void store_async(float4* there, Barrier* full, const float4& value) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %3, %4, %5}, "
      "[%1];" ::"r"(shared_address(there)),
      "r"(shared_address(full)), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_store_async16(there, full, &value);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
