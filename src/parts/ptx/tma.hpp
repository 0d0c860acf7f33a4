#pragma once
// The copy engine (PTX ISA, "cp.async.bulk.tensor"): one thread asks for a box of a matrix, the
// engine brings it. What lies where is in device/tensor_map.hpp.
//
// On the CPU side a box moves when someone waits for its barrier and not before. So a kernel that
// reads without waiting reads what was there before. Compute capability 9.0 has the engine; before
// it no fence for the engine is needed.

#include "parts/ptx/mbarrier.hpp"
#include "runtime/kernel.hpp"
#include "runtime/tensor_map.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// cp.async.bulk.tensor.2d.shared::cluster.global. The box whose first element is (row, column)
// comes to `shared`, a multiple of 1,024 bytes. The column's bytes are a multiple of 16; an H200
// takes no other. The box's bytes, those outside of the matrix included, count for `full`. Called
// by one thread.
__device__ __forceinline__ void tma_load(void* shared, const runtime::TensorMap& map, Barrier* full,
                                         int row, int column) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(full)), "r"(column), "r"(row)
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_tma_load(shared, &map, full, row, column, 0);
#endif
}

// The same with .multicast::cluster: to the same place in each block of the cluster whose bit is
// set in `ranks`. It counts for the barrier at the same place there.
__device__ __forceinline__ void tma_load_multicast(void* shared, const runtime::TensorMap& map,
                                                   Barrier* full, int row, int column,
                                                   unsigned ranks) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(full)), "r"(column), "r"(row),
      "h"(static_cast<unsigned short>(ranks))
      : "memory");
#elif defined(__CUDACC__)
  no_such_instruction();
#else
  simt_tma_load(shared, &map, full, row, column, ranks);
#endif
}

// prefetch.tensormap: fetches the map itself, which the first copy would otherwise wait for.
__device__ __forceinline__ void prefetch_map(const runtime::TensorMap& map) {
#if __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#else
  static_cast<void>(map);
#endif
}

// fence.proxy.async: what this thread has stored in memory of either kind is there for the copy
// engine and the tensor cores. So is what others have stored, if this thread has seen that they
// have. A barrier between this thread and the one that starts them must follow.
__device__ __forceinline__ void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

// The same of this block's shared memory alone: it does not wait for what is on its way to memory.
__device__ __forceinline__ void fence_async_proxy_of_shared() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
