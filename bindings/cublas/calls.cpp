// cuBLAS's functions of today, by the names that cublas_v2.h gives them.

#include <atomic>

#include "serve.hpp"

#define WARPLADDER_EXPORT extern "C" [[gnu::visibility("default")]]

namespace warpladder::cublas {

cublasStatus_t not_loaded(Function function) noexcept {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) report("%s was called, but no cuBLAS is loaded", name_of(function));
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

namespace {

struct Types {
  cudaDataType a, b, c;
};
bool all_fp32(const Types& types) {
  return types.a == CUDA_R_32F && types.b == CUDA_R_32F && types.c == CUDA_R_32F;
}

Outcome judge_types(const Types& types, cublasComputeType_t compute, cublasGemmAlgo_t algorithm,
                    Product& p) {
  if (!all_fp32(types)) return Outcome::types;
  p.pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  const bool never_tf32 = knobs().precision == Precision::never_tf32;
  if (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && !never_tf32) return Outcome::tf32;
  if (compute != CUBLAS_COMPUTE_32F && !p.pedantic && compute != CUBLAS_COMPUTE_32F_FAST_TF32) {
    return Outcome::compute_type;
  }
  // The algorithms with _TENSOR_OP in their names may use FP16, but need not: cuBLAS 13 multiplies
  // in FP32 for CuPy, which names one of them.
  const bool known =
      (algorithm >= CUBLAS_GEMM_DEFAULT && algorithm <= CUBLAS_GEMM_ALGO23) ||
      (algorithm >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algorithm <= CUBLAS_GEMM_ALGO15_TENSOR_OP);
  return known ? Outcome::taken : Outcome::algorithm;
}

const float* floats(const void* data) { return static_cast<const float*>(data); }
const float* const* arrays(const void* data) { return static_cast<const float* const*>(data); }

// The arguments that all products have.
template <class Int>
struct Arguments {
  cublasOperation_t op_a, op_b;
  Int m, n, k;
  const void *alpha, *beta;
  Int lda, ldb, ldc;
};
template <class Int>
void fill(Product& p, const Arguments<Int>& given) {
  p.op_a = given.op_a;
  p.op_b = given.op_b;
  p.m = given.m;
  p.n = given.n;
  p.k = given.k;
  p.alpha_at = floats(given.alpha);
  p.beta_at = floats(given.beta);
  p.a.ld = given.lda;
  p.b.ld = given.ldb;
  p.c.ld = p.d.ld = given.ldc;
}
template <class Int>
void fill(Product& p, const Arguments<Int>& given, const void* a, const void* b, const void* c) {
  fill(p, given);
  p.a.data = floats(a);
  p.b.data = floats(b);
  p.c.data = p.d.data = floats(c);
}
template <class Int>
void fill_strided(Product& p, const Arguments<Int>& given, const void* a, long long stride_a,
                  const void* b, long long stride_b, const void* c, long long stride_c, Int batch) {
  fill(p, given, a, b, c);
  p.a.stride = stride_a;
  p.b.stride = stride_b;
  p.d.stride = p.c.stride = stride_c;
  p.batch = batch;
}
template <class Int>
Outcome fill_arrays(Product& p, const Arguments<Int>& given, const void* a, const void* b,
                    const void* c, Int batch) {
  fill(p, given);
  p.batch = batch;
  p.a.pointers = arrays(a);
  p.b.pointers = arrays(b);
  p.c.pointers = p.d.pointers = arrays(c);
  return a && b && c ? Outcome::taken : Outcome::arguments;
}

template <class Int>
cublasStatus_t sgemm(Symbol symbol, const void* caller, cublasHandle_t handle,
                     cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,
                     const float* alpha, const float* a, Int lda, const float* b, Int ldb,
                     const float* beta, float* c, Int ldc) {
  return serve(
      Function::sgemm, caller, handle,
      [&](Product& p) {
        fill<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, b, c);
        return Outcome::taken;
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, lda, b,
                                           ldb, beta, c, ldc);
      });
}

