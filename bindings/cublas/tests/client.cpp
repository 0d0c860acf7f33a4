// A program that calls cuBLAS: one product in FP32, one of a vector, one with TF32 allowed. Prints
// how many of its three calls the made-up warpladder and the made-up cuBLAS have computed. With the
// argument `activated` it calls cublasLt instead: one product of 8×8×8 with ReLU.

#include <cublasLt.h>
#include <cublas_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "made_up_cublas.hpp"
#include "made_up_gpu.hpp"

namespace {

int activated() {
  const int n = 8;
  const std::vector<float> a(n * n, 0.5f);
  std::vector<float> d(n * n);
  cublasLtHandle_t lt = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto epilogue = CUBLASLT_EPILOGUE_RELU;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, n, n, n);
  const float alpha = 1, beta = 0;
  const auto status =
      cublasLtMatmul(lt, operation, &alpha, a.data(), layout, a.data(), layout, &beta, d.data(),
                     layout, d.data(), layout, nullptr, nullptr, 0, nullptr);
  std::printf("%d %d %g\n", made_up::gpu().products, made_up_cublaslt_calls(),
              static_cast<double>(d[0]));
  return status == CUBLAS_STATUS_SUCCESS ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "activated") == 0) return activated();
  made_up::gpu().faulty = std::getenv("MADE_UP_FAULT") != nullptr;
  const int n = 8;
  const std::vector<float> a(n * n, 0.5f);
  std::vector<float> c(n * n, 1.0f), y(n);
  const float alpha = 1, beta = 2, zero = 0;
  cublasHandle_t handle = nullptr;
  if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  const auto product = [&] {
    return cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, a.data(), n, a.data(),
                          n, &beta, c.data(), n) == CUBLAS_STATUS_SUCCESS;
  };
  if (!product()) return 2;
  const float first = c[0];
  if (cublasSgemv_v2(handle, CUBLAS_OP_N, n, n, &alpha, a.data(), n, a.data(), 1, &zero, y.data(),
                     1) != CUBLAS_STATUS_SUCCESS) {
    return 3;
  }
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  if (!product()) return 4;
  std::printf("%d %d %g %g\n", made_up::gpu().products,
              made_up_cublas_calls("cublasSgemm_v2") + made_up_cublas_calls("cublasSgemv_v2"),
              static_cast<double>(first), static_cast<double>(y[0]));
}
