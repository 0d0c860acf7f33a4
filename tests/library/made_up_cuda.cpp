#include "library/made_up_cuda.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "runtime/device_code.hpp"

#if !defined(WARPLADDER_MADE_UP_LAUNCHES)
#include "executor/arena.hpp"
#endif

namespace warpladder::made_up {
namespace {

std::mutex mutex;
std::vector<Device> devices{Device{}};
std::map<std::string, int> failures;
Counts counted;
std::atomic<bool> counting{true}, any_failure{false};
std::atomic<int> launches{0};
std::atomic<long long> blocks{0};
std::map<void*, std::size_t> allocations;
std::size_t live = 0;

struct Stream {
  unsigned long long id;
  int device;
  bool capturing = false;
};
std::atomic<unsigned long long> last_stream{100};
thread_local int current_device = 0;
Stream default_streams[16] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}};

Stream& stream_of(cudaStream_t stream) {
  const bool is_default = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? default_streams[current_device] : *reinterpret_cast<Stream*>(stream);
}

cudaError_t enter(const char* function) {
  if (!counting.load(std::memory_order_relaxed) && !any_failure.load(std::memory_order_relaxed)) {
    return cudaSuccess;
  }
  const std::lock_guard lock(mutex);
  if (counting) ++counted.calls[function];
  const auto failure = failures.find(function);
  if (failure == failures.end()) return cudaSuccess;
  const auto error = static_cast<cudaError_t>(failure->second);
  failures.erase(failure);
  any_failure = !failures.empty();
  return error;
}

// Memory of an allocation; the executor wants it from its own arena.
void* allocate(std::size_t bytes) {
#if defined(WARPLADDER_MADE_UP_LAUNCHES)
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
#else
  void* const memory = executor::Arena::instance().allocate(bytes);
#endif
  std::memset(memory, 0x5a, bytes);
  const std::lock_guard lock(mutex);
  allocations[memory] = bytes;
  live += bytes;
  return memory;
}
void release(void* memory) {
  if (!memory) return;
  {
    const std::lock_guard lock(mutex);
    const auto at = allocations.find(memory);
    if (at == allocations.end()) std::abort();  // freed twice, or never allocated
    live -= at->second;
    allocations.erase(at);
  }
#if defined(WARPLADDER_MADE_UP_LAUNCHES)
  std::free(memory);
#else
  executor::Arena::instance().release(memory);
#endif
}

}  // namespace

void set_devices(std::vector<Device> given) {
  const std::lock_guard lock(mutex);
  devices = std::move(given);
  current_device = 0;
}
void fail_next(const std::string& function, int error) {
  const std::lock_guard lock(mutex);
  failures[function] = error;
  any_failure = true;
}
void set_capturing(void* stream, bool capturing) {
  stream_of(static_cast<cudaStream_t>(stream)).capturing = capturing;
}
Counts counts() {
  const std::lock_guard lock(mutex);
  Counts now = counted;
  now.launches = launches;
  now.blocks = blocks;
  return now;
}
void reset_counts() {
  const std::lock_guard lock(mutex);
  failures.clear();
  any_failure = false;
  counted = {};
  launches = 0;
  blocks = 0;
}
void count_calls(bool wanted) { counting = wanted; }
std::size_t live_bytes() {
  const std::lock_guard lock(mutex);
  return live;
}

}  // namespace warpladder::made_up

using namespace warpladder::made_up;

