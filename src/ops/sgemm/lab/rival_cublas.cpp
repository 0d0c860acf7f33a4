// cuBLAS, which knows column-major storage only, called in the two ways that a row-major caller
// has. A row-major matrix is the column-major storage of its transpose. So either
//  - exchange the operands: Cᵀ = op(B)ᵀ·op(A)ᵀ asks for exactly what lies there, and what cuBLAS
//    writes as Cᵀ by columns is C by rows. Nothing is copied. This is the rival that counts.
//    Batches go to cublasSgemmStridedBatched and cublasSgemmBatched. Allowed TF32 (cublas_tf32) it
//    uses the tensor cores, with operands of 11 significant bits: not FP32's accuracy, but what it
//    costs.
//  - or tell cuBLAS that A and B are transposed, and transpose its column-major result. That is
//    another kernel, which reads and writes C once more, through a buffer as large as C.

#include "ops/lab/cublas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

using ops::check_cublas;
using ops::Cublas;

cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

void launch_exchanged(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, Layout::column_major);
  const Problem& p = call.problem;
  const Batch& batch = call.batch;
  if (p.m == 0 || p.n == 0 || batch.count == 0) return;
  const Cublas& cublas = Cublas::on(stream);
  const cublasOperation_t op_a = operation(p.trans_a), op_b = operation(p.trans_b);
  if (is_single(call)) {
    check_cublas(cublas.sgemm(cublas.handle, op_a, op_b, p.m, p.n, p.k, &p.alpha, call.a, p.lda,
                              call.b, p.ldb, &p.beta, call.c, p.ldc),
                 "cublasSgemm");
  } else if (batch.arrays) {
    check_cublas(cublas.sgemm_batched(cublas.handle, op_a, op_b, p.m, p.n, p.k, &p.alpha, batch.a,
                                      p.lda, batch.b, p.ldb, &p.beta, batch.c, p.ldc, batch.count),
                 "cublasSgemmBatched");
  } else {
    check_cublas(
        cublas.sgemm_strided_batched(cublas.handle, op_a, op_b, p.m, p.n, p.k, &p.alpha, call.a,
                                     p.lda, batch.stride_a, call.b, p.ldb, batch.stride_b, &p.beta,
                                     call.c, p.ldc, batch.stride_c, batch.count),
        "cublasSgemmStridedBatched");
  }
}

void launch_tf32(const Call& given, runtime::StreamView& stream) {
  const Cublas& cublas = Cublas::on(stream);
  check_cublas(cublas.set_math_mode(cublas.handle, CUBLAS_TF32_TENSOR_OP_MATH),
               "cublasSetMathMode");
  launch_exchanged(given, stream);
  check_cublas(cublas.set_math_mode(cublas.handle, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
}

void launch_transposed(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  const Cublas& cublas = Cublas::on(stream);
  static device::Memory product;  // m×n by columns; grows, so that timed calls allocate nothing
  const auto bytes = static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n) * sizeof(float);
  if (product.bytes() < bytes) product = device::Memory(runtime::Target::gpu, bytes);
  auto* const by_columns = static_cast<float*>(product.data());
  const float one = 1, zero = 0;
  check_cublas(cublas.sgemm(cublas.handle, operation(!p.trans_a), operation(!p.trans_b), p.m, p.n,
                            p.k, &p.alpha, call.a, p.lda, call.b, p.ldb, &zero, by_columns, p.m),
               "cublasSgemm");
  check_cublas(cublas.sgeam(cublas.handle, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, &one, by_columns,
                            p.m, &p.beta, call.c, p.ldc, call.c, p.ldc),
               "cublasSgeam");
}

const bool declared =
    ops::declare_rival({"sgemm", "cublas", "cublasSgemm, operands exchanged", "cuBLAS",
                        runtime::Target::gpu, launch_exchanged, Cublas::version,
                        Cublas::why_not}) &&
    ops::declare_rival(
        {.op = "sgemm",
         .name = "cublas_tf32",
         .what = "cublasSgemm, operands exchanged, TF32 allowed",
         .library = "cuBLAS",
         .target = runtime::Target::gpu,
         .launch = launch_tf32,
         .version = Cublas::version,
         .why_not = Cublas::why_not,
         .takes = promises_moderate_values,  // and is judged where no infinity comes in
         .arithmetic = {.unit = ladder::Unit::tf32_tensor_cores, .extra_roundings = 0x1p14}}) &&
    ops::declare_rival({.op = "sgemm",
                        .name = "cublas_transposed",
                        .what = "cublasSgemm with OP_T, OP_T; cublasSgeam",
                        .library = "cuBLAS",
                        .target = runtime::Target::gpu,
                        .launch = launch_transposed,
                        .version = Cublas::version,
                        .why_not = Cublas::why_not,
                        .takes = is_single,
                        .is_detour = true});

}  // namespace
}  // namespace warpladder::sgemm
