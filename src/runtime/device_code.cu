#include <cuda_runtime_api.h>

#include "runtime/device_code.hpp"

namespace warpladder::runtime {

#if WARPLADDER_HOPPER_CODE
int hopper_code_error() noexcept;  // hopper_code.sm90a.cu
#endif

namespace {

// Compiled for the same architectures as every kernel; never launched.
__global__ void probe() {}

}  // namespace

DeviceCode device_code() noexcept {
  cudaFuncAttributes attributes = {};
  DeviceCode code;
  code.error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(probe));
  code.capability = attributes.ptxVersion;
#if WARPLADDER_HOPPER_CODE
  code.hopper = code.error == 0 && hopper_code_error() == 0;
#else
  code.hopper = false;
#endif
  return code;
}

}  // namespace warpladder::runtime
