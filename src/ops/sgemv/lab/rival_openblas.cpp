#include "ops/lab/openblas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {
namespace {

using ops::to_blasint;

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  ops::set_openblas_threads(stream);
  cblas_sgemv(p.layout == Layout::row_major ? CblasRowMajor : CblasColMajor,
              ops::openblas_transpose(p.trans), to_blasint("m", p.m), to_blasint("n", p.n), p.alpha,
              call.a, to_blasint("lda", p.lda), call.x, to_blasint("incx", p.incx), p.beta, call.y,
              to_blasint("incy", p.incy));
}

const bool declared =
    ops::declare_rival({"sgemv", "openblas", "cblas_sgemv", "OpenBLAS", runtime::Target::cpu,
                        launch, ops::openblas_version, nullptr});

}  // namespace
}  // namespace warpladder::sgemv
