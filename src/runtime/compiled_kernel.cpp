#include "runtime/compiled_kernel.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>

#include "runtime/compile.hpp"

namespace warpladder::runtime {
namespace {

// A loaded kernel. CUDA loads it for each device that it is launched on.
struct Loaded {
  std::string source, kernel;
  int capability;
  const void* ready;
  Loaded* next;
};

// Found by hash; a list is only ever added to, at its front.
constexpr std::size_t kLists = 256;
constinit std::atomic<Loaded*> lists[kLists];
std::mutex adding;

std::size_t list_of(std::string_view source, std::string_view kernel) {
  std::size_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::string_view part : {source, kernel}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return (hash ^ hash >> 32) % kLists;
}

const Loaded* find(const std::atomic<Loaded*>& list, std::string_view source,
                   std::string_view kernel, int capability) {
  for (const Loaded* at = list.load(std::memory_order_acquire); at; at = at->next) {
    if (at->capability == capability && at->kernel == kernel && at->source == source) return at;
  }
  return nullptr;
}

Status cuda_refuses(cudaError_t error, const char* what) {
  cudaGetLastError();
  return refuse(Code::cuda_error, "%s of a kernel compiled at run time failed: %s", what,
                cudaGetErrorString(error));
}

// 10 · major + minor of the current device; of each device CUDA is asked once.
Status capability_of_device(int* capability) {
  constexpr int kDevices = 64;
  static constinit std::atomic<int> known[kDevices];
  int device = 0, major = 0, minor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error && device < kDevices) *capability = known[device].load(std::memory_order_relaxed);
  if (!error && *capability) return {};
  if (!error) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (!error) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (error) return cuda_refuses(error, "finding the device");
  *capability = 10 * major + minor;
  if (device < kDevices) known[device].store(*capability, std::memory_order_relaxed);
  return {};
}

Status load(const std::string& code, const void** ready) {
  cudaLibrary_t library = nullptr;
  if (const auto error =
          cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0)) {
    return cuda_refuses(error, "loading");
  }
  cudaKernel_t kernel = nullptr;  // the only one
  cudaError_t error = cudaLibraryEnumerateKernels(&kernel, 1, library);
  // A launch would load it, which a capture must not.
  cudaFuncAttributes attributes;
  if (!error) error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
  if (error) {
    cudaLibraryUnload(library);
    return cuda_refuses(error, "finding the entry");
  }
  *ready = reinterpret_cast<const void*>(kernel);
  return {};
}

Status add(std::string_view source, std::string_view kernel, int capability,
           std::atomic<Loaded*>& list, const void** ready) {
  const std::lock_guard lock(adding);
  if (const Loaded* loaded = find(list, source, kernel, capability)) {
    *ready = loaded->ready;
    return {};
  }
  int driver = 0;
  if (const auto error = cudaDriverGetVersion(&driver)) {
    return cuda_refuses(error, "finding the driver");
  }
  const KernelText text{std::string(source), std::string(kernel)};
  CompiledCode compiled;
  if (const Status s =
          compile(text, capability, driver, nvrtc(), CodeCache(cache_folder()), &compiled);
      !s.ok()) {
    return s;
  }
  if (const Status s = load(compiled.code, ready); !s.ok()) return s;
  list.store(new Loaded{text.source, text.kernel, capability, *ready, list.load()},
             std::memory_order_release);
  return {};
}

}  // namespace

Status compiled_kernel(std::string_view source, std::string_view kernel, bool may_compile,
                       const void** ready) noexcept try {
  int capability = 0;
  if (const Status s = capability_of_device(&capability); !s.ok()) return s;
  std::atomic<Loaded*>& list = lists[list_of(source, kernel)];
  if (const Loaded* loaded = find(list, source, kernel, capability)) {
    *ready = loaded->ready;
    return {};
  }
  if (!may_compile) {
    return refuse(Code::capturing, "the stream is capturing, but a kernel is to be compiled first");
  }
  return add(source, kernel, capability, list, ready);
} catch (const std::bad_alloc&) {
  return refuse(Code::out_of_memory, "the host has no memory left to compile a kernel");
} catch (...) {
  return refuse(Code::cuda_error, "compiling a kernel failed");
}

}  // namespace warpladder::runtime
