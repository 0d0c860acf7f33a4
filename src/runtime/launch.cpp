// Launches on a GPU: no heap, no lock, no exception.

#include <cuda_runtime_api.h>

#include <atomic>

#include "runtime/stream.hpp"

namespace warpladder::runtime {
namespace {

// A launch that needs more than every kernel may have: dynamic shared memory beyond 48 KiB,
// clusters of more than 8 blocks.
struct Unusual {
  static constexpr int kBytesUnasked = 48 << 10;
  static constexpr unsigned kClusterUnasked = 8;
  int word = 0;  // 2 · bytes + (more than 8 blocks ? 1 : 0)

  static Unusual of(const LaunchConfig& config) {
    const auto bytes = static_cast<int>(config.dynamic_shared_bytes);
    return {2 * (bytes > kBytesUnasked ? bytes : 0) + (config.cluster > kClusterUnasked)};
  }
  int bytes() const { return word / 2; }
  bool large_clusters() const { return word % 2 == 1; }
  bool covers(Unusual other) const {
    return bytes() >= other.bytes() && large_clusters() >= other.large_clusters();
  }
  Unusual with(Unusual other) const {
    return {2 * (bytes() > other.bytes() ? bytes() : other.bytes()) +
            (large_clusters() || other.large_clusters())};
  }
};

// What CUDA has been asked to allow, for each kernel on each device. Asking costs a microsecond, so
// it is done once. A slot is claimed by the kernel's address and never given up; where the table is
// full, CUDA is asked at each launch.
class Allowed {
 public:
  cudaError_t allow(const void* kernel, Unusual wanted) noexcept {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device)) return error;
    std::atomic<int>* const allowed = find(kernel, device);
    Unusual known{allowed ? allowed->load(std::memory_order_acquire) : 0};
    if (known.covers(wanted)) return cudaSuccess;
    // CUDA keeps what was asked for last: never ask for less than before. Whoever was overtaken by
    // another thread asks once more.
    for (;;) {
      const Unusual all = known.with(wanted);
      if (const cudaError_t error = ask(kernel, all)) return error;
      if (!allowed || allowed->compare_exchange_strong(known.word, all.word)) return cudaSuccess;
    }
  }

 private:
  static cudaError_t ask(const void* kernel, Unusual wanted) noexcept {
    if (wanted.bytes() > 0) {
      if (const cudaError_t error = cudaFuncSetAttribute(
              kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted.bytes())) {
        return error;
      }
    }
    if (!wanted.large_clusters()) return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }

  static constexpr int kSlots = 1024, kDevices = 16;
  struct Slot {
    std::atomic<const void*> kernel{nullptr};
    std::atomic<int> allowed[kDevices]{};
  };

  std::atomic<int>* find(const void* kernel, int device) noexcept {
    if (device >= kDevices) return nullptr;
    const auto hash = reinterpret_cast<std::uintptr_t>(kernel) >> 4;
    for (int probe = 0; probe < kSlots; ++probe) {
      Slot& slot = slots_[(hash + static_cast<std::uintptr_t>(probe)) % kSlots];
      const void* owner = slot.kernel.load(std::memory_order_acquire);
      if (!owner && slot.kernel.compare_exchange_strong(owner, kernel)) owner = kernel;
      if (owner == kernel) return &slot.allowed[device];
    }
    return nullptr;
  }

  Slot slots_[kSlots];
};
constinit Allowed allowed;

}  // namespace

void gpu_launch(StreamView& stream, const void* kernel, const LaunchConfig& config,
                void** arguments) noexcept {
  if (stream.error) return;
  const auto& [grid, block, dynamic_shared_bytes, cluster, overlaps_previous] = config;
  if (stream.target != Target::gpu) {
    stream.error = cudaErrorInvalidDeviceFunction;
    return;
  }
  if (const Unusual wanted = Unusual::of(config); wanted.word > 0) {
    stream.error = allowed.allow(kernel, wanted);
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
