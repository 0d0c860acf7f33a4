// The device that programs are told of, its streams and events.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>

#include "executor/memory_map.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/api.hpp"
#include "programs/runtime/deferred.hpp"
#include "programs/runtime/errors.hpp"
#include "programs/runtime/session.hpp"

namespace {

using namespace warpladder::programs;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSharedOfBlock = 48 << 10, kReservedShared = 1024;
constexpr int kRegisters = 65536, kMaxGridX = 2147483647, kMaxGridY = 65535;
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

std::size_t memory_of_device() { return std::size_t(settings().device.memory_mib) << 20; }
// GPUs for data centres have fast float64, error correction and a third copy engine.
bool is_for_data_centres() {
  return settings().device.capability % 10 == 0 && settings().device.capability < 110;
}

cudaDeviceProp properties() {
  const ToldDevice& d = settings().device;
  cudaDeviceProp p = {};
  std::snprintf(p.name, sizeof p.name, "%s", d.name.c_str());
  p.totalGlobalMem = memory_of_device();
  p.sharedMemPerBlock = kSharedOfBlock;
  p.regsPerBlock = p.regsPerMultiprocessor = kRegisters;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = kMaxGridX;
  p.maxGridSize[1] = p.maxGridSize[2] = kMaxGridY;
  p.clockRate = d.clock_khz;
  p.memoryClockRate = d.memory_clock_khz;
  p.totalConstMem = 65536;
  p.major = d.capability / 10;
  p.minor = d.capability % 10;
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
  p.deviceOverlap = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.multiProcessorCount = d.multiprocessors;
  p.maxTexture1D = p.maxTexture2D[0] = 131072;
  p.maxTexture2D[1] = 65536;
  p.maxTexture3D[0] = p.maxTexture3D[1] = p.maxTexture3D[2] = 16384;
  p.ECCEnabled = is_for_data_centres();
  p.asyncEngineCount = is_for_data_centres() ? 3 : 2;
  p.singleToDoublePrecisionPerfRatio = is_for_data_centres() ? 2 : 64;
  p.memoryBusWidth = d.bus_bits;
  p.l2CacheSize = d.l2_kib << 10;
  p.maxThreadsPerMultiProcessor = d.sm_threads;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = std::size_t(d.sm_shared_kib) << 10;
  p.managedMemory = p.concurrentManagedAccess = p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.cooperativeLaunch = p.memoryPoolsSupported = 1;
  p.sharedMemPerBlockOptin = std::size_t(d.block_shared_kib) << 10;
  p.reservedSharedMemPerBlock = kReservedShared;
  p.maxBlocksPerMultiProcessor = d.sm_blocks;
  // As an H100 and an A100 say; no cache is simulated.
  p.persistingL2CacheMaxSize = d.capability == 90 ? p.l2CacheSize / 8 * 5 : p.l2CacheSize / 4 * 3;
  p.accessPolicyMaxWindowSize = 128 << 20;
  return p;
}

// Those that properties hold, and what they leave out.
int attribute(cudaDeviceAttr attribute) {
  const cudaDeviceProp p = properties();
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[1];
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxPitch:
      return static_cast<int>(p.memPitch);
    case cudaDevAttrTextureAlignment:
      return static_cast<int>(p.textureAlignment);
    case cudaDevAttrTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrClockRate:
      return p.clockRate;
    case cudaDevAttrMemoryClockRate:
      return p.memoryClockRate;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return p.singleToDoublePrecisionPerfRatio;
    case cudaDevAttrEccEnabled:
      return p.ECCEnabled;
    case cudaDevAttrMaxPersistingL2CacheSize:
      return p.persistingL2CacheMaxSize;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return p.accessPolicyMaxWindowSize;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(p.reservedSharedMemPerBlock);
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrCooperativeMultiDeviceLaunch:  // which CUDA 13 has taken away
      return 0;
    default:
      return 1;
  }
}

// The defaults of an H100: stack, what kernels print, heap, depth and number of kernels' own
// launches, L2 fetches, persisting L2.
constexpr int kLimits = 7;
std::size_t limits[kLimits] = {1024, 8650752, 8388608, 2, 2048, 64, 9830400};

// Of the streams that have one but 0.
struct Priorities {
  std::mutex mutex;
  std::map<cudaStream_t, int> of;
};
Priorities& priorities() {
  static Priorities& instance = *new Priorities;
  return instance;
}

}  // namespace

struct CUevent_st {
  Clock::time_point time = Clock::now();
};

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return failed(cudaErrorInvalidDevice);
  *p = properties();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr wanted, int device) {
  if (device != 0) return failed(cudaErrorInvalidDevice);
  *value = attribute(wanted);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = memory_of_device();
  *free = memory_of_device() - (std::size_t{512} << 20);
  return cudaSuccess;
}
// Registers are not known, and limit nothing.
cudaError_t program_max_active_blocks(int* blocks, int threads, std::size_t shared_bytes) {
  if (threads < 1 || threads > 1024) return failed(cudaErrorInvalidValue);
  const ToldDevice& d = settings().device;
  const int by_threads = d.sm_threads / ((threads + 31) / 32 * 32);
  const auto by_shared = static_cast<int>((std::size_t(d.sm_shared_kib) << 10) /
                                          ((shared_bytes + 127) / 128 * 128 + kReservedShared));
  *blocks = std::min({by_threads, by_shared, d.sm_blocks});
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  static std::atomic<std::uintptr_t> number = 16;
  *stream = reinterpret_cast<cudaStream_t>(number += 16);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  cudaStreamCreate(stream);
  Priorities& p = priorities();
  std::lock_guard lock(p.mutex);
  p.of[*stream] = std::clamp(priority, kGreatestPriority, kLeastPriority);
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  Priorities& p = priorities();
  std::lock_guard lock(p.mutex);
  const auto known = p.of.find(stream);
  *priority = known == p.of.end() ? 0 : known->second;
  return cudaSuccess;
}
// What a program asks for is granted, and means nothing here.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (limit < 0 || limit >= kLimits) return failed(cudaErrorUnsupportedLimit);
  limits[limit] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (limit < 0 || limit >= kLimits) return failed(cudaErrorUnsupportedLimit);
  *value = limits[limit];
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = kLeastPriority;
  if (greatest) *greatest = kGreatestPriority;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t program_event_record(cudaEvent_t event, cudaStream_t) {
  if (!event) return failed(cudaErrorInvalidResourceHandle);
  if (!is_capturing()) event->time = Clock::now();  // it orders a graph, and is no node of it
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start || !end) return failed(cudaErrorInvalidResourceHandle);
  const std::chrono::duration<float, std::milli> passed = end->time - start->time;
  *milliseconds = std::max(1e-3f, passed.count());
  return cudaSuccess;
}
}
