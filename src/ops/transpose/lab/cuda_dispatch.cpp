// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/transpose/lab/dispatch.hpp"

namespace warpladder::transpose {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  ops::require_success(warpladder_transpose(ops::library_handle(), p.rows, p.columns, call.in,
                                            p.ld_in, p.stride_in, call.out, p.ld_out, p.stride_out,
                                            p.batch, ops::library_stream(stream)));
}

}  // namespace warpladder::transpose
