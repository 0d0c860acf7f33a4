#pragma once
// Functions of the driver, which is not linked: a machine without one loads the library, too.

#include <cuda_runtime_api.h>

namespace warpladder::runtime {

// Null, with an error, where the driver does not have the function as CUDA 12.0 knows it.
template <class Function>
Function driver_function(const char* name, int& error) noexcept {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  error = cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  if (!error && !entry) error = cudaErrorNotSupported;
  return error ? nullptr : reinterpret_cast<Function>(entry);
}

}  // namespace warpladder::runtime