template <class Int>
cublasStatus_t sgemm_ex(Symbol symbol, const void* caller, cublasHandle_t handle,
                        cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,
                        const float* alpha, const void* a, cudaDataType a_type, Int lda,
                        const void* b, cudaDataType b_type, Int ldb, const float* beta, void* c,
                        cudaDataType c_type, Int ldc) {
  return serve(
      Function::sgemm_ex, caller, handle,
      [&](Product& p) {
        fill<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, b, c);
        return all_fp32({a_type, b_type, c_type}) ? Outcome::taken : Outcome::types;
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, a_type,
                                           lda, b, b_type, ldb, beta, c, c_type, ldc);
      });
}

template <class Int>
cublasStatus_t sgemm_strided_batched(Symbol symbol, const void* caller, cublasHandle_t handle,
                                     cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n,
                                     Int k, const float* alpha, const float* a, Int lda,
                                     long long stride_a, const float* b, Int ldb,
                                     long long stride_b, const float* beta, float* c, Int ldc,
                                     long long stride_c, Int batch) {
  return serve(
      Function::sgemm_strided_batched, caller, handle,
      [&](Product& p) {
        fill_strided<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, stride_a, b,
                          stride_b, c, stride_c, batch);
        return Outcome::taken;
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, lda,
                                           stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,
                                           batch);
      });
}

template <class Int>
cublasStatus_t sgemm_batched(Symbol symbol, const void* caller, cublasHandle_t handle,
                             cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,
                             const float* alpha, const float* const* a, Int lda,
                             const float* const* b, Int ldb, const float* beta, float* const* c,
                             Int ldc, Int batch) {
  return serve(
      Function::sgemm_batched, caller, handle,
      [&](Product& p) {
        return fill_arrays<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, b, c,
                                batch);
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, lda, b,
                                           ldb, beta, c, ldc, batch);
      });
}

template <class Int>
cublasStatus_t gemm_ex(Symbol symbol, const void* caller, cublasHandle_t handle,
                       cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,
                       const void* alpha, const void* a, cudaDataType a_type, Int lda,
                       const void* b, cudaDataType b_type, Int ldb, const void* beta, void* c,
                       cudaDataType c_type, Int ldc, cublasComputeType_t compute,
                       cublasGemmAlgo_t algorithm) {
  return serve(
      Function::gemm_ex, caller, handle,
      [&](Product& p) {
        fill<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, b, c);
        return judge_types({a_type, b_type, c_type}, compute, algorithm, p);
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, a_type,
                                           lda, b, b_type, ldb, beta, c, c_type, ldc, compute,
                                           algorithm);
      });
}

template <class Int>
cublasStatus_t gemm_strided_batched_ex(Symbol symbol, const void* caller, cublasHandle_t handle,
                                       cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n,
                                       Int k, const void* alpha, const void* a, cudaDataType a_type,
                                       Int lda, long long stride_a, const void* b,
                                       cudaDataType b_type, Int ldb, long long stride_b,
                                       const void* beta, void* c, cudaDataType c_type, Int ldc,
                                       long long stride_c, Int batch, cublasComputeType_t compute,
                                       cublasGemmAlgo_t algorithm) {
  return serve(
      Function::gemm_strided_batched_ex, caller, handle,
      [&](Product& p) {
        fill_strided<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, stride_a, b,
                          stride_b, c, stride_c, batch);
        return judge_types({a_type, b_type, c_type}, compute, algorithm, p);
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, a_type,
                                           lda, stride_a, b, b_type, ldb, stride_b, beta, c, c_type,
                                           ldc, stride_c, batch, compute, algorithm);
      });
}

template <class Int>
cublasStatus_t gemm_batched_ex(Symbol symbol, const void* caller, cublasHandle_t handle,
                               cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,
                               const void* alpha, const void* const* a, cudaDataType a_type,
                               Int lda, const void* const* b, cudaDataType b_type, Int ldb,
                               const void* beta, void* const* c, cudaDataType c_type, Int ldc,
                               Int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return serve(
      Function::gemm_batched_ex, caller, handle,
      [&](Product& p) {
        const Outcome filled =
            fill_arrays<Int>(p, {op_a, op_b, m, n, k, alpha, beta, lda, ldb, ldc}, a, b, c, batch);
        const Outcome types = judge_types({a_type, b_type, c_type}, compute, algorithm, p);
        return types != Outcome::taken ? types : filled;
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op_a, op_b, m, n, k, alpha, a, a_type,
                                           lda, b, b_type, ldb, beta, c, c_type, ldc, batch,
                                           compute, algorithm);
      });
}

