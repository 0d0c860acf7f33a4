#include "runtime/machine.hpp"

#include <cuda_runtime_api.h>

namespace warpladder::runtime {
namespace {

// What a multiprocessor does in a cycle, by compute capability. These are fused multiply-adds of
// FP32 on the CUDA cores, and on the tensor cores of float64, TF32 and dense FP16.
struct Rates {
  double fp32, f64_tensor, tf32_tensor, f16_tensor;
};
Rates rates_of(int capability) {
  switch (capability) {
    case 75:
      return {64, 0, 0, 512};
    case 80:
      return {64, 64, 512, 1024};
    case 86:
      return {128, 0, 128, 512};
    case 89:
      return {128, 0, 256, 1024};
    case 90:
      return {128, 128, 1024, 2048};
    case 100:
      return {128, 64, 2048, 4096};
    case 120:
      return {128, 0, 256, 1024};
    default:
      return {128, 0, 0, 0};
  }
}

}  // namespace

Machine machine_of(int device, const DeviceCode& code, int* error) noexcept {
  int first_error = 0;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    const cudaError_t result = cudaDeviceGetAttribute(&value, which, device);
    if (result != cudaSuccess && first_error == 0) first_error = result;
    return value;
  };
  Machine m;
  m.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                 attribute(cudaDevAttrComputeCapabilityMinor);
  m.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  m.shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  m.shared_bytes_per_multiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  m.l2_bytes = attribute(cudaDevAttrL2CacheSize);
  const Rates rates = rates_of(m.capability);
  const double flops_per_fma = 2 * 1e3 * attribute(cudaDevAttrClockRate) * m.multiprocessors;
  m.fp32_flops_per_s = rates.fp32 * flops_per_fma;
  m.f64_tensor_flops_per_s = rates.f64_tensor * flops_per_fma;
  m.tf32_tensor_flops_per_s = rates.tf32_tensor * flops_per_fma;
  m.f16_tensor_flops_per_s = rates.f16_tensor * flops_per_fma;
  const double transfers_per_clock = 2, bits_per_byte = 8;  // double data rate
  m.memory_bytes_per_s = transfers_per_clock * attribute(cudaDevAttrGlobalMemoryBusWidth) /
                         bits_per_byte * 1e3 * attribute(cudaDevAttrMemoryClockRate);
  // Kernels lack what the architecture that they were compiled for lacks.
  if (code.error == 0 && code.capability < m.capability) m.capability = code.capability;
  m.hopper_code = code.hopper;
  if (error) *error = first_error;
  return m;
}

}  // namespace warpladder::runtime
