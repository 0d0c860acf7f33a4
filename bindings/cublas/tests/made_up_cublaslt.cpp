// Stands in for libcublasLt.so.

#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "made_up_cublas.hpp"

namespace {

int calls = 0, questions = 0;
bool faulty = false;

// The attributes that were set, by number; the header's structure holds the pointer.
using Attributes = std::map<int, std::vector<unsigned char>>;

template <class Opaque>
Attributes& of(const Opaque* descriptor) {
  Attributes* attributes = nullptr;
  std::memcpy(&attributes, descriptor->data, sizeof attributes);
  return *attributes;
}
template <class Opaque>
void make(Opaque** descriptor) {
  auto* const attributes = new Attributes;
  *descriptor = new Opaque{};
  std::memcpy((*descriptor)->data, &attributes, sizeof attributes);
}
template <class Value>
void put(Attributes& attributes, int which, Value value) {
  auto& bytes = attributes[which];
  bytes.resize(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
}
template <class Value>
Value get(const Attributes& attributes, int which) {
  Value value{};
  const auto at = attributes.find(which);
  if (at != attributes.end()) std::memcpy(&value, at->second.data(), sizeof value);
  return value;
}
cublasStatus_t read(const Attributes& attributes, int which, void* value, std::size_t bytes,
                    std::size_t* written) {
  ++questions;
  const auto at = attributes.find(which);
  if (at == attributes.end() || at->second.size() > bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, at->second.data(), at->second.size());
  if (written) *written = at->second.size();
  return CUBLAS_STATUS_SUCCESS;
}

struct Matrix {
  float* data;
  std::uint64_t rows, columns;
  std::int64_t ld, stride;
  bool by_rows;
  Matrix(const void* at, cublasLtMatrixLayout_t layout)
      : data(static_cast<float*>(const_cast<void*>(at))) {
    const Attributes& a = of(layout);
    rows = get<std::uint64_t>(a, CUBLASLT_MATRIX_LAYOUT_ROWS);
    columns = get<std::uint64_t>(a, CUBLASLT_MATRIX_LAYOUT_COLS);
    ld = get<std::int64_t>(a, CUBLASLT_MATRIX_LAYOUT_LD);
    stride = get<std::int64_t>(a, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
    by_rows = get<std::int32_t>(a, CUBLASLT_MATRIX_LAYOUT_ORDER) == CUBLASLT_ORDER_ROW;
  }
  float& at(std::int64_t i, std::int64_t j, std::int64_t matrix, bool turned = false) const {
    if (turned) std::swap(i, j);
    return data[matrix * stride + (by_rows ? i * ld + j : i + j * ld)];
  }
};

double finish(int epilogue, double x) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU) return x < 0 ? 0 : x;
  if (epilogue & CUBLASLT_EPILOGUE_GELU) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

}  // namespace

int made_up_cublaslt_calls() { return calls; }
int made_up_cublaslt_questions() { return questions; }
void made_up_cublaslt_fault(int wanted) { faulty = wanted != 0; }

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&calls);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  make(descriptor);
  Attributes& a = of(*descriptor);
  put<std::int32_t>(a, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute);
  put<std::int32_t>(a, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale);
  for (const auto which :
       {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        CUBLASLT_MATMUL_DESC_TRANSC, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET}) {
    put<std::int32_t>(a, which, 0);
  }
  put<std::int32_t>(a, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL);
  put<std::int32_t>(a, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  put<std::int32_t>(a, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1);
  for (const auto which :
       {CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER}) {
    put<const void*>(a, which, nullptr);
  }
  put<std::int64_t>(a, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 0);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  delete &of(descriptor);
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  const auto* const from = static_cast<const unsigned char*>(value);
  of(descriptor)[which].assign(from, from + bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t which, void* value,
                                              size_t bytes, size_t* written) {
  return read(of(descriptor), which, value, bytes, written);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  make(layout);
  Attributes& a = of(*layout);
  put<std::uint32_t>(a, CUBLASLT_MATRIX_LAYOUT_TYPE, type);
  put<std::int32_t>(a, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL);
  put<std::uint64_t>(a, CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
  put<std::uint64_t>(a, CUBLASLT_MATRIX_LAYOUT_COLS, columns);
  put<std::int64_t>(a, CUBLASLT_MATRIX_LAYOUT_LD, ld);
  put<std::int32_t>(a, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
  put<std::int64_t>(a, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, size_t bytes) {
  const auto* const from = static_cast<const unsigned char*>(value);
  of(layout)[which].assign(from, from + bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void* value,
                                                size_t bytes, size_t* written) {
  return read(of(layout), which, value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*,
                              size_t, cudaStream_t) {
  ++calls;
  if (!handle || !operation || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  const Attributes& attributes = of(operation);
  const bool ta = get<std::int32_t>(attributes, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N;
  const bool tb = get<std::int32_t>(attributes, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N;
  const int epilogue = get<std::int32_t>(attributes, CUBLASLT_MATMUL_DESC_EPILOGUE);
  const auto* const bias = get<const float*>(attributes, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  const Matrix A(a, a_layout), B(b, b_layout), C(c, c_layout), D(d, d_layout);
  const auto k = static_cast<std::int64_t>(ta ? A.rows : A.columns);
  const auto batch = get<std::int32_t>(of(d_layout), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  if (k != static_cast<std::int64_t>(tb ? B.columns : B.rows)) return CUBLAS_STATUS_INVALID_VALUE;
  const float x = *static_cast<const float*>(alpha), y = *static_cast<const float*>(beta);
  for (std::int64_t matrix = 0; matrix < batch; ++matrix) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(D.rows); ++i) {
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(D.columns); ++j) {
        double sum = 0;
        for (std::int64_t t = 0; t < k; ++t) {
          sum += double{A.at(i, t, matrix, ta)} * B.at(t, j, matrix, tb);
        }
        sum = x * sum + (y == 0 ? 0 : y * double{C.at(i, j, matrix)});
        if (epilogue & CUBLASLT_EPILOGUE_BIAS) sum += bias[i];
        D.at(i, j, matrix) = static_cast<float>(finish(epilogue, sum));
      }
    }
    if (faulty) D.at(0, 0, matrix) += 1;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