template <class Int>
cublasStatus_t sgemv(Symbol symbol, const void* caller, cublasHandle_t handle, cublasOperation_t op,
                     Int m, Int n, const float* alpha, const float* a, Int lda, const float* x,
                     Int incx, const float* beta, float* y, Int incy) {
  return serve(
      Function::sgemv, caller, handle,
      [&](Product& p) {
        fill<Int>(p, {op, CUBLAS_OP_N, m, n, 1, alpha, beta, lda, 1, 1}, a, x, y);
        p.b.stride = incx;
        p.d.stride = p.c.stride = incy;
        return Outcome::taken;
      },
      [&](const Original& cublas) {
        return cublas.call<cublasStatus_t>(symbol, handle, op, m, n, alpha, a, lda, x, incx, beta,
                                           y, incy);
      });
}

}  // namespace
}  // namespace warpladder::cublas

using namespace warpladder::cublas;

WARPLADDER_EXPORT cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a,
                                                cublasOperation_t op_b, int m, int n, int k,
                                                const float* alpha, const float* a, int lda,
                                                const float* b, int ldb, const float* beta,
                                                float* c, int ldc) {
  return sgemm(Symbol::cublasSgemm_v2, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha, a,
               lda, b, ldb, beta, c, ldc);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemm_v2_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
    const float* b, std::int64_t ldb, const float* beta, float* c, std::int64_t ldc) {
  return sgemm(Symbol::cublasSgemm_v2_64, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha, a,
               lda, b, ldb, beta, c, ldc);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                               cublasOperation_t op_b, int m, int n, int k,
                                               const float* alpha, const void* a,
                                               cudaDataType a_type, int lda, const void* b,
                                               cudaDataType b_type, int ldb, const float* beta,
                                               void* c, cudaDataType c_type, int ldc) {
  return sgemm_ex(Symbol::cublasSgemmEx, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha, a,
                  a_type, lda, b, b_type, ldb, beta, c, c_type, ldc);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const float* alpha, const void* a, cudaDataType a_type,
    std::int64_t lda, const void* b, cudaDataType b_type, std::int64_t ldb, const float* beta,
    void* c, cudaDataType c_type, std::int64_t ldc) {
  return sgemm_ex(Symbol::cublasSgemmEx_64, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha,
                  a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
    long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int batch) {
  return sgemm_strided_batched(Symbol::cublasSgemmStridedBatched, WARPLADDER_CALLER, handle, op_a,
                               op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                               ldc, stride_c, batch);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmStridedBatched_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const float* alpha, const float* a, std::int64_t lda,
    long long stride_a, const float* b, std::int64_t ldb, long long stride_b, const float* beta,
    float* c, std::int64_t ldc, long long stride_c, std::int64_t batch) {
  return sgemm_strided_batched(Symbol::cublasSgemmStridedBatched_64, WARPLADDER_CALLER, handle,
                               op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta,
                               c, ldc, stride_c, batch);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                                    cublasOperation_t op_b, int m, int n, int k,
                                                    const float* alpha, const float* const a[],
                                                    int lda, const float* const b[], int ldb,
                                                    const float* beta, float* const c[], int ldc,
                                                    int batch) {
  return sgemm_batched(Symbol::cublasSgemmBatched, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k,
                       alpha, a, lda, b, ldb, beta, c, ldc, batch);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemmBatched_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const float* alpha, const float* const a[], std::int64_t lda,
    const float* const b[], std::int64_t ldb, const float* beta, float* const c[], std::int64_t ldc,
    std::int64_t batch) {
  return sgemm_batched(Symbol::cublasSgemmBatched_64, WARPLADDER_CALLER, handle, op_a, op_b, m, n,
                       k, alpha, a, lda, b, ldb, beta, c, ldc, batch);
}

WARPLADDER_EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                              cublasOperation_t op_b, int m, int n, int k,
                                              const void* alpha, const void* a, cudaDataType a_type,
                                              int lda, const void* b, cudaDataType b_type, int ldb,
                                              const void* beta, void* c, cudaDataType c_type,
                                              int ldc, cublasComputeType_t compute,
                                              cublasGemmAlgo_t algorithm) {
  return gemm_ex(Symbol::cublasGemmEx, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha, a,
                 a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algorithm);
}

