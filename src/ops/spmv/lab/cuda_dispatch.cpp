// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/spmv/lab/dispatch.hpp"

namespace warpladder::spmv {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  warpladder_csr a{};
  a.rows = p.rows;
  a.columns = p.columns;
  a.nnz = p.nnz;
  a.offset_type = p.wide_offsets ? WARPLADDER_INDEX_64 : WARPLADDER_INDEX_32;
  a.row_offsets = call.row_offsets;
  a.column_indices = call.column_indices;
  a.values = call.values;
  a.pattern = p.even        ? WARPLADDER_PATTERN_RANDOM
              : p.scattered ? WARPLADDER_PATTERN_SCATTERED
                            : WARPLADDER_PATTERN_UNKNOWN;
  if (p.longest_row > 0) a.longest_row = p.longest_row;
  ops::require_success(warpladder_spmv(ops::library_handle(), &a, p.alpha, call.x, p.beta, call.y,
                                       ops::library_stream(stream)));
}

}  // namespace warpladder::spmv
