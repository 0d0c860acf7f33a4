#pragma once
// CUB for the GPU rivals of several operators.

#include <cuda_runtime.h>

#include <cub/version.cuh>
#include <string>

#include "base/error.hpp"
#include "device/device.hpp"
#include "runtime/stream.hpp"

namespace warpladder::ops {

inline std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

// Runs algorithm(temporary, bytes, stream) → cudaError_t, which for a null `temporary` says how
// many bytes it needs. Throws Error(resource) that names `what`, where CUB fails.
template <class Algorithm>
void run_cub(const char* what, const runtime::StreamView& stream, const Algorithm& algorithm) {
  const auto native = static_cast<cudaStream_t>(stream.native);
  static device::Memory temporary;  // kept, so that allocating is not in the time
  std::size_t bytes = 0;
  cudaError_t error = algorithm(nullptr, bytes, native);
  if (error == cudaSuccess) {
    if (temporary.bytes() < bytes) temporary = device::Memory(runtime::Target::gpu, bytes);
    error = algorithm(temporary.data(), bytes, native);
  }
  if (error != cudaSuccess) {
    throw_resource(std::string(what) + " failed: " + cudaGetErrorString(error));
  }
}

}  // namespace warpladder::ops
