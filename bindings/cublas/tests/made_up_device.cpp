// device.hpp without CUDA: device memory is host memory, and a kernel is a loop.

#include <cstdlib>
#include <cstring>

#include "device.hpp"
#include "made_up_gpu.hpp"

namespace warpladder::cublas::device {
namespace {

using made_up::gpu;

template <class Work>
bool run(const Work& work) {
  ++gpu().launches;
  for (std::int64_t matrix = 0; matrix < work.extent.batch; ++matrix) {
    for (std::int64_t column = 0; column < work.extent.columns; ++column) {
      for (std::int64_t row = 0; row < work.extent.rows; ++row) work(row, column, matrix);
    }
  }
  return true;
}

}  // namespace

std::uint64_t context() noexcept { return gpu().context; }
bool prepare() noexcept { return true; }

Capture capture_of(cudaStream_t stream) noexcept {
  if (!gpu().knows_streams) return Capture::unknown;
  return stream && stream == gpu().captured ? Capture::active : Capture::none;
}
CaptureInfo capture_info(cudaStream_t stream) noexcept {
  return {capture_of(stream), gpu().capture, reinterpret_cast<cudaGraph_t>(&gpu())};
}
OutsideCaptures::OutsideCaptures() noexcept = default;
OutsideCaptures::~OutsideCaptures() = default;

void* allocate(std::size_t bytes) noexcept {
  if (!gpu().has_memory) return nullptr;
  ++gpu().live_allocations;
  return std::malloc(bytes);
}
bool tie_to_graph(cudaGraph_t, void* data, void (*release)(void*)) noexcept {
  made_up::tie(data, release);
  return true;
}
void* allocate(std::size_t bytes, cudaStream_t) noexcept { return allocate(bytes); }
void release(void* memory, cudaStream_t) noexcept {
  if (memory) --gpu().live_allocations;
  std::free(memory);
}
bool clear(void* memory, std::size_t bytes, cudaStream_t) noexcept {
  std::memset(memory, 0, bytes);
  return true;
}
bool read(void* to, const void* from, std::size_t bytes, cudaStream_t) noexcept {
  std::memcpy(to, from, bytes);
  return true;
}

bool launch(const Epilogue<1>& work, cudaStream_t) noexcept { return run(work); }
bool launch(const Epilogue<4>& work, cudaStream_t) noexcept { return run(work); }
bool launch(const Copy& work, cudaStream_t) noexcept { return run(work); }
bool launch(const PointTo& work, cudaStream_t) noexcept { return run(work); }
bool launch(const Norms& work, cudaStream_t) noexcept { return run(work); }
bool launch(const Compare& work, cudaStream_t) noexcept { return run(work); }

}  // namespace warpladder::cublas::device
