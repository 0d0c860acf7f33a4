#pragma once
// Kernels that are compiled at run time, ready to launch. A process compiles and loads each once.

#include <string_view>

#include "runtime/status.hpp"

namespace warpladder::runtime {

// The kernel for the current device, to hand to gpu_launch(); it stays valid for as long as the
// process lives. The first call for a kernel compiles it, or takes it from the cache on disk, and
// loads it, unless `may_compile` is false: Code::capturing. Later calls take no lock and no heap
// memory. Failures as those of compile(), and Code::cuda_error.
Status compiled_kernel(std::string_view source, std::string_view kernel, bool may_compile,
                       const void** ready) noexcept;

}  // namespace warpladder::runtime
