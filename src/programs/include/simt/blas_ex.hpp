#pragma once
// The products of a small cuBLAS whose types are arguments: FP32, half, bfloat16, FP64 and 8-bit
// integers. Plain loops on the CPU, which are not counted.

#include <vector>

#include "simt/blas.hpp"
#include "simt/half_functions.hpp"

namespace simt {

// Elements of device memory, which the host's instrumentation would refuse.
template <class T = float>
__attribute__((no_sanitize("thread"))) T element(const void* p, cudaDataType type, std::size_t i) {
  switch (type) {
    case CUDA_R_16F:
      return static_cast<T>(HalfFormat::decode(((const unsigned short*)p)[i]));
    case CUDA_R_16BF:
      return static_cast<T>(BfloatFormat::decode(((const unsigned short*)p)[i]));
    case CUDA_R_8I:
      return static_cast<T>(((const signed char*)p)[i]);
    case CUDA_R_32I:
      return static_cast<T>(((const int*)p)[i]);
    case CUDA_R_64F:
      return static_cast<T>(((const double*)p)[i]);
    default:
      return static_cast<T>(((const float*)p)[i]);
  }
}
template <class T>
__attribute__((no_sanitize("thread"))) void set_element(void* p, cudaDataType type, std::size_t i,
                                                        T value) {
  switch (type) {
    case CUDA_R_16F:
      ((unsigned short*)p)[i] = HalfFormat::encode(static_cast<float>(value));
      break;
    case CUDA_R_16BF:
      ((unsigned short*)p)[i] = BfloatFormat::encode(static_cast<float>(value));
      break;
    case CUDA_R_32I:
      ((int*)p)[i] = static_cast<int>(value);
      break;
    case CUDA_R_64F:
      ((double*)p)[i] = static_cast<double>(value);
      break;
    default:
      ((float*)p)[i] = static_cast<float>(value);
  }
}
inline bool is_known(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

struct ExMatrix {
  const void* p;
  cudaDataType type;
  std::size_t ld;
};
struct ExProduct {
  bool ta, tb;
  int m, n, k;
  const void *alpha, *beta;
};

// The factor of a product that is summed in `compute`.
inline float ex_factor(const void* p, cublasComputeType_t compute) {
  return compute == CUBLAS_COMPUTE_16F ? element(p, CUDA_R_16F, 0) : *(const float*)p;
}

// All of a matrix's columns as numbers, one behind the other.
template <class T>
std::vector<T> as_numbers(const ExMatrix& m, std::size_t rows, std::size_t columns) {
  std::vector<T> out(rows * columns);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      out[j * rows + i] = element<T>(m.p, m.type, j * m.ld + i);
    }
  }
  return out;
}
// A·B, m×n, without gaps between its columns.
template <class T>
std::vector<T> sums_of(const ExProduct& g, const ExMatrix& a, const ExMatrix& b) {
  const auto m = static_cast<std::size_t>(g.m), n = static_cast<std::size_t>(g.n),
             k = static_cast<std::size_t>(g.k);
  const std::vector<T> left = as_numbers<T>(a, g.ta ? k : m, g.ta ? m : k),
                       right = as_numbers<T>(b, g.tb ? n : k, g.tb ? k : n);
  std::vector<T> sums(m * n);
  gemm(g.ta, g.tb, g.m, g.n, g.k, T{1}, left.data(), g.ta ? k : m, right.data(), g.tb ? n : k, T{0},
       sums.data(), m);
  program_memory_changed();  // the next product has other numbers where these lay
  return sums;
}
// C = alpha A B + beta C, summed as T.
template <class T>
void typed_product(const ExProduct& g, const ExMatrix& a, const ExMatrix& b, void* c,
                   cudaDataType type_c, std::size_t ldc, T alpha, T beta) {
  const std::vector<T> sums = sums_of<T>(g, a, b);
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const auto m = static_cast<std::size_t>(g.m), in_c = at % m + at / m * ldc;
    const T old = beta != 0 ? beta * element<T>(c, type_c, in_c) : 0;
    set_element<T>(c, type_c, in_c, alpha * sums[at] + old);
  }
}
inline cublasStatus_t ex_product(const ExProduct& g, const ExMatrix& a, const ExMatrix& b, void* c,
                                 cudaDataType type_c, std::size_t ldc,
                                 cublasComputeType_t compute) {
  const auto all = [&](cudaDataType type) {
    return a.type == type && b.type == type && type_c == type;
  };
  if (all(CUDA_R_64F)) {
    gemm(g.ta, g.tb, g.m, g.n, g.k, *(const double*)g.alpha, (const double*)a.p, a.ld,
         (const double*)b.p, b.ld, *(const double*)g.beta, (double*)c, ldc);
  } else if (all(CUDA_R_32F)) {
    gemm(g.ta, g.tb, g.m, g.n, g.k, *(const float*)g.alpha, (const float*)a.p, a.ld,
         (const float*)b.p, b.ld, *(const float*)g.beta, (float*)c, ldc);
  } else if (a.type == CUDA_R_8I && b.type == CUDA_R_8I && type_c == CUDA_R_32I) {
    typed_product(g, a, b, c, type_c, ldc, *(const int*)g.alpha, *(const int*)g.beta);
  } else if (is_known(a.type) && is_known(b.type) && is_known(type_c)) {
    typed_product(g, a, b, c, type_c, ldc, ex_factor(g.alpha, compute), ex_factor(g.beta, compute));
  } else {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline std::size_t ex_bytes(cudaDataType type) {
  return type == CUDA_R_64F                          ? 8
         : type == CUDA_R_16F || type == CUDA_R_16BF ? 2
         : type == CUDA_R_8I                         ? 1
                                                     : 4;
}
// The element `i` of a matrix.
inline const void* ex_at(const void* p, cudaDataType type, long long i) {
  return (const char*)p + i * static_cast<long long>(ex_bytes(type));
}

// What older programs name by the type of the data.
inline cublasComputeType_t compute_of(cudaDataType type) {
  return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}
inline cublasComputeType_t compute_of(cublasComputeType_t compute) { return compute; }

}  // namespace simt

template <class Compute>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t ta,
                                          cublasOperation_t tb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, Compute compute,
                                          cublasGemmAlgo_t) {
  const simt::ExProduct g{ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, alpha, beta};
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status = simt::ex_product(
        g, {simt::ex_at(a, type_a, i * stride_a), type_a, static_cast<std::size_t>(lda)},
        {simt::ex_at(b, type_b, i * stride_b), type_b, static_cast<std::size_t>(ldb)},
        const_cast<void*>(simt::ex_at(c, type_c, i * stride_c)), type_c,
        static_cast<std::size_t>(ldc), simt::compute_of(compute));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                            int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            Compute compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b,
                                    ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                                  int m, int n, int k, const __half* alpha, const __half* a,
                                  int lda, const __half* b, int ldb, const __half* beta, __half* c,
                                  int ldc) {
  return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, beta,
                      c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