#define ENTER(function) \
  if (const cudaError_t failure = enter(#function)) return failure

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "a made-up error";
}
cudaError_t cudaGetDeviceCount(int* count) {
  ENTER(cudaGetDeviceCount);
  *count = static_cast<int>(devices.size());
  return *count ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDevice(int* device) {
  ENTER(cudaGetDevice);
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  ENTER(cudaSetDevice);
  if (device < 0 || device >= static_cast<int>(devices.size())) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  ENTER(cudaDeviceGetAttribute);
  const warpladder::runtime::Machine& m = devices[static_cast<std::size_t>(device)].machine;
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = m.capability / 10;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = m.capability % 10;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = m.multiprocessors;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = m.shared_bytes_per_block;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = m.shared_bytes_per_multiprocessor;
      break;
    case cudaDevAttrL2CacheSize:
      *value = static_cast<int>(m.l2_bytes);
      break;
    case cudaDevAttrClockRate:
      *value = 1980000;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = 6144;
      break;
    default:
      *value = 3201000;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  ENTER(cudaDeviceSynchronize);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  ENTER(cudaMalloc);
  *memory = allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  ENTER(cudaFree);
  release(memory);
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  ENTER(cudaMemPoolCreate);
  *pool = reinterpret_cast<cudaMemPool_t>(new int);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  ENTER(cudaMemPoolSetAttribute);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  delete reinterpret_cast<int*>(pool);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
  ENTER(cudaMallocFromPoolAsync);
  *memory = allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  ENTER(cudaFreeAsync);
  release(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int byte, std::size_t bytes) {
  std::memset(memory, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int byte, std::size_t bytes, cudaStream_t) {
  ENTER(cudaMemsetAsync);
  std::memset(memory, byte, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  ENTER(cudaMemcpy2DAsync);
  for (std::size_t line = 0; line < height; ++line) {
    std::memcpy(static_cast<char*>(to) + line * to_pitch,
                static_cast<const char*>(from) + line * from_pitch, width);
  }
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new Stream{++last_stream, current_device});
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<Stream*>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  ENTER(cudaStreamSynchronize);
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  ENTER(cudaStreamGetDevice);
  *device = stream_of(stream).device;
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  ENTER(cudaStreamGetId);
  *id = stream_of(stream).id;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  ENTER(cudaStreamIsCapturing);
  *status =
      stream_of(stream).capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

#if defined(WARPLADDER_MADE_UP_LAUNCHES)
// Beneath the library's own GPU code: launches are counted, and nothing runs.

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  ENTER(cudaFuncGetAttributes);
  const Device& device = devices[static_cast<std::size_t>(current_device)];
  attributes->ptxVersion = device.code_capability;
  return static_cast<cudaError_t>(device.code_error);
}
namespace {
// What a kernel may have beyond what each one may. A slot is claimed by the kernel's address.
struct Allowance {
  std::atomic<const void*> kernel{nullptr};
  std::atomic<int> shared_bytes{48 << 10};
  std::atomic<unsigned> cluster{8};
};
Allowance& allowance_of(const void* kernel) {
  static Allowance slots[4096];
  for (Allowance& slot : slots) {
    const void* owner = nullptr;
    if (slot.kernel.compare_exchange_strong(owner, kernel) || owner == kernel) return slot;
  }
  std::abort();
}
}  // namespace
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  ENTER(cudaFuncSetAttribute);
  Allowance& allowance = allowance_of(kernel);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) allowance.shared_bytes = value;
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) allowance.cluster = 16;
  return cudaSuccess;
}
namespace {
cudaError_t judge_launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         unsigned cluster) {
  const Allowance& allowance = allowance_of(kernel);
  if (shared_bytes > static_cast<std::size_t>(allowance.shared_bytes)) {
    return cudaErrorInvalidValue;
  }
  if (cluster > allowance.cluster || grid.x % cluster != 0) return cudaErrorInvalidClusterSize;
  launches.fetch_add(1, std::memory_order_relaxed);
  blocks.fetch_add(1LL * grid.x * grid.y * grid.z, std::memory_order_relaxed);
  const bool valid = grid.x > 0 && grid.y > 0 && grid.z > 0 && block.x * block.y * block.z > 0 &&
                     block.x * block.y * block.z <= 1024 && grid.y < 65536 && grid.z < 65536;
  return valid ? cudaSuccess : cudaErrorInvalidConfiguration;
}
CUresult launch_of_driver(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  if (enter("cuLaunchKernelEx")) return CUDA_ERROR_INVALID_CONTEXT;
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = attribute.value.clusterDim.x;
  }
  return static_cast<CUresult>(
      judge_launch(function, dim3(config->gridDimX, config->gridDimY, config->gridDimZ),
                   dim3(config->blockDimX, config->blockDimY, config->blockDimZ),
                   config->sharedMemBytes, cluster));
}
}  // namespace
cudaError_t cudaGetKernel(cudaKernel_t* found, const void* kernel) {
  ENTER(cudaGetKernel);
  *found = static_cast<cudaKernel_t>(const_cast<void*>(kernel));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void**) {
  ENTER(cudaLaunchKernelExC);
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension) cluster = attribute.val.clusterDim.x;
  }
  return judge_launch(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, cluster);
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  std::abort();  // the library launches through cudaLaunchKernelExC() alone
}
// Code that was compiled at run time: a library is a copy of it, and has one kernel.
cudaError_t cudaDriverGetVersion(int* version) {
  ENTER(cudaDriverGetVersion);
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  ENTER(cudaLibraryLoadData);
  *library = reinterpret_cast<cudaLibrary_t>(new std::string(static_cast<const char*>(code)));
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  ENTER(cudaLibraryUnload);
  delete reinterpret_cast<std::string*>(library);
  return cudaSuccess;
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned, cudaLibrary_t library) {
  ENTER(cudaLibraryEnumerateKernels);
  *kernels = reinterpret_cast<cudaKernel_t>(library);
  return cudaSuccess;
}

// What nvcc's code calls when a program starts.
extern "C" {
void** __cudaRegisterFatBinary(void*) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 0; }
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*) { return 0; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  std::abort();
}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaSuccess; }
}
#else
warpladder::runtime::DeviceCode warpladder::runtime::device_code() noexcept {
  const Device& device = devices[static_cast<std::size_t>(current_device)];
  return {device.code_error, device.code_capability, true};
}
#endif

// ---- the driver

namespace {
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status =
      stream_of(stream).capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult encode(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  std::memset(map, 0, sizeof *map);
  return CUDA_SUCCESS;
}
}  // namespace
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** entry, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  ENTER(cudaGetDriverEntryPointByVersion);
  const std::string_view wanted = name;
  if (wanted == "cuTensorMapEncodeTiled") *entry = reinterpret_cast<void*>(encode);
  if (wanted == "cuStreamIsCapturing") *entry = reinterpret_cast<void*>(is_capturing);
#if defined(WARPLADDER_MADE_UP_LAUNCHES)
  if (wanted == "cuLaunchKernelEx") *entry = reinterpret_cast<void*>(launch_of_driver);
#endif
  if (found) *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
