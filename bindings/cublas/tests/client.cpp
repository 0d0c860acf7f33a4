// A program that calls cuBLAS: one product in FP32, one of a vector, one with TF32 allowed. Prints
// how many of its three calls the made-up warpladder and the made-up cuBLAS have computed.

#include <cublas_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "made_up_cublas.hpp"
#include "made_up_gpu.hpp"

int main() {
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
