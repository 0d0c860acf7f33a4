#pragma once
// warpladder's handles: one for each CUDA context, made at its first call and never destroyed, for
// CUDA may be gone when a program ends. Finding one takes no lock.

#include <driver_types.h>

#include "warpladder/warpladder.h"

namespace warpladder::cublas {

// Of the calling thread's context; null where that cannot be served, and at a captured stream where
// there is none yet. `pedantic`: FP32 multiply-adds alone, as CUBLAS_PEDANTIC_MATH wants them. A
// handle takes the workspaces of captured calls from memory that the graph keeps.
warpladder_handle handle_for(bool pedantic, cudaStream_t stream) noexcept;

}  // namespace warpladder::cublas
