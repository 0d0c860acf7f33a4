// Replaces libcublasLt.so.

#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "made_up_cublas.hpp"

namespace {

int calls = 0, questions = 0;
bool faulty = false;

// Where a descriptor holds an attribute.
struct Field {
  std::size_t at = 0, bytes = 0;  // no bytes: there is no such attribute
};
Field field_of(const cublasLtMatrixLayoutOpaque_t*, int which) {
  constexpr Field kFields[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                               {32, 4}, {40, 8}, {48, 8}, {36, 4}};
  return which >= 0 && which < 9 ? kFields[which] : Field{};
}
Field field_of(const cublasLtMatmulDescOpaque_t*, int which) {
  switch (which) {
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return {static_cast<std::size_t>(8 + 8 * which), 8};
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return {static_cast<std::size_t>(8 + 8 * which), 4};
    default:
      return which >= 0 && which <= CUBLASLT_MATMUL_DESC_EPILOGUE
                 ? Field{static_cast<std::size_t>(8 + 8 * which), 4}
                 : Field{};
  }
}

// A descriptor of fewer bytes is one of an older version, which has fewer attributes.
constexpr std::size_t kWhole = 240, kOlder = 96;
std::size_t bytes_of(const cublasLtMatrixLayoutOpaque_t*) { return 56; }
std::size_t bytes_of(const cublasLtMatmulDescOpaque_t* d) {
  return d->data[0] == 2 ? kWhole : kOlder;
}

// Of each byte. If it is not 0, nobody finds a value where it is stored.
const unsigned char mask = std::getenv("MADE_UP_CUBLASLT_HIDES_VALUES") ? 0x5a : 0;

template <class Opaque>
cublasStatus_t write(Opaque* descriptor, int which, const void* value, std::size_t bytes) {
  const Field field = field_of(descriptor, which);
  if (field.bytes == 0 || bytes < field.bytes) return CUBLAS_STATUS_INVALID_VALUE;
  if (field.at + field.bytes > bytes_of(descriptor)) return CUBLAS_STATUS_NOT_SUPPORTED;
  auto* const to = reinterpret_cast<unsigned char*>(descriptor) + field.at;
  const auto* const from = static_cast<const unsigned char*>(value);
  for (std::size_t i = 0; i < field.bytes; ++i) to[i] = from[i] ^ mask;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque>
cublasStatus_t read(const Opaque* descriptor, int which, void* value, std::size_t bytes,
                    std::size_t* written) {
  const Field field = field_of(descriptor, which);
  if (field.bytes == 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (field.at + field.bytes > bytes_of(descriptor)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (written) *written = field.bytes;
  if (bytes == 0) return CUBLAS_STATUS_SUCCESS;
  if (bytes < field.bytes) return CUBLAS_STATUS_INVALID_VALUE;
  const auto* const from = reinterpret_cast<const unsigned char*>(descriptor) + field.at;
  auto* const to = static_cast<unsigned char*>(value);
  for (std::size_t i = 0; i < field.bytes; ++i) to[i] = from[i] ^ mask;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Value, class Opaque>
void put(Opaque* descriptor, int which, Value value) {
  write(descriptor, which, &value, sizeof value);
}
template <class Value, class Opaque>
Value get(const Opaque* descriptor, int which) {
  Value value{};
  read(descriptor, which, &value, sizeof value, nullptr);
  return value;
}

struct Matrix {
  float* data;
  std::uint64_t rows, columns;
  std::int64_t ld, stride;
  bool by_rows;
  Matrix(const void* at, cublasLtMatrixLayout_t layout)
      : data(static_cast<float*>(const_cast<void*>(at))) {
    rows = get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS);
    columns = get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS);
    ld = get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD);
    stride = get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
    by_rows = get<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER) == CUBLASLT_ORDER_ROW;
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
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t d, size_t bytes,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  if (bytes < kOlder) return CUBLAS_STATUS_ALLOC_FAILED;
  d->data[0] = bytes < kWhole ? 1 : 2;
  put<std::int32_t>(d, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute);
  put<std::int32_t>(d, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale);
  for (const auto which :
       {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        CUBLASLT_MATMUL_DESC_TRANSC, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET}) {
    put<std::int32_t>(d, which, 0);
  }
  put<std::int32_t>(d, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL);
  put<std::int32_t>(d, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  put<std::int32_t>(d, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1);
  for (const auto which :
       {CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER}) {
    put<const void*>(d, which, nullptr);
  }
  put<std::int64_t>(d, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 0);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* descriptor,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  *descriptor = new cublasLtMatmulDescOpaque_t{};
  return cublasLtMatmulDescInit_internal(*descriptor, sizeof **descriptor, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  return write(descriptor, which, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t descriptor,
                                              cublasLtMatmulDescAttributes_t which, void* value,
                                              size_t bytes, size_t* written) {
  ++questions;
  return read(descriptor, which, value, bytes, written);
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t ld) {
  if (bytes < bytes_of(layout)) return CUBLAS_STATUS_ALLOC_FAILED;
  put<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, type);
  put<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL);
  put<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
  put<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS, columns);
  put<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD, ld);
  put<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
  put<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
  put<std::uint32_t>(layout, 8, 0);  // the batch mode
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  *layout = new cublasLtMatrixLayoutOpaque_t{};
  return cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows, columns, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, size_t bytes) {
  return write(layout, which, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void* value,
                                                size_t bytes, size_t* written) {
  ++questions;
  return read(layout, which, value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*,
                              size_t, cudaStream_t) {
  ++calls;
  if (!handle || !operation || !alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  const bool ta = get<std::int32_t>(operation, CUBLASLT_MATMUL_DESC_TRANSA) != CUBLAS_OP_N;
  const bool tb = get<std::int32_t>(operation, CUBLASLT_MATMUL_DESC_TRANSB) != CUBLAS_OP_N;
  const int epilogue = get<std::int32_t>(operation, CUBLASLT_MATMUL_DESC_EPILOGUE);
  const auto* const bias = get<const float*>(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  const Matrix A(a, a_layout), B(b, b_layout), C(c, c_layout), D(d, d_layout);
  const auto k = static_cast<std::int64_t>(ta ? A.rows : A.columns);
  const auto batch = get<std::int32_t>(d_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
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
