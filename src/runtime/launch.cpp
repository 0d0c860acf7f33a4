// Launches on a GPU: no heap, no lock, no exception.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <tuple>

#include "runtime/driver.hpp"
#include "runtime/stream.hpp"

namespace warpladder::runtime {
namespace {

// A launch that needs what a kernel may not have unasked. That is dynamic shared memory, which with
// the static one may pass 48 KiB, or clusters of more than 8 blocks.
struct Unusual {
  static constexpr unsigned kClusterUnasked = 8;
  int word = 0;  // 2 · bytes + (more than 8 blocks ? 1 : 0)

  static Unusual of(const LaunchConfig& config) {
    return {2 * static_cast<int>(config.dynamic_shared_bytes) + (config.cluster > kClusterUnasked)};
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

// What is known of a kernel. A slot is claimed by the kernel's address and never given up.
struct KnownKernel {
  static constexpr int kDevices = 16;
  std::atomic<const void*> kernel{nullptr};
  std::atomic<int> allowed[kDevices]{};       // an Unusual, for each device
  std::atomic<CUfunction> function{nullptr};  // the driver's handle of it, once asked for
};

class KnownKernels {
 public:
  // Null where the table is full.
  KnownKernel* find(const void* kernel) noexcept {
    const auto hash = reinterpret_cast<std::uintptr_t>(kernel) >> 4;
    for (int probe = 0; probe < kSlots; ++probe) {
      KnownKernel& slot = slots_[(hash + static_cast<std::uintptr_t>(probe)) % kSlots];
      const void* owner = slot.kernel.load(std::memory_order_acquire);
      if (!owner && slot.kernel.compare_exchange_strong(owner, kernel)) owner = kernel;
      if (owner == kernel) return &slot;
    }
    return nullptr;
  }

 private:
  static constexpr int kSlots = 1024;
  KnownKernel slots_[kSlots];
};
constinit KnownKernels known_kernels;

// ---- what CUDA has been asked to allow

cudaError_t ask(const void* kernel, Unusual wanted) noexcept {
  if (wanted.bytes() > 0) {
    if (const cudaError_t error = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted.bytes())) {
      return error;
    }
  }
  if (!wanted.large_clusters()) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

// Asking costs a microsecond, so it is done once; at each launch where the kernel has no slot.
cudaError_t allow(const void* kernel, KnownKernel* slot, Unusual wanted) noexcept {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  std::atomic<int>* const allowed =
      slot && device < KnownKernel::kDevices ? &slot->allowed[device] : nullptr;
  Unusual known{allowed ? allowed->load(std::memory_order_acquire) : 0};
  if (known.covers(wanted)) return cudaSuccess;
  // CUDA keeps what was asked for last: never ask for less than before. A thread that another
  // one has overtaken asks once more.
  for (;;) {
    const Unusual all = known.with(wanted);
    if (const cudaError_t error = ask(kernel, all)) return error;
    if (!allowed || allowed->compare_exchange_strong(known.word, all.word)) return cudaSuccess;
  }
}

// ---- the launch; the runtime's attributes and the driver's differ in their types alone

cudaLaunchAttributeValue& value_of(cudaLaunchAttribute& attribute) { return attribute.val; }
CUlaunchAttributeValue& value_of(CUlaunchAttribute& attribute) { return attribute.value; }

template <class Attribute>
unsigned describe(const LaunchConfig& config, const Machine& machine,
                  Attribute (&attributes)[2]) noexcept {
  using Id = decltype(Attribute::id);
  unsigned count = 0;
  if (config.cluster > 1) {
    Attribute& attribute = attributes[count++];
    attribute.id = static_cast<Id>(cudaLaunchAttributeClusterDimension);
    value_of(attribute).clusterDim = {config.cluster, 1, 1};
  }
  if (config.overlaps_previous && machine.capability >= 90) {
    Attribute& attribute = attributes[count++];
    attribute.id = static_cast<Id>(cudaLaunchAttributeProgrammaticStreamSerialization);
    value_of(attribute).programmaticStreamSerializationAllowed = 1;
  }
  return count;
}

cudaError_t launch(const StreamView& stream, const void* kernel, const LaunchConfig& config,
                   void** arguments) noexcept {
  const auto& [grid, block] = std::tie(config.grid, config.block);
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t launch_config = {};
  launch_config.gridDim = dim3(grid.x, grid.y, grid.z);
  launch_config.blockDim = dim3(block.x, block.y, block.z);
  launch_config.dynamicSmemBytes = config.dynamic_shared_bytes;
  launch_config.stream = static_cast<cudaStream_t>(stream.native);
  launch_config.attrs = attributes;
  launch_config.numAttrs = describe(config, *stream.machine, attributes);
  return cudaLaunchKernelExC(&launch_config, kernel, arguments);
}

// The driver's handle of a kernel, which serves in every context. Null where it has none: a kernel
// that was compiled at run time.
CUfunction function_of(const void* kernel, KnownKernel& slot) noexcept {
  CUfunction function = slot.function.load(std::memory_order_acquire);
  if (function) return function;
  cudaKernel_t found = nullptr;
  if (cudaGetKernel(&found, kernel) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  function = reinterpret_cast<CUfunction>(found);
  slot.function.store(function, std::memory_order_release);
  return function;
}

// Launches without CUDA's runtime, which would see to the context once more. False where there is
// no such way; else `error` has CUDA's answer, for the driver's errors have the numbers of the
// runtime's.
bool launch_in_current_context(const StreamView& stream, const void* kernel, KnownKernel& slot,
                               const LaunchConfig& config, void** arguments, int& error) noexcept {
  static const auto launch_of_driver = [] {
    int missing = 0;
    return driver_function<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx", missing);
  }();
  const CUfunction function = launch_of_driver ? function_of(kernel, slot) : nullptr;
  if (!function) return false;
  CUlaunchAttribute attributes[2];
  const auto& [grid, block] = std::tie(config.grid, config.block);
  const CUlaunchConfig launch_config = {
      .gridDimX = grid.x,
      .gridDimY = grid.y,
      .gridDimZ = grid.z,
      .blockDimX = block.x,
      .blockDimY = block.y,
      .blockDimZ = block.z,
      .sharedMemBytes = static_cast<unsigned>(config.dynamic_shared_bytes),
      .hStream = static_cast<CUstream>(stream.native),
      .attrs = attributes,
      .numAttrs = describe(config, *stream.machine, attributes)};
  const CUresult result = launch_of_driver(&launch_config, function, arguments, nullptr);
  // This thread has used CUDA's runtime alone, and not yet: the runtime makes the context.
  if (result == CUDA_ERROR_INVALID_CONTEXT) return false;
  error = static_cast<int>(result);
  return true;
}

}  // namespace

void gpu_launch(StreamView& stream, const void* kernel, const LaunchConfig& config,
                void** arguments) noexcept {
  if (stream.error) return;
  if (stream.target != Target::gpu) {
    stream.error = cudaErrorInvalidDeviceFunction;
    return;
  }
  const Unusual wanted = Unusual::of(config);
  const bool needs_slot = wanted.word > 0 || stream.is_context_current;
  KnownKernel* const slot = needs_slot ? known_kernels.find(kernel) : nullptr;
  if (wanted.word > 0) {
    stream.error = allow(kernel, slot, wanted);
    if (stream.error) return;
  }
  if (stream.is_context_current && slot &&
      launch_in_current_context(stream, kernel, *slot, config, arguments, stream.error)) {
    return;
  }
  stream.error = launch(stream, kernel, config, arguments);
}

}  // namespace warpladder::runtime
