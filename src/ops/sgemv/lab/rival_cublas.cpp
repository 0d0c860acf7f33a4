// cublasSgemv, which knows column-major storage only. A row-major matrix is the column-major
// storage of its transpose. cuBLAS is told of that, and of the other operation, and reads exactly
// what lies there.

#include "ops/lab/cublas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  const ops::Cublas& cublas = ops::Cublas::on(stream);
  // Its columns are our lines, and where our sums run across them, it multiplies without a
  // transpose.
  ops::check_cublas(
      cublas.sgemv(cublas.handle, across_lines(p) ? CUBLAS_OP_N : CUBLAS_OP_T, length(p), lines(p),
                   &p.alpha, call.a, p.lda, call.x, p.incx, &p.beta, call.y, p.incy),
      "cublasSgemv");
}

const bool declared =
    ops::declare_rival({"sgemv", "cublas", "cublasSgemv", "cuBLAS", runtime::Target::gpu, launch,
                        ops::Cublas::version, ops::Cublas::why_not});

}  // namespace
}  // namespace warpladder::sgemv
