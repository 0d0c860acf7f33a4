// cublasSgeam, which adds two matrices and transposes either: with zero times the second it is
// cuBLAS's transpose. Its matrices are column-major; row-major in and out are the column-major
// storage of their transposes, so it is asked for the transpose of those.

#include "ops/lab/cublas.hpp"
#include "ops/lab/rival.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (p.rows == 0 || p.columns == 0) return;
  const ops::Cublas& cublas = ops::Cublas::on(stream);
  const float one = 1, zero = 0;
  for (std::int64_t matrix = 0; matrix < p.batch; ++matrix) {
    const float* in = call.in + matrix * p.stride_in;
    float* out = call.out + matrix * p.stride_out;
    ops::check_cublas(cublas.sgeam(cublas.handle, CUBLAS_OP_T, CUBLAS_OP_N, p.rows, p.columns, &one,
                                   in, p.ld_in, &zero, out, p.ld_out, out, p.ld_out),
                      "cublasSgeam");
  }
}

// cublasSgeam works in place only where it does not transpose.
bool out_of_place(const Call& call) { return !call.in_place(); }

const bool declared = ops::declare_rival({"transpose", "cublas", "cublasSgeam with OP_T", "cuBLAS",
                                          runtime::Target::gpu, launch, ops::Cublas::version,
                                          ops::Cublas::why_not, false, out_of_place});

}  // namespace
}  // namespace warpladder::transpose
