// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/sgemm/lab/dispatch.hpp"

namespace warpladder::sgemm {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const Batch& batch = call.batch;
  const auto layout =
      p.layout == Layout::row_major ? WARPLADDER_ROW_MAJOR : WARPLADDER_COLUMN_MAJOR;
  const auto op = [](bool transposed) { return transposed ? WARPLADDER_OP_T : WARPLADDER_OP_N; };
  const warpladder_handle handle = ops::library_handle();
  ops::require_success(
      warpladder_set_arithmetic(handle, static_cast<warpladder_arithmetic>(call.arithmetic)));
  const warpladder_stream native = ops::library_stream(stream);
  if (batch.count == 1 && !batch.arrays) {
    return ops::require_success(warpladder_sgemm(handle, layout, op(p.trans_a), op(p.trans_b), p.m,
                                                 p.n, p.k, p.alpha, call.a, p.lda, call.b, p.ldb,
                                                 p.beta, call.c, p.ldc, native));
  }
  ops::require_success(
      batch.arrays ? warpladder_sgemm_batched(handle, layout, op(p.trans_a), op(p.trans_b), p.m,
                                              p.n, p.k, p.alpha, batch.a, p.lda, batch.b, p.ldb,
                                              p.beta, batch.c, p.ldc, batch.count, native)
                   : warpladder_sgemm_strided_batched(
                         handle, layout, op(p.trans_a), op(p.trans_b), p.m, p.n, p.k, p.alpha,
                         call.a, p.lda, batch.stride_a, call.b, p.ldb, batch.stride_b, p.beta,
                         call.c, p.ldc, batch.stride_c, batch.count, native));
}

}  // namespace warpladder::sgemm
