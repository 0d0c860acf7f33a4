#include "executor/launch.hpp"

#include <cstring>
#include <stdexcept>

#include "executor/executor.hpp"

namespace warpladder::executor {

void launch(runtime::StreamView& stream, const void* kernel, const runtime::LaunchConfig& config,
            bool counted, void (*thunk)(const void*), const void* arguments,
            std::size_t argument_bytes) {
  if (stream.target != runtime::Target::cpu) {
    throw std::logic_error("a kernel built for the CPU was launched on a GPU stream");
  }
  const Settings settings = stream.settings ? *stream.settings : Settings{};
  const KernelLaunch launch{config, counted, kernel, thunk, arguments, argument_bytes};
  const Options options{settings.executor_threads, settings.check_shared_memory};
  KernelCounts counts;
  const bool record = counted && settings.record_counts;
  run_kernel(launch, options, record ? &counts : nullptr);
  if (record) settings.record_counts->push_back(std::move(counts));
}

runtime::TensorMap encode(runtime::StreamView&, const runtime::TiledMatrix& matrix) {
  runtime::TensorMap map = {};
  static_assert(sizeof matrix <= sizeof map.bytes);
  std::memcpy(map.bytes, &matrix, sizeof matrix);
  return map;
}

}  // namespace warpladder::executor
