#pragma once
// Thread-block clusters (PTX ISA, "barrier.cluster", "mapa"): blocks that run at the same time and
// reach each other's shared memory. LaunchShape::cluster says how many. GPUs before Hopper have no
// clusters; kernels that use them compile there and are never launched.

#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// %cluster_ctarank: the block's number in its cluster.
__device__ __forceinline__ unsigned cluster_rank() {
#if __CUDA_ARCH__ >= 900
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#elif !defined(__CUDACC__)
  return simt_cluster_rank();
#else
  return 0;
#endif
}

// barrier.cluster.arrive (.release) and .wait (.acquire), by all threads of all blocks of the
// cluster. What they wrote to any shared memory of it before is there for all after. A block that
// others still reach into must not end before they have passed one.
__device__ __forceinline__ void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#elif !defined(__CUDACC__)
  simt_cluster_barrier();
#endif
}

// The two halves of it: what is done between them is not waited for. All threads call both. A
// relaxed arrival tells only that the thread has come, and that mbarriers are there over which it
// has called fence_barrier_init(). It waits for nothing that the thread has written.
__device__ __forceinline__ void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#elif !defined(__CUDACC__)
  simt_cluster_barrier();
#endif
}

// mapa: where `shared` lies in the shared memory of block `rank` of the cluster.
template <class T>
__device__ __forceinline__ T* in_block(T* shared, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  std::uint64_t there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return reinterpret_cast<T*>(there);
#elif !defined(__CUDACC__)
  return static_cast<T*>(simt_in_block(shared, rank));
#else
  return shared;
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
