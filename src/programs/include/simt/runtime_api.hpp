#pragma once
// The functions of the CUDA runtime API. Everything is over when a call returns: what a stream or
// an event could order has happened. Functions that the runtime defines are called from the
// person's code directly, for the return address names the line in reports.

#include <tuple>
#include <utility>

#include "simt/runtime_types.hpp"

// ---- launches: kernel<<<shape>>>(arguments) becomes simt::launch(simt::shape(shape), "kernel",
// call, arguments)
namespace simt {
struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  bool cooperative;
};
inline Shape shape(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                   cudaStream_t stream = nullptr) {
  return {grid, block, shared_bytes, stream, false};
}
}  // namespace simt
// `kernel` names it; where it is null, the function's address does.
extern "C" void program_launch(const simt::Shape& shape, const char* kernel, const void* function,
                               void (*thunk)(const void*), const void* arguments,
                               std::size_t argument_bytes, const void* values,
                               std::size_t value_bytes);
namespace simt {
template <class Call, class... Arguments>
SIMT_INLINE void launch_named(const Shape& shape, const char* kernel, const void* function,
                              Call call, Arguments&&... arguments) {
  struct Packed {
    Call call;
    mutable std::tuple<std::decay_t<Arguments>...> values;
  };
  const Packed packed{
      call, std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...)};
  // The arguments' bytes without the gaps between them, which hold anything.
  unsigned char values[(sizeof(Call) + ... + sizeof(std::decay_t<Arguments>))];
  std::size_t bytes = 0;
  const auto add = [&](const auto& value) {
    __builtin_memcpy(values + bytes, &value, sizeof value);
    bytes += sizeof value;
  };
  if constexpr (!std::is_empty_v<Call>) add(packed.call);
  std::apply([&](const auto&... each) { (add(each), ...); }, packed.values);
  program_launch(
      shape, kernel, function,
      [](const void* p) {
        const auto* const packed = static_cast<const Packed*>(p);
        std::apply(packed->call, packed->values);
      },
      &packed, sizeof packed, values, bytes);
}
template <class Call, class... Arguments>
SIMT_INLINE void launch(const Shape& shape, const char* kernel, Call call,
                        Arguments&&... arguments) {
  launch_named(shape, kernel, nullptr, call, std::forward<Arguments>(arguments)...);
}
// Of a kernel that a variable points to.
template <class... P, class... Arguments>
SIMT_INLINE void launch_pointer(const Shape& shape, void (*kernel)(P...),
                                Arguments&&... arguments) {
  launch_named(
      shape, nullptr, (const void*)kernel, [=](auto&... values) { kernel(values...); },
      std::forward<Arguments>(arguments)...);
}
template <class... P, std::size_t... index>
SIMT_INLINE void launch_pointers(const Shape& shape, void (*kernel)(P...), void** arguments,
                                 std::index_sequence<index...>) {
  launch_pointer(shape, kernel, *static_cast<std::decay_t<P>*>(arguments[index])...);
}
}  // namespace simt

extern "C" {
cudaError_t program_allocate(void** pointer, std::size_t bytes, int kind);
void program_note_written(void* pointer, std::size_t bytes);
cudaError_t program_copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset,
                                std::size_t size, int to_symbol);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t program_memcpy_2d(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t program_event_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t program_max_active_blocks(int* blocks, int block_threads, std::size_t shared_bytes);
cudaError_t program_call(void (*function)(void*), void* data);
}

template <class... P>
SIMT_INLINE cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                         void** arguments, std::size_t shared_bytes = 0,
                                         cudaStream_t stream = nullptr) {
  simt::launch_pointers(simt::shape(grid, block, shared_bytes, stream), kernel, arguments,
                        std::index_sequence_for<P...>());
  return cudaPeekAtLastError();
}
template <class... P>
SIMT_INLINE cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                                    void** arguments, std::size_t shared_bytes = 0,
                                                    cudaStream_t stream = nullptr) {
  simt::Shape shape = simt::shape(grid, block, shared_bytes, stream);
  shape.cooperative = true;
  simt::launch_pointers(shape, kernel, arguments, std::index_sequence_for<P...>());
  return cudaPeekAtLastError();
}

