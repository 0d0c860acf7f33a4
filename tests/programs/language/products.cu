// cuBLAS products in every form, against sums in the plainest loop.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <vector>

// Whole numbers, so that all sums are exact; gaps between columns keep what they hold.
template <class T, class Gemm>
static bool is_right(Gemm gemm, int m, int n, int k, bool ta, bool tb, T alpha, T beta, int gap) {
  const int lda = (ta ? k : m) + gap, ldb = (tb ? n : k) + gap, ldc = m + gap;
  std::vector<T> a(static_cast<std::size_t>(lda) * (ta ? m : k)), b(ldb * (tb ? k : n)),
      c(static_cast<std::size_t>(ldc) * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i * 7 % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(i * 5 % 11) - 5;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<T>(i % 5);
  std::vector<T> expected = c;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) {
        sum += static_cast<double>(ta ? a[p + i * lda] : a[i + p * lda]) *
               (tb ? b[j + p * ldb] : b[p + j * ldb]);
      }
      T& e = expected[i + j * ldc];
      e = static_cast<T>(alpha * sum + beta * e);
    }
  }
  T *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(T));
  cudaMalloc(&db, b.size() * sizeof(T));
  cudaMalloc(&dc, c.size() * sizeof(T));
  cudaMemcpy(da, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice);
  if (beta == 0) {  // C is not read then
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) c[i + j * ldc] = std::nan("");
    }
  }
  cudaMemcpy(dc, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice);
  const auto op = [](bool turned) { return turned ? CUBLAS_OP_T : CUBLAS_OP_N; };
  cublasHandle_t handle;
  cublasCreate(&handle);
  const bool done = gemm(handle, op(ta), op(tb), m, n, k, &alpha, da, lda, db, ldb, &beta, dc,
                         ldc) == CUBLAS_STATUS_SUCCESS;
  cublasDestroy(handle);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return done && c == expected;
}

// D = alpha A B by cublasLt, twice with other numbers at the same addresses.
template <class T, class Sum, class Factor>
static bool is_right_twice(cudaDataType type, cudaDataType type_of_sums, cudaDataType scale,
                           cublasComputeType_t compute, Factor alpha) {
  constexpr int kSize = 24;
  T *a, *b;
  Sum* c;
  cudaMallocManaged(&a, kSize * kSize * sizeof(T));
  cudaMallocManaged(&b, kSize * kSize * sizeof(T));
  cudaMallocManaged(&c, kSize * kSize * sizeof(Sum));
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t factors, sums;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&how, compute, scale);
  cublasLtMatrixLayoutCreate(&factors, type, kSize, kSize, kSize);
  cublasLtMatrixLayoutCreate(&sums, type_of_sums, kSize, kSize, kSize);
  const Factor beta = 0;
  bool right = true;
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < kSize * kSize; ++i) {
      a[i] = static_cast<T>(i % 3 * round), b[i] = static_cast<T>(i % 4 - 1);
    }
    right = right && cublasLtMatmul(handle, how, &alpha, a, factors, b, factors, &beta, c, sums, c,
                                    sums, nullptr, nullptr, 0, nullptr) == CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < kSize * kSize; ++i) {
      int sum = 0;
      for (int p = 0; p < kSize; ++p) {
        sum += (i % kSize + p * kSize) % 3 * round * ((p + i / kSize * kSize) % 4 - 1);
      }
      right = right && static_cast<double>(c[i]) == sum * static_cast<double>(alpha);
    }
  }
  cublasLtDestroy(handle);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  return right;
}
static bool lt_is_right() {
  return is_right_twice<double, double>(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F,
                                        2.0) &&
         is_right_twice<signed char, int>(CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I,
                                          3) &&
         is_right_twice<__half, __half>(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F,
                                        __half(2)) &&
         is_right_twice<__half, __half>(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F,
                                        0.5f);
}

int main() {
  std::printf("cublasLt %s\n", lt_is_right() ? "ok" : "WRONG");
  struct Size {
    int m, n, k;
  };
  // The last one is worth several processors.
  for (const Size s : {Size{1, 1, 1}, Size{16, 4, 8}, Size{17, 5, 9}, Size{3, 70, 33},
                       Size{65, 2, 300}, Size{5, 3, 0}, Size{250, 190, 200}}) {
    bool ok = true;
    for (int form = 0; form < 8; ++form) {
      const bool ta = form & 1, tb = form & 2;
      const int gap = form & 4 ? 3 : 0;
      ok = ok && is_right<float>(cublasSgemm, s.m, s.n, s.k, ta, tb, 2, form & 4 ? 3 : 0, gap);
      ok = ok && is_right<double>(cublasDgemm, s.m, s.n, s.k, ta, tb, -1, form & 4 ? 0 : 2, gap);
    }
    std::printf("%dx%dx%d %s\n", s.m, s.n, s.k, ok ? "ok" : "WRONG");
  }
}
