// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/sgemv/lab/dispatch.hpp"

namespace warpladder::sgemv {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  ops::require_success(warpladder_sgemv(
      ops::library_handle(),
      p.layout == Layout::row_major ? WARPLADDER_ROW_MAJOR : WARPLADDER_COLUMN_MAJOR,
      p.trans ? WARPLADDER_OP_T : WARPLADDER_OP_N, p.m, p.n, p.alpha, call.a, p.lda, call.x, p.incx,
      p.beta, call.y, p.incy, ops::library_stream(stream)));
}

}  // namespace warpladder::sgemv
