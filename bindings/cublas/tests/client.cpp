// A program that calls cuBLAS: one product in FP32, one of a vector, one with TF32 allowed. Prints
// how many of its three calls the made-up warpladder and the made-up cuBLAS have computed. With the
// argument `activated` it calls cublasLt instead: one product of 8×8×8 with ReLU; with `refused`,
// products that nobody but cublasLt computes.

#include <cublasLt.h>
#include <cublas_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "made_up_cublas.hpp"
#include "made_up_gpu.hpp"

namespace {

constexpr int kSize = 8;

// A product of cublasLt's with one layout for all matrices.
struct LtProduct {
  cublasLtHandle_t lt = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  std::vector<float> a = std::vector<float>(kSize * kSize, 0.5f), d = a;

  LtProduct() {
    cublasLtCreate(&lt);
    cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, kSize, kSize, kSize);
  }
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;
  ~LtProduct() {
    cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(operation);
  }
  void set(cublasLtMatmulDescAttributes_t which, std::int32_t value) const {
    cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value);
  }
  bool call() {
    const float alpha = 1, beta = 0;
    return cublasLtMatmul(lt, operation, &alpha, a.data(), layout, a.data(), layout, &beta,
                          d.data(), layout, d.data(), layout, nullptr, nullptr, 0,
                          nullptr) == CUBLAS_STATUS_SUCCESS;
  }
};

int activated() {
  LtProduct p;
  p.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  p.call();  // finds out what need not be asked
  const int products = made_up::gpu().products, calls = made_up_cublaslt_calls(),
            questions = made_up_cublaslt_questions();
  const bool good = p.call();
  std::printf("%d %d %g %d\n", made_up::gpu().products - products, made_up_cublaslt_calls() - calls,
              static_cast<double>(p.d[0]), made_up_cublaslt_questions() - questions);
  return good ? 0 : 1;
}

// Each call has one attribute that is refused.
int refused() {
  const std::pair<cublasLtMatmulDescAttributes_t, std::int32_t> attributes[] = {
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_16F},
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32F_FAST_TF32},
      {CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_64F},
      {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE},
      {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 8},
      {CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX}};
  bool good = true;
  for (const auto& [which, value] : attributes) {
    LtProduct p;
    p.set(which, value);
    good = p.call() && good;
  }
  LtProduct p;
  const auto type = static_cast<std::uint32_t>(CUDA_R_16BF);
  cublasLtMatrixLayoutSetAttribute(p.layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof type);
  good = p.call() && good;
  p.lt = nullptr;
  good = !p.call() && good;
  std::printf("%d %d\n", made_up::gpu().products, made_up_cublaslt_calls());
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "activated") == 0) return activated();
  if (argc == 2 && std::strcmp(argv[1], "refused") == 0) return refused();
  if (std::getenv("MADE_UP_FAULT")) made_up::gpu().fault = made_up::Fault::first;
  const int n = kSize;
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
