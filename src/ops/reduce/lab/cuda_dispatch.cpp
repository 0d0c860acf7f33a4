// The contestant `dispatch` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/reduce/lab/dispatch.hpp"

namespace warpladder::reduce {
void call_library(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  void* const result = is_place(p.function) ? static_cast<void*>(call.place) : call.value;
  ops::require_success(warpladder_reduce(ops::library_handle(), ops::library_reduction(p.function),
                                         p.n, call.in, result, ops::library_stream(stream)));
}

}  // namespace warpladder::reduce
