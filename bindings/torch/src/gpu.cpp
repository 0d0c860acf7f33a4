#include "gpu.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace warpladder::torch_binding {
namespace {

using GetStream = AOTITorchError(std::int32_t device, void** stream);
using Allocate = AOTITorchError(std::uint64_t bytes, void** memory);
using Release = AOTITorchError(void* memory);

struct CudaShim {
  GetStream* current_stream = cuda_function<GetStream>("aoti_torch_get_current_cuda_stream");
  Allocate* allocate = cuda_function<Allocate>("aoti_torch_cuda_caching_allocator_raw_alloc");
  Release* release = cuda_function<Release>("aoti_torch_cuda_caching_allocator_raw_delete");
  bool complete() const { return current_stream && allocate && release; }
};
const CudaShim& shim() {
  static const CudaShim found;
  return found;
}

// Both serve the current stream of the current device, which is the one of the call.
void* allocate(void*, std::size_t bytes, warpladder_stream) {
  void* memory = nullptr;
  return shim().allocate(bytes, &memory) == TORCH_SUCCESS ? memory : nullptr;
}
void release(void*, void* memory, std::size_t, warpladder_stream) { shim().release(memory); }

constexpr std::size_t kMostDevices = 64;
struct Device {
  std::atomic<warpladder_handle> handle{nullptr};
  std::atomic<const char*> missing{nullptr};  // why there is no handle
  std::string sentence;
};
std::array<Device, kMostDevices> devices;
std::mutex creating;

// Makes the handle of the current device. A failure is kept: it does not change.
void create(Device& device) {
  const std::lock_guard lock(creating);
  if (device.handle.load() || device.missing.load()) return;
  warpladder_handle made = nullptr;
  warpladder_status status = warpladder_create(&made);
  if (status == WARPLADDER_SUCCESS) {
    const warpladder_allocator allocator{allocate, release, nullptr};
    status = warpladder_set_allocator(made, &allocator);
  }
  if (status == WARPLADDER_SUCCESS) {
    device.handle.store(made, std::memory_order_release);
  } else {
    device.sentence = warpladder_last_error();
    device.missing.store(device.sentence.c_str(), std::memory_order_release);
  }
}

}  // namespace

void* find_cuda_function(const char* name) {
  static void* const library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

const char* why_unsupported(std::int32_t index) {
  if (!shim().complete()) return "this PyTorch has no CUDA";
  if (index < 0 || static_cast<std::size_t>(index) >= kMostDevices) return "no such CUDA device";
  Device& device = devices[static_cast<std::size_t>(index)];
  if (device.handle.load(std::memory_order_acquire)) return nullptr;
  if (!device.missing.load()) {
    const torch::stable::accelerator::DeviceGuard guard(index);
    create(device);
  }
  return device.missing.load();
}

warpladder_stream current_stream(std::int32_t device) noexcept {
  void* stream = nullptr;
  shim().current_stream(device, &stream);
  return static_cast<warpladder_stream>(stream);
}

Gpu::Gpu(const char* op, const View& view) {
  if (const char* const reason = why_unsupported(view.device)) refuse(op, reason);
  handle = devices[static_cast<std::size_t>(view.device)].handle.load(std::memory_order_acquire);
  stream = current_stream(view.device);
  std::int32_t before = view.device;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_device_index(&before));
  if (before != view.device) {
    TORCH_ERROR_CODE_CHECK(aoti_torch_create_device_guard(view.device, &guard_));
  }
}

Gpu::~Gpu() {
  if (guard_) aoti_torch_delete_device_guard(guard_);
}

void check(const char* op, warpladder_status status) {
  if (status != WARPLADDER_SUCCESS) refuse(op, warpladder_last_error());
}

}  // namespace warpladder::torch_binding