// ---- memory
namespace simt {
enum MemoryKind { kDevice, kManaged, kPinned };
constexpr std::size_t kPitch = 512;
}  // namespace simt
template <class T>
SIMT_INLINE cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return program_allocate((void**)pointer, bytes, simt::kDevice);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned = 1) {
  return program_allocate((void**)pointer, bytes, simt::kManaged);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned = 0) {
  return program_allocate((void**)pointer, bytes, simt::kPinned);
}
template <class T>
SIMT_INLINE cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned) {
  return program_allocate((void**)pointer, bytes, simt::kPinned);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t) {
  return program_allocate((void**)pointer, bytes, simt::kDevice);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaMemPool_t,
                                        cudaStream_t) {
  return program_allocate((void**)pointer, bytes, simt::kDevice);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t,
                                                cudaStream_t) {
  return program_allocate((void**)pointer, bytes, simt::kDevice);
}
template <class T>
SIMT_INLINE cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                                        std::size_t height) {
  *pitch = (width + simt::kPitch - 1) / simt::kPitch * simt::kPitch;
  return program_allocate((void**)pointer, *pitch * height, simt::kDevice);
}
SIMT_INLINE cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  const std::size_t pitch = (extent.width + simt::kPitch - 1) / simt::kPitch * simt::kPitch;
  *pointer = {nullptr, pitch, extent.width, extent.height};
  return program_allocate(&pointer->ptr, pitch * extent.height * extent.depth, simt::kDevice);
}
template <class T>
SIMT_INLINE cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = (T*)host;
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaHostGetFlags(unsigned* flags, void*) {
  *flags = 0;
  return cudaSuccess;
}
SIMT_INLINE cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                        cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
SIMT_INLINE cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
SIMT_INLINE cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                            cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
SIMT_INLINE cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind) {
  return program_memcpy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
SIMT_INLINE cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                          std::size_t from_pitch, std::size_t width,
                                          std::size_t height, cudaMemcpyKind kind,
                                          cudaStream_t = nullptr) {
  return program_memcpy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
SIMT_INLINE cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                        cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}
SIMT_INLINE cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                          std::size_t height, cudaStream_t = nullptr) {
  return cudaMemset2D(to, pitch, value, width, height);
}
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, std::size_t pitch, std::size_t x,
                                          std::size_t y) {
  return {p, pitch, x, y};
}
inline cudaExtent make_cudaExtent(std::size_t w, std::size_t h, std::size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }

// A symbol is its variable: the program is one address space. T is an array for an array's name.
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                                           std::size_t offset = 0,
                                           cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return program_copy_symbol((void*)&symbol, from, bytes, offset, sizeof(T), 1);
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                             std::size_t offset = 0,
                                             cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return program_copy_symbol(to, (const void*)&symbol, bytes, offset, sizeof(T), 0);
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from,
                                                std::size_t bytes, std::size_t offset = 0,
                                                cudaMemcpyKind = cudaMemcpyHostToDevice,
                                                cudaStream_t = nullptr) {
  return program_copy_symbol((void*)&symbol, from, bytes, offset, sizeof(T), 1);
}
template <class T>
SIMT_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                                  std::size_t offset = 0,
                                                  cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                                  cudaStream_t = nullptr) {
  return program_copy_symbol(to, (const void*)&symbol, bytes, offset, sizeof(T), 0);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  *pointer = (P*)(void*)&symbol;
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

// ---- what has no meaning here, or one answer
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t = 0, unsigned = 0) {
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = 0, cudaSuccess; }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return *device = 0, cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 12040, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12040, cudaSuccess; }
inline cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int) {
  snprintf(id, static_cast<std::size_t>(bytes), "0000:00:00.0");
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return *pool = (cudaMemPool_t)16, cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) {
  return *pool = (cudaMemPool_t)16, cudaSuccess;
}
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  *(unsigned long long*)value = 0;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }

// ---- functions
template <class F>
cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 80;
  attributes->maxDynamicSharedSizeBytes = 48 << 10;
  return cudaSuccess;
}
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads,
                                                                      std::size_t shared_bytes) {
  return program_max_active_blocks(blocks, threads, shared_bytes);
}
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, F, int threads, std::size_t shared_bytes, unsigned) {
  return program_max_active_blocks(blocks, threads, shared_bytes);
}
// Of blocks with most threads on a multiprocessor the largest, as CUDA chooses.
template <class U, class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F,
                                                                       U shared_bytes,
                                                                       int limit = 0) {
  int multiprocessors = 0, most = 0, best = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
  const int largest = limit > 0 && limit < 1024 ? limit : 1024;
  *grid = *block = 0;
  for (int size = (largest + 31) / 32 * 32; size > 0 && best < most; size -= 32) {
    const int threads = size < largest ? size : largest;
    int blocks = 0;
    program_max_active_blocks(&blocks, threads, shared_bytes(threads));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * multiprocessors;
  }
  return cudaSuccess;
}
template <class F>
SIMT_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F kernel,
                                                           std::size_t shared_bytes = 0,
                                                           int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return shared_bytes; }, limit);
}

// ---- streams, events, graphs
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID,
                                          const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void* data, unsigned) {
  callback(stream, cudaSuccess, data);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  return program_call(function, data);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
SIMT_INLINE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return program_event_record(event, stream);
}
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, int* status) {
  return *status = 0, cudaSuccess;
}
