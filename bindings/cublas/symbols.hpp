#pragma once
// The functions of cuBLAS that this library takes, and those that it asks. Names are those of the
// symbols: cublas_v2.h calls cublasSgemm_v2 cublasSgemm.

// name of the symbol, Function that it belongs to
#define WARPLADDER_CUBLAS_TAKEN(X)                          \
  X(cublasSgemm, sgemm)                                     \
  X(cublasSgemm_v2, sgemm)                                  \
  X(cublasSgemm_v2_64, sgemm)                               \
  X(cublasSgemmEx, sgemm_ex)                                \
  X(cublasSgemmEx_64, sgemm_ex)                             \
  X(cublasSgemmStridedBatched, sgemm_strided_batched)       \
  X(cublasSgemmStridedBatched_64, sgemm_strided_batched)    \
  X(cublasSgemmBatched, sgemm_batched)                      \
  X(cublasSgemmBatched_64, sgemm_batched)                   \
  X(cublasGemmEx, gemm_ex)                                  \
  X(cublasGemmEx_64, gemm_ex)                               \
  X(cublasGemmStridedBatchedEx, gemm_strided_batched_ex)    \
  X(cublasGemmStridedBatchedEx_64, gemm_strided_batched_ex) \
  X(cublasGemmBatchedEx, gemm_batched_ex)                   \
  X(cublasGemmBatchedEx_64, gemm_batched_ex)                \
  X(cublasSgemv, sgemv)                                     \
  X(cublasSgemv_v2, sgemv)                                  \
  X(cublasSgemv_v2_64, sgemv)

// Passed on always: they tell when a cuBLAS comes into use, and on which stream old calls run.
#define WARPLADDER_CUBLAS_WATCHED(X) \
  X(cublasCreate_v2)                 \
  X(cublasSetKernelStream)

#define WARPLADDER_CUBLAS_ASKED(X) \
  X(cublasGetStream_v2)            \
  X(cublasGetPointerMode_v2)       \
  X(cublasGetMathMode)             \
  X(cublasGetSmCountTarget)

#define WARPLADDER_CUBLASLT_TAKEN(X) X(cublasLtMatmul, lt_matmul)
#define WARPLADDER_CUBLASLT_WATCHED(X) X(cublasLtCreate)
// The others tell where these find their answers.
#define WARPLADDER_CUBLASLT_ASKED(X)  \
  X(cublasLtMatmulDescGetAttribute)   \
  X(cublasLtMatrixLayoutGetAttribute) \
  X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulDescInit_internal)  \
  X(cublasLtMatrixLayoutInit_internal)

namespace warpladder::cublas {

// The families of calls, as a program's source names them.
enum class Function : int {
  sgemm,
  sgemm_ex,
  sgemm_strided_batched,
  sgemm_batched,
  gemm_ex,
  gemm_strided_batched_ex,
  gemm_batched_ex,
  sgemv,
  lt_matmul,
};
constexpr const char* kFunctionNames[] = {
    "cublasSgemm",         "cublasSgemmEx", "cublasSgemmStridedBatched",
    "cublasSgemmBatched",  "cublasGemmEx",  "cublasGemmStridedBatchedEx",
    "cublasGemmBatchedEx", "cublasSgemv",   "cublasLtMatmul",
};
constexpr int kFunctions = sizeof kFunctionNames / sizeof kFunctionNames[0];
constexpr const char* name_of(Function function) {
  return kFunctionNames[static_cast<int>(function)];
}

#define WARPLADDER_SYMBOL(name, ...) name,
enum class Symbol : int {
  WARPLADDER_CUBLAS_TAKEN(WARPLADDER_SYMBOL)      //
  WARPLADDER_CUBLAS_WATCHED(WARPLADDER_SYMBOL)    //
  WARPLADDER_CUBLAS_ASKED(WARPLADDER_SYMBOL)      //
  WARPLADDER_CUBLASLT_TAKEN(WARPLADDER_SYMBOL)    //
  WARPLADDER_CUBLASLT_WATCHED(WARPLADDER_SYMBOL)  //
  WARPLADDER_CUBLASLT_ASKED(WARPLADDER_SYMBOL)    //
  count
};
#undef WARPLADDER_SYMBOL
constexpr int kSymbols = static_cast<int>(Symbol::count);

}  // namespace warpladder::cublas
