#include "ops/lab/openblas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

using ops::to_blasint;

void multiply(const Problem& p, const float* a, const float* b, float* c) {
  // With alpha = 0 its AVX-512 kernels for small matrices multiply nevertheless, and a NaN of A or
  // B reaches C, which BLAS rules out. The product without terms is the same one.
  const std::int64_t k = p.alpha == 0 ? 0 : p.k;
  cblas_sgemm(p.layout == Layout::row_major ? CblasRowMajor : CblasColMajor,
              ops::openblas_transpose(p.trans_a), ops::openblas_transpose(p.trans_b),
              to_blasint("m", p.m), to_blasint("n", p.n), to_blasint("k", k), p.alpha, a,
              to_blasint("lda", p.lda), b, to_blasint("ldb", p.ldb), p.beta, c,
              to_blasint("ldc", p.ldc));
}

// One product after the other.
void launch(const Call& call, runtime::StreamView& stream) {
  ops::set_openblas_threads(stream);
  const Batch& batch = call.batch;
  for (std::int64_t i = 0; i < batch.count; ++i) {
    if (batch.arrays) {
      multiply(call.problem, batch.a[i], batch.b[i], batch.c[i]);
    } else {
      multiply(call.problem, call.a + i * batch.stride_a, call.b + i * batch.stride_b,
               call.c + i * batch.stride_c);
    }
  }
}

const bool declared =
    ops::declare_rival({"sgemm", "openblas", "cblas_sgemm", "OpenBLAS", runtime::Target::cpu,
                        launch, ops::openblas_version, nullptr});

}  // namespace
}  // namespace warpladder::sgemm
