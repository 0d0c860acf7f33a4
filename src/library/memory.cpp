// Device memory for programs that have no CUDA runtime of their own.

#include "library/call.hpp"
#include "library/operands.hpp"

namespace warpladder::library {
namespace {

// Runs work() on the handle's device, behind everything that the device still does.
template <class Check, class Work>
warpladder_status on_device(warpladder_handle handle, const Check& check, const Work& work) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (const Status checked = check(); !checked.ok()) return answer(checked);
  const DeviceScope scope(*context);
  if (!scope.status.ok()) return answer(scope.status);
  if (const auto error = cudaDeviceSynchronize()) {
    return answer(cuda_failure(error, "a kernel before"));
  }
  return answer(work());
}

warpladder_status copy(warpladder_handle handle, const char* name, const char* to_name, void* to,
                       const char* from_name, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind) {
  const auto check = [&]() -> Status {
    const std::int64_t used = bytes > 0 ? 1 : 0;
    if (Status s = check_pointer(name, to_name, to, used, 1); !s.ok()) return s;
    return check_pointer(name, from_name, from, used, 1);
  };
  return on_device(handle, check, [&]() -> Status {
    if (bytes == 0) return {};
    if (const auto error = cudaMemcpy(to, from, bytes, kind)) return cuda_failure(error, name);
    if (const auto error = cudaDeviceSynchronize()) return cuda_failure(error, name);
    return {};
  });
}

Status nothing_to_check() { return {}; }

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_malloc(warpladder_handle handle, size_t bytes, void** out) {
  const auto check = [&]() -> Status {
    if (!out) return runtime::refuse_argument("malloc: out is null");
    *out = nullptr;
    return {};
  };
  return on_device(handle, check, [&]() -> Status {
    if (bytes == 0) return {};
    if (const auto error = cudaMalloc(out, bytes)) {
      *out = nullptr;
      return cuda_failure(error, "cudaMalloc");
    }
    return {};
  });
}

warpladder_status warpladder_free(warpladder_handle handle, void* memory) {
  return on_device(handle, nothing_to_check, [&]() -> Status {
    if (const auto error = cudaFree(memory)) return cuda_failure(error, "cudaFree");
    return {};
  });
}

warpladder_status warpladder_upload(warpladder_handle handle, void* to_device,
                                    const void* from_host, size_t bytes) {
  return copy(handle, "upload", "to_device", to_device, "from_host", from_host, bytes,
              cudaMemcpyHostToDevice);
}

warpladder_status warpladder_download(warpladder_handle handle, void* to_host,
                                      const void* from_device, size_t bytes) {
  return copy(handle, "download", "to_host", to_host, "from_device", from_device, bytes,
              cudaMemcpyDeviceToHost);
}
