#include "ops/lab/cublas.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace warpladder::ops {

Cublas::Cublas()
    : library_(places_of_cuda_library(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR))),
      why_not_(library_.why_not()) {
  if (!why_not_.empty()) return;
  const auto create = library_.find<decltype(&cublasCreate_v2)>("cublasCreate_v2");
  get_version_ = library_.find<decltype(&cublasGetVersion_v2)>("cublasGetVersion_v2");
  set_stream_ = library_.find<decltype(&cublasSetStream_v2)>("cublasSetStream_v2");
  sgemm = library_.find<decltype(&cublasSgemm_v2_64)>("cublasSgemm_v2_64");
  sgemm_strided_batched =
      library_.find<decltype(&cublasSgemmStridedBatched_64)>("cublasSgemmStridedBatched_64");
  sgemm_batched = library_.find<decltype(&cublasSgemmBatched_64)>("cublasSgemmBatched_64");
  set_math_mode = library_.find<decltype(&cublasSetMathMode)>("cublasSetMathMode");
  sgeam = library_.find<decltype(&cublasSgeam_64)>("cublasSgeam_64");
  sgemv = library_.find<decltype(&cublasSgemv_v2_64)>("cublasSgemv_v2_64");
  if (!create || !get_version_ || !set_stream_ || !sgemm || !set_math_mode || !sgeam || !sgemv ||
      !sgemm_strided_batched || !sgemm_batched) {
    why_not_ = "this libcublas lacks a function that is needed";
  } else if (create(&handle) != CUBLAS_STATUS_SUCCESS) {
    why_not_ = "cuBLAS cannot be set up on this GPU";
  }
}

Cublas& Cublas::instance() {
  static Cublas cublas;
  return cublas;
}

Cublas& Cublas::on(runtime::StreamView& stream) {
  Cublas& cublas = instance();
  check_cublas(cublas.set_stream_(cublas.handle, static_cast<cudaStream_t>(stream.native)),
               "cublasSetStream");
  return cublas;
}

std::string Cublas::version() {
  int number = 0;  // 130100 is 13.1.0
  check_cublas(instance().get_version_(instance().handle, &number), "cublasGetVersion");
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_resource(fmt::format("{} failed with cuBLAS status {}", what, static_cast<int>(status)));
}

}  // namespace warpladder::ops
