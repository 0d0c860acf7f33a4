// The device that programs are told of, its streams and events.

#include <algorithm>
#include <chrono>
#include <cstring>

#include "executor/memory_map.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/api.hpp"
#include "programs/runtime/deferred.hpp"
#include "programs/runtime/errors.hpp"
#include "programs/runtime/session.hpp"

namespace {

using namespace warpladder::programs;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMemory = std::size_t{8} << 30;
constexpr std::size_t kSharedOfBlock = 48 << 10, kSharedOptIn = 163 << 10, kSharedOfSm = 164 << 10;
constexpr int kSmThreads = 2048, kSmBlocks = 32, kClockKhz = 1000000;

cudaDeviceProp properties() {
  cudaDeviceProp p = {};
  std::strcpy(p.name, "warpladder SIMT executor (compute capability 8.0)");
  p.totalGlobalMem = kMemory;
  p.sharedMemPerBlock = kSharedOfBlock;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 1 << 30;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.clockRate = p.memoryClockRate = kClockKhz;
  p.totalConstMem = 65536;
  p.major = 8;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.deviceOverlap = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.multiProcessorCount = settings().sms;
  p.maxTexture1D = p.maxTexture2D[0] = p.maxTexture2D[1] = 65536;
  p.asyncEngineCount = 2;
  p.memoryBusWidth = 512;
  p.l2CacheSize = 32 << 20;
  p.maxThreadsPerMultiProcessor = kSmThreads;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = kSharedOfSm;
  p.managedMemory = p.concurrentManagedAccess = p.computePreemptionSupported = 1;
  p.cooperativeLaunch = p.memoryPoolsSupported = 1;
  p.sharedMemPerBlockOptin = kSharedOptIn;
  p.maxBlocksPerMultiProcessor = kSmBlocks;
  p.persistingL2CacheMaxSize = p.accessPolicyMaxWindowSize =
      p.l2CacheSize / 4 * 3;  // no cache is simulated
  return p;
}

int attribute(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      return settings().sms;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrTotalConstantMemory:
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(kSharedOfBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(kSharedOptIn);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(kSharedOfSm);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kSmThreads;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return kSmBlocks;
    case cudaDevAttrComputeCapabilityMajor:
      return 8;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      return kClockKhz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return 512;
    case cudaDevAttrL2CacheSize:
      return 32 << 20;
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrCooperativeMultiDeviceLaunch:
      return 0;
    default:
      return 1;
  }
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
  *total = kMemory;
  *free = kMemory - (std::size_t{1} << 30);
  return cudaSuccess;
}
cudaError_t program_max_active_blocks(int* blocks, int threads, std::size_t shared_bytes) {
  if (threads < 1 || threads > 1024) return failed(cudaErrorInvalidValue);
  const int by_threads = kSmThreads / ((threads + 31) / 32 * 32);
  const auto by_shared = static_cast<int>(kSharedOfSm / (shared_bytes + 1024));
  *blocks = std::min({by_threads, by_shared, kSmBlocks});
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  static std::uintptr_t number = 16;
  *stream = reinterpret_cast<cudaStream_t>(number += 16);
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
