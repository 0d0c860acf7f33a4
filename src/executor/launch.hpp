#pragma once
// The executor's end of runtime::launch(), which kernels' translation units include.

#include <cstddef>
#include <vector>

#include "runtime/stream.hpp"
#include "runtime/tensor_map.hpp"

namespace warpladder::executor {

struct KernelCounts;

// Of all launches on one stream.
struct Settings {
  unsigned executor_threads = 0;    // OS threads; 0: one per core
  bool check_shared_memory = true;  // races and uninitialised reads (counted flavour only)
  // Where the counts of each launch of the counted flavour are appended; null: nowhere.
  std::vector<KernelCounts>* record_counts = nullptr;
};

// Runs a kernel compiled by g++ to its end: `thunk` calls it with the packed arguments. Throws
// Error if CUDA would refuse the launch, KernelFault if the kernel breaks a rule of CUDA.
void launch(runtime::StreamView& stream, const void* kernel, const runtime::LaunchConfig& config,
            bool counted, void (*thunk)(const void*), const void* arguments,
            std::size_t argument_bytes);

// The description itself, for the executor's copy engine.
runtime::TensorMap encode(runtime::StreamView& stream, const runtime::TiledMatrix& matrix);

}  // namespace warpladder::executor
