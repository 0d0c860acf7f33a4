#pragma once
// Asynchronous copies from global to shared memory (PTX ISA, "cp.async"), one instruction a
// function. Every thread copies for itself. Its copies join the open group, and commit closes the
// group. wait returns when at most `groups_left` of its own latest groups are still under way. What
// a thread waited for is visible to that thread; the others need a barrier after the wait.
//
// On the CPU side the bytes move at the wait and not before, the latest moment that PTX allows. So
// a kernel that waits for too little reads what was there before. GPUs before Ampere have no such
// copies: there the bytes move at once, by way of registers, and commit and wait do nothing.

#include "parts/ptx/mbarrier.hpp"
#include "runtime/kernel.hpp"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define WARPLADDER_HAS_CP_ASYNC 1
#else
#define WARPLADDER_HAS_CP_ASYNC 0
#endif

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// cp.async.ca (4, 8 bytes) or .cg (16 bytes, past L1). Both addresses are multiples of `bytes`.
// Copies the first `source_bytes` and fills the rest with zeros; with 0 nothing is read.
template <int bytes>
__device__ __forceinline__ void cp_async(void* shared, const void* global,
                                         int source_bytes = bytes) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async copies 4, 8 or 16 bytes");
#if defined(__CUDACC__) && !WARPLADDER_HAS_CP_ASYNC
  if (bytes == 16 && source_bytes == 16) {
    *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
    return;
  }
  auto* const to = static_cast<unsigned*>(shared);
  const auto* const from = static_cast<const unsigned*>(global);
  WARPLADDER_UNROLL
  for (int i = 0; i < bytes / 4; ++i) to[i] = 4 * i < source_bytes ? from[i] : 0;
#elif defined(__CUDACC__)
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(bytes),
                 "r"(source_bytes)
                 : "memory");
  }
#else
  const auto from_bytes = static_cast<unsigned>(source_bytes);
  if constexpr (bytes == 4) simt_cp_async4(shared, global, from_bytes);
  if constexpr (bytes == 8) simt_cp_async8(shared, global, from_bytes);
  if constexpr (bytes == 16) simt_cp_async16(shared, global, from_bytes);
#endif
}

// cp.async.commit_group. A group may be empty.
__device__ __forceinline__ void cp_async_commit() {
#if !defined(__CUDACC__)
  simt_cp_async_commit();
#elif WARPLADDER_HAS_CP_ASYNC
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// cp.async.wait_group.
template <int groups_left>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(groups_left >= 0);
#if !defined(__CUDACC__)
  simt_cp_async_wait(groups_left);
#elif WARPLADDER_HAS_CP_ASYNC
  asm volatile("cp.async.wait_group %0;" ::"n"(groups_left) : "memory");
#endif
}

// cp.async.mbarrier.arrive.noinc: an arrival at the barrier when all that this thread has asked for
// so far has landed. The barrier was told of this arrival when it was made. Who waits for the phase
// sees what was copied. On the CPU side the copies then belong to no group any more.
__device__ __forceinline__ void cp_async_arrive(Barrier* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_cp_async_arrive(barrier);
#endif
}

#undef WARPLADDER_HAS_CP_ASYNC

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
