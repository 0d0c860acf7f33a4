#pragma once
// The library on the caller's device and stream, with workspaces from PyTorch's caching allocator.

#include "tensors.hpp"

namespace warpladder::torch_binding {

// A handle for a tensor's device, and PyTorch's current stream on it. The device is current until
// the object goes, because the allocator serves the current device's stream.
class Gpu {
 public:
  Gpu(const char* op, const View& view);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  warpladder_handle handle;
  warpladder_stream stream;

 private:
  DeviceGuardHandle guard_ = nullptr;  // null where the device was current before
};

// PyTorch's current stream on a CUDA device.
warpladder_stream current_stream(std::int32_t device) noexcept;

// Throws with the library's sentence unless the call succeeded.
void check(const char* op, warpladder_status status);

// Functions of libtorch_cuda. They are looked up, so that a PyTorch without CUDA loads the binding.
template <class Function>
Function* cuda_function(const char* name);
void* find_cuda_function(const char* name);  // null: this PyTorch has none
template <class Function>
Function* cuda_function(const char* name) {
  return reinterpret_cast<Function*>(find_cuda_function(name));
}

// Why the library does not run on this device; null where it does.
const char* why_unsupported(std::int32_t device);

}  // namespace warpladder::torch_binding
