#pragma once
// mbarriers (PTX ISA, "mbarrier"): a 64-bit word in shared memory that counts arrivals and bytes.
// A phase ends when as many arrivals have come as the barrier was made for, and all bytes that were
// announced have landed. Then the next begins with the same number of arrivals. Phases have the
// parities 0, 1, 0, ... A thread waits for the end of "the phase of parity p". That is over at once
// if the barrier is in the phase after it: a first wait for parity 1 does not wait.
//
// Whatever was done before an arrival, and whatever the copy engine wrote, is visible to who has
// waited for the phase. Arrivals and waits here order within the block (arrive_at(): the cluster).
//
// Compute capability 8.0 has barriers for ordinary arrivals; bytes and clusters came with 9.0.

#include "parts/ptx/absent.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

using Barrier = std::uint64_t;

// The address of shared memory as the instructions below take it.
__device__ __forceinline__ unsigned shared_address(const void* shared) {
#if defined(__CUDACC__)
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
#else
  return simt_shared_address(shared);
#endif
}

// mbarrier.init. Called by one thread, before fence_barrier_init() and a barrier of all users.
__device__ __forceinline__ void barrier_init(Barrier* barrier, unsigned arrivals) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mbarrier_init(barrier, arrivals);
#endif
}

// fence.mbarrier_init and fence.proxy.async: makes barriers known to the cluster and to the copy
// engine. Called by the thread that made them. Before 9.0 there is neither.
__device__ __forceinline__ void fence_barrier_init() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                   : "memory");
#endif
}

// mbarrier.arrive.expect_tx: one arrival, and the phase also waits for so many more bytes.
__device__ __forceinline__ void arrive_expecting(Barrier* barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mbarrier_arrive(barrier, bytes);
#endif
}

// mbarrier.arrive.
__device__ __forceinline__ void arrive(Barrier* barrier) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mbarrier_arrive(barrier, 0);
#endif
}

// mapa and mbarrier.arrive: arrives at the barrier that lies at the same place in the shared memory
// of block `rank` of the cluster.
__device__ __forceinline__ void arrive_at(Barrier* barrier, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .b32 there;\n\t"
      "mapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mbarrier_arrive_at(barrier, rank);
#endif
}

// mbarrier.try_wait.parity, until the phase of this parity has ended; before 9.0 test_wait, which
// never sleeps.
__device__ __forceinline__ void wait(Barrier* barrier, unsigned parity) {
#if __CUDA_ARCH__ >= 900
#define WARPLADDER_WAIT "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n\t"
#else
#define WARPLADDER_WAIT "mbarrier.test_wait.parity.shared::cta.b64 over, [%0], %1;\n\t"
#endif
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{\n\t.reg .pred over;\n\t"
      "again:\n\t" WARPLADDER_WAIT "@!over bra again;\n\t}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_mbarrier_wait(barrier, parity);
#endif
#undef WARPLADDER_WAIT
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
