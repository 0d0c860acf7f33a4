#pragma once
// What the measurements on a GPU share that need nothing of the lab.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/error.hpp"

namespace warpladder {

inline void require(cudaError_t error, const char* what) {
  if (error) throw_resource(fmt::format("{}: {}", what, cudaGetErrorString(error)));
}

// A stream, and the time that work on it takes.
struct GpuTimer {
  GpuTimer() {
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    require(cudaEventCreate(&begin), "an event");
    require(cudaEventCreate(&end), "an event");
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer() {
    cudaEventDestroy(end);
    cudaEventDestroy(begin);
    cudaStreamDestroy(stream);
  }

  // Seconds of one call of launch(), among so many in a row: what it costs to launch hides behind
  // the kernel in front.
  template <class Launch>
  double seconds(int launches, const Launch& launch) const {
    require(cudaEventRecord(begin, stream), "an event");
    for (int i = 0; i < launches; ++i) launch();
    require(cudaEventRecord(end, stream), "an event");
    require(cudaEventSynchronize(end), "a kernel");
    float time_ms = 0;
    require(cudaEventElapsedTime(&time_ms, begin, end), "an event");
    return 1e-3 * static_cast<double>(time_ms) / launches;
  }

  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
};

// Of a program's main(): what run() returns, or what an error says.
inline int exit_code_of(const char* program, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return static_cast<int>(ErrorCode::resource);
  }
}

}  // namespace warpladder
