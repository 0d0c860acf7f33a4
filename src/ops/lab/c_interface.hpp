#pragma once
// The library's C interface as the lab calls it: each operator's contestant `dispatch` is the call
// that users link.

#include "ladder/ladder.hpp"
#include "parts/reduction_function.hpp"
#include "warpladder/warpladder.h"

namespace warpladder::ops {

// A handle for the lab's GPU, made by the first call. Throws Error(resource) where there is none.
warpladder_handle library_handle();
// Throws Error with the library's sentence unless the call succeeded.
void require_success(warpladder_status status);
inline warpladder_stream library_stream(const runtime::StreamView& stream) {
  return static_cast<warpladder_stream>(stream.native);
}

inline warpladder_reduction library_reduction(parts::Function function) {
  return static_cast<warpladder_reduction>(function);  // both lists are in one order
}

}  // namespace warpladder::ops
