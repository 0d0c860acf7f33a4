// Replaces libcublas.so: versioned symbols, bound to its own first, as NVIDIA's has them. It
// computes on the host, in float64.

#include "made_up_cublas.hpp"

#include <cublasLt.h>
#include <cublas_api.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>

struct cublasContext {
  static constexpr int kAlive = 0x5eed;
  int alive = kAlive;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessors = 0;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace {

// By name; looking one up takes no heap memory.
std::map<std::string, int, std::less<>> calls;
bool uses_lt = false, faulty = false;
void (*call_back)() = nullptr;

void count(const char* function) {
  const auto at = calls.find(function);
  ++(at == calls.end() ? calls[function] : at->second);
}
#define COUNT() count(__func__)

bool is_good(cublasHandle_t handle) { return handle && handle->alive == cublasContext::kAlive; }

bool has_good_op(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

struct Call {
  cublasOperation_t op_a, op_b;
  std::int64_t m, n, k;
  const void *alpha, *beta;
  std::int64_t lda, ldb, ldc;
};

cublasStatus_t judge(cublasHandle_t handle, const Call& p) {
  if (!is_good(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!has_good_op(p.op_a) || !has_good_op(p.op_b) || !p.alpha || !p.beta || p.m < 0 || p.n < 0 ||
      p.k < 0 || p.ldc < p.m) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// "Device" scalars lie in host memory, too.
void multiply(const Call& p, const void* a, const void* b, void* c) {
  const auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
  auto* const out = static_cast<float*>(c);
  const double alpha = *static_cast<const float*>(p.alpha);
  const double beta = *static_cast<const float*>(p.beta);
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      double sum = 0;
      for (std::int64_t t = 0; t < p.k; ++t) {
        const double left = p.op_a == CUBLAS_OP_N ? x[i + t * p.lda] : x[t + i * p.lda];
        const double right = p.op_b == CUBLAS_OP_N ? y[t + j * p.ldb] : y[j + t * p.ldb];
        sum += left * right;
      }
      float& at = out[i + j * p.ldc];
      at = static_cast<float>(alpha * sum + (beta == 0 ? 0 : beta * at));
    }
  }
  if (faulty && p.m > 0 && p.n > 0) out[0] += 1;
}

// As NVIDIA's cuBLAS does inside some of its functions.
cublasStatus_t through_lt(const Call& p, const void* a, const void* b, void* c) {
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t layouts[3];
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const std::int32_t op_a = p.op_a, op_b = p.op_b;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
  const auto rows = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  const bool ta = p.op_a != CUBLAS_OP_N, tb = p.op_b != CUBLAS_OP_N;
  cublasLtMatrixLayoutCreate(&layouts[0], CUDA_R_32F, rows(ta ? p.k : p.m), rows(ta ? p.m : p.k),
                             p.lda);
  cublasLtMatrixLayoutCreate(&layouts[1], CUDA_R_32F, rows(tb ? p.n : p.k), rows(tb ? p.k : p.n),
                             p.ldb);
  cublasLtMatrixLayoutCreate(&layouts[2], CUDA_R_32F, rows(p.m), rows(p.n), p.ldc);
  const auto status = cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(&uses_lt), operation,
                                     p.alpha, a, layouts[0], b, layouts[1], p.beta, c, layouts[2],
                                     c, layouts[2], nullptr, nullptr, 0, nullptr);
  for (const auto layout : layouts) cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(operation);
  return status;
}

cublasStatus_t single(cublasHandle_t handle, const Call& p, const void* a, const void* b, void* c) {
  const cublasStatus_t status = judge(handle, p);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (auto* const function = std::exchange(call_back, nullptr)) function();
  if (handle->workspace) std::memset(handle->workspace, 0xab, handle->workspace_bytes);
  if (uses_lt) return through_lt(p, a, b, c);
  multiply(p, a, b, c);
  return status;
}
cublasStatus_t strided(cublasHandle_t handle, const Call& p, const void* a, std::int64_t stride_a,
                       const void* b, std::int64_t stride_b, void* c, std::int64_t stride_c,
                       std::int64_t batch) {
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto status =
        single(handle, p, static_cast<const float*>(a) + i * stride_a,
               static_cast<const float*>(b) + i * stride_b, static_cast<float*>(c) + i * stride_c);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t arrays(cublasHandle_t handle, const Call& p, const void* const* a,
                      const void* const* b, void* const* c, std::int64_t batch) {
  if (!a || !b || !c) return CUBLAS_STATUS_INVALID_VALUE;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto status = single(handle, p, a[i], b[i], c[i]);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t vector(cublasHandle_t handle, cublasOperation_t op, std::int64_t m, std::int64_t n,
                      const float* alpha, const float* a, std::int64_t lda, const float* x,
                      std::int64_t incx, const float* beta, float* y, std::int64_t incy) {
  if (!is_good(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!has_good_op(op) || !alpha || !beta || incx == 0 || incy == 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool turned = op != CUBLAS_OP_N;
  const std::int64_t rows = turned ? n : m, terms = turned ? m : n;
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t t = 0; t < terms; ++t) {
      const std::int64_t at = incx < 0 ? (t - terms + 1) * incx : t * incx;
      sum += double{turned ? a[t + i * lda] : a[i + t * lda]} * x[at];
    }
    float& out = y[incy < 0 ? (i - rows + 1) * incy : i * incy];
    out = static_cast<float>(*alpha * sum + (*beta == 0 ? 0.0 : *beta * double{out}));
    if (faulty && i == 0) out += 1;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasHandle_t old_handle() {
  static cublasContext handle;
  return &handle;
}
cublasOperation_t operation(char letter) {
  if (letter == 'n' || letter == 'N') return CUBLAS_OP_N;
  if (letter == 't' || letter == 'T') return CUBLAS_OP_T;
  return letter == 'c' || letter == 'C' ? CUBLAS_OP_C : static_cast<cublasOperation_t>(-1);
}

}  // namespace

int made_up_cublas_calls(const char* function) {
  const auto at = calls.find(function);
  return at == calls.end() ? 0 : at->second;
}
void made_up_cublas_use_lt(int wanted) { uses_lt = wanted != 0; }
void made_up_cublas_fault(int wanted) {
  faulty = wanted != 0;
  made_up_cublaslt_fault(wanted);
}
void made_up_cublas_call_back(void (*function)()) { call_back = function; }

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  COUNT();
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  handle->alive = 0;  // and stays, so that a call with it can be refused
  return CUBLAS_STATUS_SUCCESS;
}
#define GETTER(function, type, member)                          \
  cublasStatus_t function(cublasHandle_t handle, type* value) { \
    if (!is_good(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
    *value = handle->member;                                    \
    return CUBLAS_STATUS_SUCCESS;                               \
  }
#define SETTER(function, type, member)                          \
  cublasStatus_t function(cublasHandle_t handle, type value) {  \
    if (!is_good(handle)) return CUBLAS_STATUS_NOT_INITIALIZED; \
    handle->member = value;                                     \
    return CUBLAS_STATUS_SUCCESS;                               \
  }
GETTER(cublasGetStream_v2, cudaStream_t, stream)
SETTER(cublasSetStream_v2, cudaStream_t, stream)
GETTER(cublasGetPointerMode_v2, cublasPointerMode_t, pointers)
SETTER(cublasSetPointerMode_v2, cublasPointerMode_t, pointers)
GETTER(cublasGetMathMode, cublasMath_t, math)
SETTER(cublasSetMathMode, cublasMath_t, math)
GETTER(cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
SETTER(cublasSetAtomicsMode, cublasAtomicsMode_t, atomics)
#if !defined(OLDER_CUBLAS)
GETTER(cublasGetSmCountTarget, int, multiprocessors)
SETTER(cublasSetSmCountTarget, int, multiprocessors)
#endif

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (!is_good(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasInit() { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetError() { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  return cublasSetStream_v2(old_handle(), stream);
}
void cublasSgemm(char op_a, char op_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) {
  COUNT();
  single(old_handle(), {operation(op_a), operation(op_b), m, n, k, &alpha, &beta, lda, ldb, ldc}, a,
         b, c);
}
void cublasSgemv(char op, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int incx, float beta, float* y, int incy) {
  COUNT();
  vector(old_handle(), operation(op), m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}

#define HEAD cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b
#define CALL \
  { op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc }
#define PRODUCTS(Int, suffix)                                                                      \
  cublasStatus_t cublasSgemm_v2##suffix(HEAD, Int m, Int n, Int k, const float* alpha,             \
                                        const float* a, Int lda, const float* b, Int ldb,          \
                                        const float* beta, float* c, Int ldc) {                    \
    COUNT();                                                                                       \
    return single(handle, CALL, a, b, c);                                                          \
  }                                                                                                \
  cublasStatus_t cublasSgemmEx##suffix(                                                            \
      HEAD, Int m, Int n, Int k, const float* alpha, const void* a, cudaDataType, Int lda,         \
      const void* b, cudaDataType, Int ldb, const float* beta, void* c, cudaDataType, Int ldc) {   \
    COUNT();                                                                                       \
    return single(handle, CALL, a, b, c);                                                          \
  }                                                                                                \
  cublasStatus_t cublasGemmEx##suffix(HEAD, Int m, Int n, Int k, const void* alpha, const void* a, \
                                      cudaDataType, Int lda, const void* b, cudaDataType, Int ldb, \
                                      const void* beta, void* c, cudaDataType, Int ldc,            \
                                      cublasComputeType_t, cublasGemmAlgo_t) {                     \
    COUNT();                                                                                       \
    return single(handle, CALL, a, b, c);                                                          \
  }                                                                                                \
  cublasStatus_t cublasSgemmStridedBatched##suffix(                                                \
      HEAD, Int m, Int n, Int k, const float* alpha, const float* a, Int lda, long long stride_a,  \
      const float* b, Int ldb, long long stride_b, const float* beta, float* c, Int ldc,           \
      long long stride_c, Int batch) {                                                             \
    COUNT();                                                                                       \
    return strided(handle, CALL, a, stride_a, b, stride_b, c, stride_c, batch);                    \
  }                                                                                                \
  cublasStatus_t cublasGemmStridedBatchedEx##suffix(                                               \
      HEAD, Int m, Int n, Int k, const void* alpha, const void* a, cudaDataType, Int lda,          \
      long long stride_a, const void* b, cudaDataType, Int ldb, long long stride_b,                \
      const void* beta, void* c, cudaDataType, Int ldc, long long stride_c, Int batch,             \
      cublasComputeType_t, cublasGemmAlgo_t) {                                                     \
    COUNT();                                                                                       \
    return strided(handle, CALL, a, stride_a, b, stride_b, c, stride_c, batch);                    \
  }                                                                                                \
  cublasStatus_t cublasSgemmBatched##suffix(                                                       \
      HEAD, Int m, Int n, Int k, const float* alpha, const float* const a[], Int lda,              \
      const float* const b[], Int ldb, const float* beta, float* const c[], Int ldc, Int batch) {  \
    COUNT();                                                                                       \
    return arrays(handle, CALL, reinterpret_cast<const void* const*>(a),                           \
                  reinterpret_cast<const void* const*>(b), reinterpret_cast<void* const*>(c),      \
                  batch);                                                                          \
  }                                                                                                \
  cublasStatus_t cublasGemmBatchedEx##suffix(                                                      \
      HEAD, Int m, Int n, Int k, const void* alpha, const void* const a[], cudaDataType, Int lda,  \
      const void* const b[], cudaDataType, Int ldb, const void* beta, void* const c[],             \
      cudaDataType, Int ldc, Int batch, cublasComputeType_t, cublasGemmAlgo_t) {                   \
    COUNT();                                                                                       \
    return arrays(handle, CALL, a, b, c, batch);                                                   \
  }                                                                                                \
  cublasStatus_t cublasSgemv_v2##suffix(                                                           \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const float* alpha,               \
      const float* a, Int lda, const float* x, Int incx, const float* beta, float* y, Int incy) {  \
    COUNT();                                                                                       \
    return vector(handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy);                        \
  }
PRODUCTS(int, )
PRODUCTS(int64_t, _64)

// Nobody takes this one; inside it, too, cublasLt is called.
cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                              int n, int k, const double*, const double* a, int lda,
                              const double* b, int ldb, const double*, double* c, int ldc) {
  COUNT();
  const float one = 1, zero = 0;
  return through_lt({op_a, op_b, m, n, k, &one, &zero, lda, ldb, ldc}, a, b, c);
}

}  // extern "C"
