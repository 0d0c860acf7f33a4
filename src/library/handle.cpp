// Handles, errors, and what is set once for many calls.

#include <new>

#include "library/call.hpp"

namespace warpladder::library {
namespace {

Status no_device(cudaError_t error) {
  cudaGetLastError();
  return runtime::refuse(Code::no_device, "CUDA finds no GPU: %s", cudaGetErrorString(error));
}

Status make_pool(int device, cudaMemPool_t* pool) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  if (const auto error = cudaMemPoolCreate(pool, &properties)) {
    return cuda_failure(error, "cudaMemPoolCreate");
  }
  // Memory that calls return stays in the pool: the next call takes it without asking the driver.
  std::uint64_t kept = UINT64_MAX;
  if (const auto error = cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &kept)) {
    cudaMemPoolDestroy(*pool);
    return cuda_failure(error, "cudaMemPoolSetAttribute");
  }
  return {};
}

Status create(warpladder_handle* out) {
  if (!out) return runtime::refuse_argument("create: out is null");
  *out = nullptr;
  int devices = 0, device = 0;
  if (const auto error = cudaGetDeviceCount(&devices)) return no_device(error);
  if (devices == 0) return no_device(cudaErrorNoDevice);
  if (const auto error = cudaGetDevice(&device)) return no_device(error);
  int error = 0;
  const runtime::DeviceCode code = runtime::device_code();
  const runtime::Machine machine = runtime::machine_of(device, code, &error);
  if (error) return cuda_failure(static_cast<cudaError_t>(error), "cudaDeviceGetAttribute");
  if (const int missing = code.error) {
    if (missing != cudaErrorNoKernelImageForDevice && missing != cudaErrorInvalidDeviceFunction) {
      return cuda_failure(static_cast<cudaError_t>(missing), "loading the library's GPU code");
    }
    cudaGetLastError();
    return runtime::refuse(
        Code::unsupported_device,
        "GPU %d has compute capability %d.%d, for which this build holds no code", device,
        machine.capability / 10, machine.capability % 10);
  }
  cudaMemPool_t pool = nullptr;
  if (const Status made = make_pool(device, &pool); !made.ok()) return made;
  auto* const context = new (std::nothrow) Context(device, machine, pool);
  *out = context ? enlist(context) : nullptr;
  if (*out) return {};
  if (context) {
    delete context;
  } else {
    cudaMemPoolDestroy(pool);
  }
  return runtime::refuse(Code::out_of_memory, "there is no room for another handle");
}

Status destroy(warpladder_handle handle) {
  if (!handle) return {};
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return found;
  const DeviceScope scope(*context);
  if (!scope.status.ok()) return scope.status;
  if (const auto error = cudaDeviceSynchronize()) {
    return cuda_failure(error, "a kernel before warpladder_destroy");
  }
  delete strike(handle);
  return {};
}

Status set_workspace(Session& session, CallerWorkspace workspace) {
  if (session.context.set_workspace(session.stream, workspace)) return {};
  return runtime::refuse(Code::out_of_memory, "set_workspace: the handle knows too many streams");
}

warpladder_status set_allocator(const char* name, warpladder_handle handle,
                                const warpladder_allocator* allocator,
                                warpladder_allocator Context::*which) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (allocator && (!allocator->allocate || !allocator->release)) {
    return answer(runtime::refuse_argument("%s: %s is null", name,
                                           allocator->allocate ? "release" : "allocate"));
  }
  context->*which = allocator ? *allocator : warpladder_allocator{};
  return WARPLADDER_SUCCESS;
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

const char* warpladder_status_string(warpladder_status status) {
  switch (status) {
    case WARPLADDER_SUCCESS:
      return "WARPLADDER_SUCCESS";
    case WARPLADDER_INVALID_ARGUMENT:
      return "WARPLADDER_INVALID_ARGUMENT";
    case WARPLADDER_INVALID_HANDLE:
      return "WARPLADDER_INVALID_HANDLE";
    case WARPLADDER_WORKSPACE_TOO_SMALL:
      return "WARPLADDER_WORKSPACE_TOO_SMALL";
    case WARPLADDER_OUT_OF_MEMORY:
      return "WARPLADDER_OUT_OF_MEMORY";
    case WARPLADDER_NO_DEVICE:
      return "WARPLADDER_NO_DEVICE";
    case WARPLADDER_UNSUPPORTED_DEVICE:
      return "WARPLADDER_UNSUPPORTED_DEVICE";
    case WARPLADDER_WRONG_DEVICE:
      return "WARPLADDER_WRONG_DEVICE";
    case WARPLADDER_FORKED:
      return "WARPLADDER_FORKED";
    case WARPLADDER_CUDA_ERROR:
      return "WARPLADDER_CUDA_ERROR";
    case WARPLADDER_CAPTURING:
      return "WARPLADDER_CAPTURING";
    case WARPLADDER_NO_COMPILER:
      return "WARPLADDER_NO_COMPILER";
  }
  return "an unknown warpladder_status";
}

const char* warpladder_last_error(void) { return sentence_of_last_error(); }
int warpladder_version(void) { return WARPLADDER_VERSION; }

warpladder_status warpladder_create(warpladder_handle* out) { return answer(create(out)); }
warpladder_status warpladder_destroy(warpladder_handle handle) { return answer(destroy(handle)); }

warpladder_status warpladder_set_workspace(warpladder_handle handle, warpladder_stream stream,
                                           void* workspace, size_t bytes) {
  const auto check = [&](const Context&) -> Status {
    if (stream == cudaStreamPerThread) {
      return runtime::refuse_argument(
          "set_workspace: stream is cudaStreamPerThread, another one for each thread");
    }
    if (!workspace && bytes > 0) {
      return runtime::refuse_argument("set_workspace: workspace is null, but bytes is %zu", bytes);
    }
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) {
      return runtime::refuse_argument(
          "set_workspace: workspace is %p, which is no multiple of 256 bytes", workspace);
    }
    return {};
  };
  return call(handle, stream, check, [&](Session& session) {
    return set_workspace(session, {workspace, workspace ? bytes : 0});
  });
}

warpladder_status warpladder_set_allocator(warpladder_handle handle,
                                           const warpladder_allocator* allocator) {
  return set_allocator("set_allocator", handle, allocator, &Context::allocator);
}
warpladder_status warpladder_set_capture_allocator(warpladder_handle handle,
                                                   const warpladder_allocator* allocator) {
  return set_allocator("set_capture_allocator", handle, allocator, &Context::capture_allocator);
}

warpladder_status warpladder_promise_current_device(warpladder_handle handle, int promised) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  context->is_current = promised != 0;
  return WARPLADDER_SUCCESS;
}

warpladder_status warpladder_set_arithmetic(warpladder_handle handle,
                                            warpladder_arithmetic arithmetic) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (arithmetic < WARPLADDER_ARITHMETIC_ACCURATE ||
      arithmetic > WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED) {
    return answer(runtime::refuse_argument("set_arithmetic: arithmetic is %d, which is none",
                                           static_cast<int>(arithmetic)));
  }
  context->arithmetic.store(arithmetic, std::memory_order_relaxed);
  return WARPLADDER_SUCCESS;
}
