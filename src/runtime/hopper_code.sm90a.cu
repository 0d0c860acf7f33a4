// Whether Hopper's own instructions run, which machine code alone holds: a driver that is told to
// compile PTX finds none.

#include <cuda_runtime_api.h>

namespace warpladder::runtime {
namespace {

__global__ void hopper_probe() {}

}  // namespace

int hopper_code_error() noexcept {
  cudaFuncAttributes attributes;
  const cudaError_t error =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(hopper_probe));
  if (error != cudaSuccess) cudaGetLastError();  // the next call's error is another one
  return error;
}

}  // namespace warpladder::runtime
