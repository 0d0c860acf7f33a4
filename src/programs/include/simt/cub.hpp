#pragma once
// A subset of cub: collectives of warps and blocks run, and are counted, as kernels; algorithms
// over device memory run as one thread.

#include "simt/cub/block_items.hpp"
#include "simt/cub/device_sort.hpp"

namespace cub {
struct CachingDeviceAllocator {
  CachingDeviceAllocator(bool = false, bool = false) {}
  template <class T>
  cudaError_t DeviceAllocate(T** pointer, std::size_t bytes, cudaStream_t = nullptr) {
    return program_allocate((void**)pointer, bytes, simt::kDevice);
  }
  cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
};
}  // namespace cub
#define CubDebugExit(call)              \
  do {                                  \
    if ((call) != cudaSuccess) exit(1); \
  } while (0)
#define CubDebug(call) (call)
