#pragma once
// cuBLAS for the rivals of several operators, loaded where it is found. Its libraries take hundreds
// of megabytes and half a second, and no program should need them to start.

#include <cublas_v2.h>

#include <string>

#include "base/shared_library.hpp"
#include "device/device.hpp"

namespace warpladder::ops {

class Cublas {
 public:
  // Loaded, and its handle made, by the first call.
  static Cublas& instance();
  // instance() with its handle set to the stream. Only where why_not() is empty.
  static Cublas& on(runtime::StreamView& stream);

  // Why it cannot be used here, or empty.
  static std::string why_not() { return instance().why_not_; }
  static std::string version();

  cublasHandle_t handle = nullptr;
  decltype(&cublasSgemm_v2_64) sgemm = nullptr;
  decltype(&cublasSgemmStridedBatched_64) sgemm_strided_batched = nullptr;
  decltype(&cublasSgemmBatched_64) sgemm_batched = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasSgeam_64) sgeam = nullptr;
  decltype(&cublasSgemv_v2_64) sgemv = nullptr;

 private:
  Cublas();

  SharedLibrary library_;
  decltype(&cublasGetVersion_v2) get_version_ = nullptr;
  decltype(&cublasSetStream_v2) set_stream_ = nullptr;
  std::string why_not_;
};

// Throws Error(resource) that names the call.
void check_cublas(cublasStatus_t status, const char* what);

}  // namespace warpladder::ops
