// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/reduce_axis/lab/dispatch.hpp"

namespace warpladder::reduce_axis {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  void* const results = is_place(p.function) ? static_cast<void*>(call.places) : call.values;
  ops::require_success(warpladder_reduce_axis(
      ops::library_handle(), ops::library_reduction(p.function), p.lines == Lines::rows ? 1 : 0,
      p.rows, p.columns, call.in, p.ld, results, ops::library_stream(stream)));
}

}  // namespace warpladder::reduce_axis
