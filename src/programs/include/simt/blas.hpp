#pragma once
// A small cuBLAS: plain loops on the CPU, which are not counted.

#include <cmath>
#include <cstring>

#include "simt/runtime_api.hpp"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
#define CUBLAS_API_H_  // by which other headers tell that cuBLAS is there
#define CUBLAS_V2_H_

enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
typedef struct cublasContext* cublasHandle_t;

inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an error of cuBLAS";
}
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = (cublasHandle_t)16;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 12000;
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {
void program_multiply_floats(int ta, int tb, int m, int n, int k, float alpha, const float* a,
                             std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
                             std::size_t ldc);
void program_multiply_doubles(int ta, int tb, int m, int n, int k, double alpha, const double* a,
                              std::size_t lda, const double* b, std::size_t ldb, double beta,
                              double* c, std::size_t ldc);
// Said by functions here that write device memory.
void program_memory_changed();
}

// These read and write device memory, which the host's instrumentation would refuse.
#define SIMT_BLAS __attribute__((no_sanitize("thread")))
namespace simt {
template <class T>
SIMT_BLAS void gemm(bool ta, bool tb, int m, int n, int k, T alpha, const T* a, std::size_t lda,
                    const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc) {
  program_memory_changed();
  T* const column = new T[static_cast<std::size_t>(m)];
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) column[i] = 0;
    for (int p = 0; p < k; ++p) {
      const T factor = tb ? b[j + p * ldb] : b[p + j * ldb];
      for (int i = 0; i < m; ++i) column[i] += (ta ? a[p + i * lda] : a[i + p * lda]) * factor;
    }
    for (int i = 0; i < m; ++i) {
      T& out = c[i + j * ldc];
      out = alpha * column[i] + (beta != 0 ? beta * out : 0);
    }
  }
  delete[] column;
}
inline void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float* a,
                 std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
                 std::size_t ldc) {
  program_multiply_floats(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double* a,
                 std::size_t lda, const double* b, std::size_t ldb, double beta, double* c,
                 std::size_t ldc) {
  program_multiply_doubles(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <class T>
SIMT_BLAS void gemv(bool t, int m, int n, T alpha, const T* a, std::size_t lda, const T* x, int ix,
                    T beta, T* y, int iy) {
  program_memory_changed();
  for (int i = 0; i < (t ? n : m); ++i) {
    T sum = 0;
    for (int j = 0; j < (t ? m : n); ++j) sum += (t ? a[j + i * lda] : a[i + j * lda]) * x[j * ix];
    y[i * iy] = alpha * sum + (beta != 0 ? beta * y[i * iy] : 0);
  }
}
template <class T>
SIMT_BLAS void axpy(int n, T alpha, const T* x, int ix, T* y, int iy) {
  program_memory_changed();
  for (int i = 0; i < n; ++i) y[i * iy] += alpha * x[i * ix];
}
template <class T>
SIMT_BLAS void scale(int n, T alpha, T* x, int ix) {
  program_memory_changed();
  for (int i = 0; i < n; ++i) x[i * ix] *= alpha;
}
// To host memory or, as the pointer mode says, to device memory.
template <class T>
void hand_over(T* result, T value) {
  program_memory_changed();
  std::memcpy(result, &value, sizeof value);
}
template <class T>
SIMT_BLAS T dot(int n, const T* x, int ix, const T* y, int iy) {
  double sum = 0;  // cuBLAS, too, loses less than one chain of additions in T would
  for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i * ix]) * y[i * iy];
  return static_cast<T>(sum);
}
template <class T>
SIMT_BLAS T sum_of_sizes(int n, const T* x, int ix) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::fabs(x[i * ix]);
  return static_cast<T>(sum);
}
}  // namespace simt
#undef SIMT_BLAS

#define SIMT_BLAS_FOR(T, L)                                                                        \
  inline cublasStatus_t cublas##L##gemm(                                                           \
      cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,             \
      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {    \
    simt::gemm(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, *alpha, a, lda, b, ldb, *beta, c,    \
               ldc);                                                                               \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##gemmStridedBatched(                                             \
      cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,             \
      const T* alpha, const T* a, int lda, long long sa, const T* b, int ldb, long long sb,        \
      const T* beta, T* c, int ldc, long long sc, int count) {                                     \
    for (int i = 0; i < count; ++i) {                                                              \
      simt::gemm(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, *alpha, a + i * sa, lda,           \
                 b + i * sb, ldb, *beta, c + i * sc, ldc);                                         \
    }                                                                                              \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##gemv(cublasHandle_t, cublasOperation_t t, int m, int n,         \
                                        const T* alpha, const T* a, int lda, const T* x, int ix,   \
                                        const T* beta, T* y, int iy) {                             \
    simt::gemv(t != CUBLAS_OP_N, m, n, *alpha, a, lda, x, ix, *beta, y, iy);                       \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int ix, \
                                        T* y, int iy) {                                            \
    simt::axpy(n, *alpha, x, ix, y, iy);                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##scal(cublasHandle_t, int n, const T* alpha, T* x, int ix) {     \
    simt::scale(n, *alpha, x, ix);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##dot(cublasHandle_t, int n, const T* x, int ix, const T* y,      \
                                       int iy, T* result) {                                        \
    const T sum = simt::dot(n, x, ix, y, iy);                                                      \
    simt::hand_over(result, sum);                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##nrm2(cublasHandle_t, int n, const T* x, int ix, T* result) {    \
    const T norm = std::sqrt(simt::dot(n, x, ix, x, ix));                                          \
    simt::hand_over(result, norm);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##L##asum(cublasHandle_t, int n, const T* x, int ix, T* result) {    \
    const T sum = simt::sum_of_sizes(n, x, ix);                                                    \
    simt::hand_over(result, sum);                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }
SIMT_BLAS_FOR(float, S)
SIMT_BLAS_FOR(double, D)
#undef SIMT_BLAS_FOR

inline cublasStatus_t cublasSetVector(int n, int element_bytes, const void* x, int, void* y, int) {
  const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(element_bytes);
  return cudaMemcpy(y, x, bytes, cudaMemcpyDefault) ? CUBLAS_STATUS_MAPPING_ERROR
                                                    : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVector(int n, int element_bytes, const void* x, int ix, void* y,
                                      int iy) {
  return cublasSetVector(n, element_bytes, x, ix, y, iy);
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* a,
                                      int lda, void* b, int ldb) {
  const auto bytes = static_cast<std::size_t>(element_bytes);
  return cudaMemcpy2D(b, ldb * bytes, a, lda * bytes, rows * bytes,
                      static_cast<std::size_t>(columns), cudaMemcpyDefault)
             ? CUBLAS_STATUS_MAPPING_ERROR
             : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* a,
                                      int lda, void* b, int ldb) {
  return cublasSetMatrix(rows, columns, element_bytes, a, lda, b, ldb);
}
