// Launches on a GPU: no heap, no lock, no exception.

#include <cuda_runtime_api.h>

#include <atomic>

#include "runtime/stream.hpp"

namespace warpladder::runtime {
namespace {

// How much dynamic shared memory CUDA has been asked to allow, for each kernel on each device.
// Asking costs a microsecond, so it is done once. A slot is claimed by the kernel's address and
// never given up; where the table is full, CUDA is asked at each launch.
class AllowedShared {
 public:
  cudaError_t allow(const void* kernel, int bytes) noexcept {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    std::atomic<int>* const allowed = find(kernel, device);
    if (allowed && allowed->load(std::memory_order_acquire) >= bytes) return cudaSuccess;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess && allowed) {
      int known = allowed->load(std::memory_order_relaxed);
      while (known < bytes && !allowed->compare_exchange_weak(known, bytes)) {
      }
    }
    return error;
  }

 private:
  static constexpr int kSlots = 1024, kDevices = 16;
  struct Slot {
    std::atomic<const void*> kernel{nullptr};
    std::atomic<int> bytes[kDevices]{};
  };

  std::atomic<int>* find(const void* kernel, int device) noexcept {
    if (device >= kDevices) return nullptr;
    const auto hash = reinterpret_cast<std::uintptr_t>(kernel) >> 4;
    for (int probe = 0; probe < kSlots; ++probe) {
      Slot& slot = slots_[(hash + static_cast<std::uintptr_t>(probe)) % kSlots];
      const void* owner = slot.kernel.load(std::memory_order_acquire);
      if (!owner && slot.kernel.compare_exchange_strong(owner, kernel)) owner = kernel;
      if (owner == kernel) return &slot.bytes[device];
    }
    return nullptr;
  }

  Slot slots_[kSlots];
};
constinit AllowedShared allowed_shared;

}  // namespace

void gpu_launch(StreamView& stream, const void* kernel, const LaunchConfig& config,
                void** arguments) noexcept {
  if (stream.error) return;
  const auto& [grid, block, dynamic_shared_bytes, cluster, overlaps_previous] = config;
  if (stream.target != Target::gpu) {
    stream.error = cudaErrorInvalidDeviceFunction;
    return;
  }
  constexpr std::size_t kAllowedUnasked = 48 * 1024;
  if (dynamic_shared_bytes > kAllowedUnasked) {
    stream.error = allowed_shared.allow(kernel, static_cast<int>(dynamic_shared_bytes));
    if (stream.error) return;
  }
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t launch_config = {};
  launch_config.gridDim = dim3(grid.x, grid.y, grid.z);
  launch_config.blockDim = dim3(block.x, block.y, block.z);
  launch_config.dynamicSmemBytes = dynamic_shared_bytes;
  launch_config.stream = static_cast<cudaStream_t>(stream.native);
  launch_config.attrs = attributes;
  if (cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[launch_config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
  }
  if (overlaps_previous && stream.machine->capability >= 90) {
    cudaLaunchAttribute& attribute = attributes[launch_config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  stream.error = cudaLaunchKernelExC(&launch_config, kernel, arguments);
}

}  // namespace warpladder::runtime
