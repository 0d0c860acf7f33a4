#pragma once
// What this library asks of CUDA itself. device.cu answers with the runtime, which is linked
// statically; the tests answer with host memory.

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "elements.hpp"

namespace warpladder::cublas::device {

// A number for the calling thread's CUDA context, which no other context ever has; 0 where there is
// none that can be used. A thread that has none gets the current device's primary context, as
// cuBLAS would give it.
std::uint64_t context() noexcept;

// Loads this library's kernels into the context: loading them in a capture may break it.
bool prepare() noexcept;

enum class Capture { none, active, unknown };
struct CaptureInfo {
  Capture capture = Capture::unknown;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
};
Capture capture_of(cudaStream_t stream) noexcept;
CaptureInfo capture_info(cudaStream_t stream) noexcept;

// While it lives, this thread may do what a capture elsewhere in the process would forbid.
class OutsideCaptures {
 public:
  OutsideCaptures() noexcept;
  ~OutsideCaptures();
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  int previous_ = 0;
};

// Device memory that outlives graphs; null where there is none.
void* allocate(std::size_t bytes) noexcept;
// Calls release(data) when the graph and everything made of it is gone. CUDA must not be called
// there.
bool tie_to_graph(cudaGraph_t graph, void* data, void (*release)(void*)) noexcept;

// In the order of the stream; null where there is no memory.
void* allocate(std::size_t bytes, cudaStream_t stream) noexcept;
void release(void* memory, cudaStream_t stream) noexcept;
bool clear(void* memory, std::size_t bytes, cudaStream_t stream) noexcept;
// Waits for the stream.
bool read(void* to, const void* from, std::size_t bytes, cudaStream_t stream) noexcept;

bool launch(const Epilogue<1>& work, cudaStream_t stream) noexcept;
bool launch(const Epilogue<4>& work, cudaStream_t stream) noexcept;
bool launch(const Copy& work, cudaStream_t stream) noexcept;
bool launch(const PointTo& work, cudaStream_t stream) noexcept;
bool launch(const Norms& work, cudaStream_t stream) noexcept;
bool launch(const Compare& work, cudaStream_t stream) noexcept;

}  // namespace warpladder::cublas::device
