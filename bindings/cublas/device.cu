#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "device.hpp"

namespace warpladder::cublas::device {
namespace {

// 32×8 threads: a warp along the rows, which lie beside each other.
constexpr unsigned kThreadsX = 32, kThreadsY = 8, kMostBlocks = 65535;

template <class Work>
__global__ void each(const Work work) {
  const Extent& extent = work.extent;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreadsX + threadIdx.x;
  if (row >= extent.rows) return;
  for (std::int64_t matrix = blockIdx.z; matrix < extent.batch; matrix += gridDim.z) {
    for (std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * kThreadsY + threadIdx.y;
         column < extent.columns; column += static_cast<std::int64_t>(gridDim.y) * kThreadsY) {
      work(row, column, matrix);
    }
  }
}

template <class Work>
bool start(Work work, cudaStream_t stream) {
  const Extent& extent = work.extent;
  const std::int64_t x = (extent.rows + kThreadsX - 1) / kThreadsX,
                     y = (extent.columns + kThreadsY - 1) / kThreadsY;
  if (x == 0 || y == 0 || extent.batch == 0) return true;
  if (x > INT32_MAX) return false;
  const dim3 grid(static_cast<unsigned>(x),
                  static_cast<unsigned>(std::min<std::int64_t>(y, kMostBlocks)),
                  static_cast<unsigned>(std::min<std::int64_t>(extent.batch, kMostBlocks)));
  void* arguments[] = {&work};
  return cudaLaunchKernel(reinterpret_cast<const void*>(each<Work>), grid,
                          dim3(kThreadsX, kThreadsY), arguments, 0, stream) == cudaSuccess;
}

template <class Work>
bool loads() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(each<Work>)) ==
         cudaSuccess;
}

// cuCtxGetId() of the driver, which only the runtime loads.
using ContextId = CUresult (*)(CUcontext, unsigned long long*);
ContextId context_id() {
  static const auto function = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const auto error =
        cudaGetDriverEntryPointByVersion("cuCtxGetId", &entry, 12000, cudaEnableDefault, &found);
    const bool there = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return there ? reinterpret_cast<ContextId>(entry) : nullptr;
  }();
  return function;
}

}  // namespace

std::uint64_t context() noexcept {
  const ContextId ask = context_id();
  if (!ask) return 0;
  unsigned long long id = 0;
  if (ask(nullptr, &id) == CUDA_SUCCESS) return id + 1;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) return 0;
  return ask(nullptr, &id) == CUDA_SUCCESS ? id + 1 : 0;
}

bool prepare() noexcept { return loads<Epilogue<1>>() && loads<Epilogue<4>>() && loads<Copy>(); }

Capture capture_of(cudaStream_t stream) noexcept {
  cudaStreamCaptureStatus status{};
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) return Capture::unknown;
  if (status == cudaStreamCaptureStatusNone) return Capture::none;
  return status == cudaStreamCaptureStatusActive ? Capture::active : Capture::unknown;
}

CaptureInfo capture_info(cudaStream_t stream) noexcept {
  CaptureInfo info;
  cudaStreamCaptureStatus status{};
#if CUDART_VERSION >= 13000
  const auto error =
      cudaStreamGetCaptureInfo(stream, &status, &info.id, &info.graph, nullptr, nullptr, nullptr);
#else
  const auto error =
      cudaStreamGetCaptureInfo_v2(stream, &status, &info.id, &info.graph, nullptr, nullptr);
#endif
  const bool active = error == cudaSuccess && status == cudaStreamCaptureStatusActive;
  info.capture = active ? Capture::active : Capture::unknown;
  return info;
}

OutsideCaptures::OutsideCaptures() noexcept {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  previous_ = mode;
}
OutsideCaptures::~OutsideCaptures() {
  auto mode = static_cast<cudaStreamCaptureMode>(previous_);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

void* allocate(std::size_t bytes) noexcept {
  const OutsideCaptures outside;
  void* memory = nullptr;
  return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}

bool tie_to_graph(cudaGraph_t graph, void* data, void (*release)(void*)) noexcept {
  cudaUserObject_t object = nullptr;
  if (cudaUserObjectCreate(&object, data, release, 1, cudaUserObjectNoDestructorSync)) return false;
  if (cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess) {
    return true;
  }
  cudaUserObjectRelease(object, 1);
  return false;
}

void* allocate(std::size_t bytes, cudaStream_t stream) noexcept {
  void* memory = nullptr;
  return cudaMallocAsync(&memory, bytes, stream) == cudaSuccess ? memory : nullptr;
}
void release(void* memory, cudaStream_t stream) noexcept {
  if (memory) cudaFreeAsync(memory, stream);
}
bool clear(void* memory, std::size_t bytes, cudaStream_t stream) noexcept {
  return cudaMemsetAsync(memory, 0, bytes, stream) == cudaSuccess;
}
bool read(void* to, const void* from, std::size_t bytes, cudaStream_t stream) noexcept {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
         cudaStreamSynchronize(stream) == cudaSuccess;
}

bool launch(const Epilogue<1>& work, cudaStream_t stream) noexcept { return start(work, stream); }
bool launch(const Epilogue<4>& work, cudaStream_t stream) noexcept { return start(work, stream); }
bool launch(const Copy& work, cudaStream_t stream) noexcept { return start(work, stream); }
bool launch(const PointTo& work, cudaStream_t stream) noexcept { return start(work, stream); }
bool launch(const Norms& work, cudaStream_t stream) noexcept { return start(work, stream); }
bool launch(const Compare& work, cudaStream_t stream) noexcept { return start(work, stream); }

}  // namespace warpladder::cublas::device
