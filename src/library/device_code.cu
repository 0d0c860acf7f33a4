#include <cuda_runtime_api.h>

#include "library/device_code.hpp"

namespace warpladder::library {
namespace {

// Compiled for the same architectures as every kernel; never launched.
__global__ void probe() {}

}  // namespace

int device_code_error() noexcept {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(probe));
}

}  // namespace warpladder::library
