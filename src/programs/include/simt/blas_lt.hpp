#pragma once
// A small cuBLASLt: column-major products of FP32, half and bfloat16, summed in float, with a bias,
// ReLU or GELU behind them. Plain loops on the CPU, which are not counted.

#include "simt/blas_ex.hpp"

enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_EPILOGUE,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE
};
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES };
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
};

struct cublasLtMatmulDescOpaque {
  cudaDataType scale_type;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t ld;
  std::int32_t batches = 1;
  std::int64_t stride = 0;
};
typedef cublasLtMatmulDescOpaque* cublasLtMatmulDesc_t;
typedef cublasLtMatrixLayoutOpaque* cublasLtMatrixLayout_t;
typedef struct cublasLtPreference* cublasLtMatmulPreference_t;
typedef struct cublasLtContext* cublasLtHandle_t;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
};

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = (cublasLtHandle_t)16;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                               cudaDataType scale_type) {
  *made = new cublasLtMatmulDescOpaque{scale_type};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                     cublasLtMatmulDescAttributes_t which,
                                                     const void* value, std::size_t bytes) {
  void* const field = which == CUBLASLT_MATMUL_DESC_TRANSA         ? (void*)&d->transpose_a
                      : which == CUBLASLT_MATMUL_DESC_TRANSB       ? (void*)&d->transpose_b
                      : which == CUBLASLT_MATMUL_DESC_EPILOGUE     ? (void*)&d->epilogue
                      : which == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? (void*)&d->bias
                                                                   : nullptr;
  if (field) std::memcpy(field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t ld) {
  *made = new cublasLtMatrixLayoutOpaque{type, rows, columns, ld};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t which,
                                                       const void* value, std::size_t bytes) {
  const bool is_count = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  std::memcpy(is_count ? (void*)&layout->batches : (void*)&layout->stride, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = (cublasLtMatmulPreference_t)16;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t,
                                                           const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

namespace simt {
template <class T>
T activated(T x, cublasLtEpilogue_t epilogue) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU) return x > 0 ? x : T{0};
  if (!(epilogue & CUBLASLT_EPILOGUE_GELU)) return x;
  const auto wide = static_cast<float>(x);
  const float inner = 0.7978845608f * (wide + 0.044715f * wide * wide * wide);
  return static_cast<T>(0.5f * wide * (1 + std::tanh(inner)));
}
// What a product is summed as: CUDA_R_32F for floats of 16 and 32 bits, CUDA_R_64F, CUDA_R_32I, or
// none.
constexpr auto kNoSum = static_cast<cudaDataType>(-1);
inline cudaDataType lt_sum(cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                           cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  const auto all = [&](cudaDataType of_factors, cudaDataType of_sums) {
    return a->type == of_factors && b->type == of_factors && c->type == of_sums &&
           d->type == of_sums;
  };
  if (all(CUDA_R_64F, CUDA_R_64F)) return CUDA_R_64F;
  if (all(CUDA_R_8I, CUDA_R_32I)) return CUDA_R_32I;
  const bool known =
      is_known(a->type) && is_known(b->type) && is_known(c->type) && is_known(d->type);
  return known ? CUDA_R_32F : kNoSum;
}
// D = activation(alpha A B + beta C + bias), summed as T.
template <class T>
void lt_product(cublasLtMatmulDesc_t how, const void* alpha, const void* a,
                cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb,
                const void* beta, const void* c, cublasLtMatrixLayout_t lc, void* d,
                cublasLtMatrixLayout_t ld) {
  const bool ta = how->transpose_a != CUBLAS_OP_N, tb = how->transpose_b != CUBLAS_OP_N;
  const std::size_t m = ld->rows, n = ld->columns, k = ta ? la->rows : la->columns;
  const T scale = element<T>(alpha, how->scale_type, 0),
          of_c = element<T>(beta, how->scale_type, 0);
  for (std::int32_t batch = 0; batch < ld->batches; ++batch) {
    const auto first = [&](cublasLtMatrixLayout_t l) {
      return static_cast<std::size_t>(batch * l->stride);
    };
    const auto matrix = [&](const void* p, cublasLtMatrixLayout_t l) {
      return ExMatrix{ex_at(p, l->type, batch * l->stride), l->type,
                      static_cast<std::size_t>(l->ld)};
    };
    const std::vector<T> sums = sums_of<T>(
        {ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, beta},
        matrix(a, la), matrix(b, lb));
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < m; ++i) {
        T x = scale * sums[j * m + i];
        const std::size_t in_c = first(lc) + j * static_cast<std::size_t>(lc->ld) + i;
        if (of_c != 0) x += of_c * element<T>(c, lc->type, in_c);
        const bool has_bias = how->epilogue & CUBLASLT_EPILOGUE_BIAS;
        if (has_bias) x += element<T>(how->bias, ld->type, i);
        set_element(d, ld->type, first(ld) + j * static_cast<std::size_t>(ld->ld) + i,
                    activated(x, how->epilogue));
      }
    }
  }
}
}  // namespace simt

inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t, int,
    cublasLtMatmulHeuristicResult_t* results, int* count) {
  const bool known = simt::lt_sum(a, b, c, d) != simt::kNoSum;
  *results = {{}, 0, known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED, 1};
  *count = known;
  return results->state;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t how, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t la, const void* b,
                                     cublasLtMatrixLayout_t lb, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld,
                                     const cublasLtMatmulAlgo_t*, void*, std::size_t,
                                     cudaStream_t) {
  switch (simt::lt_sum(la, lb, lc, ld)) {
    case CUDA_R_32F:
      simt::lt_product<float>(how, alpha, a, la, b, lb, beta, c, lc, d, ld);
      return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_64F:
      simt::lt_product<double>(how, alpha, a, la, b, lb, beta, c, lc, d, ld);
      return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_32I:
      simt::lt_product<int>(how, alpha, a, la, b, lb, beta, c, lc, d, ld);
      return CUBLAS_STATUS_SUCCESS;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
