#include "ops/lab/openblas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

using ops::to_blasint;

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  // With alpha = 0 its AVX-512 kernels for small matrices multiply nevertheless, and a NaN of A or
  // B reaches C, which BLAS rules out. The product without terms is the same one.
  const std::int64_t k = p.alpha == 0 ? 0 : p.k;
  ops::set_openblas_threads(stream);
  cblas_sgemm(p.layout == Layout::row_major ? CblasRowMajor : CblasColMajor,
              ops::openblas_transpose(p.trans_a), ops::openblas_transpose(p.trans_b),
              to_blasint("m", p.m), to_blasint("n", p.n), to_blasint("k", k), p.alpha, call.a,
              to_blasint("lda", p.lda), call.b, to_blasint("ldb", p.ldb), p.beta, call.c,
              to_blasint("ldc", p.ldc));
}

const bool declared =
    ops::declare_rival({"sgemm", "openblas", "cblas_sgemm", "OpenBLAS", runtime::Target::cpu,
                        launch, ops::openblas_version, nullptr});

}  // namespace
}  // namespace warpladder::sgemm