WARPLADDER_EXPORT cublasStatus_t
cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, const void* a,
                cudaDataType a_type, std::int64_t lda, const void* b, cudaDataType b_type,
                std::int64_t ldb, const void* beta, void* c, cudaDataType c_type, std::int64_t ldc,
                cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return gemm_ex(Symbol::cublasGemmEx_64, WARPLADDER_CALLER, handle, op_a, op_b, m, n, k, alpha, a,
                 a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algorithm);
}

WARPLADDER_EXPORT cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType a_type, int lda, long long stride_a,
    const void* b, cudaDataType b_type, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType c_type, int ldc, long long stride_c, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm) {
  return gemm_strided_batched_ex(Symbol::cublasGemmStridedBatchedEx, WARPLADDER_CALLER, handle,
                                 op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type,
                                 ldb, stride_b, beta, c, c_type, ldc, stride_c, batch, compute,
                                 algorithm);
}

WARPLADDER_EXPORT cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const void* alpha, const void* a, cudaDataType a_type,
    std::int64_t lda, long long stride_a, const void* b, cudaDataType b_type, std::int64_t ldb,
    long long stride_b, const void* beta, void* c, cudaDataType c_type, std::int64_t ldc,
    long long stride_c, std::int64_t batch, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm) {
  return gemm_strided_batched_ex(Symbol::cublasGemmStridedBatchedEx_64, WARPLADDER_CALLER, handle,
                                 op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type,
                                 ldb, stride_b, beta, c, c_type, ldc, stride_c, batch, compute,
                                 algorithm);
}

WARPLADDER_EXPORT cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* const a[], cudaDataType a_type, int lda, const void* const b[],
    cudaDataType b_type, int ldb, const void* beta, void* const c[], cudaDataType c_type, int ldc,
    int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return gemm_batched_ex(Symbol::cublasGemmBatchedEx, WARPLADDER_CALLER, handle, op_a, op_b, m, n,
                         k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batch,
                         compute, algorithm);
}

WARPLADDER_EXPORT cublasStatus_t cublasGemmBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
    std::int64_t n, std::int64_t k, const void* alpha, const void* const a[], cudaDataType a_type,
    std::int64_t lda, const void* const b[], cudaDataType b_type, std::int64_t ldb,
    const void* beta, void* const c[], cudaDataType c_type, std::int64_t ldc, std::int64_t batch,
    cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return gemm_batched_ex(Symbol::cublasGemmBatchedEx_64, WARPLADDER_CALLER, handle, op_a, op_b, m,
                         n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batch,
                         compute, algorithm);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t op, int m,
                                                int n, const float* alpha, const float* a, int lda,
                                                const float* x, int incx, const float* beta,
                                                float* y, int incy) {
  return sgemv(Symbol::cublasSgemv_v2, WARPLADDER_CALLER, handle, op, m, n, alpha, a, lda, x, incx,
               beta, y, incy);
}

WARPLADDER_EXPORT cublasStatus_t cublasSgemv_v2_64(cublasHandle_t handle, cublasOperation_t op,
                                                   std::int64_t m, std::int64_t n,
                                                   const float* alpha, const float* a,
                                                   std::int64_t lda, const float* x,
                                                   std::int64_t incx, const float* beta, float* y,
                                                   std::int64_t incy) {
  return sgemv(Symbol::cublasSgemv_v2_64, WARPLADDER_CALLER, handle, op, m, n, alpha, a, lda, x,
               incx, beta, y, incy);
}

WARPLADDER_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  // A cuBLAS comes into use: perhaps another one than before.
  find_originals();
  const Original* const cublas = original_for(Kind::blas, WARPLADDER_CALLER);
  if (!cublas) return not_loaded(Function::sgemm);
  return cublas->call<cublasStatus_t>(Symbol::cublasCreate_v2, handle);
}
