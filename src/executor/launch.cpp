#include "executor/launch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "base/error.hpp"
#include "executor/executor.hpp"

namespace warpladder::executor {
namespace {

// What the GPU that the executor stands for would refuse.
void require_machine(const runtime::LaunchConfig& config, const runtime::Machine& machine) {
  if (config.dynamic_shared_bytes > static_cast<std::size_t>(machine.shared_bytes_per_block)) {
    throw_bad_input(fmt::format("{} bytes of dynamic shared memory; the GPU's limit is {}",
                                config.dynamic_shared_bytes, machine.shared_bytes_per_block));
  }
  if (config.cluster > 1 && machine.clusters_of(2) == 0) {
    throw_bad_input(fmt::format("clusters of {} blocks; the GPU has none", config.cluster));
  }
}

}  // namespace

void launch(runtime::StreamView& stream, const void* kernel, const runtime::LaunchConfig& config,
            bool counted, void (*thunk)(const void*), const void* arguments,
            std::size_t argument_bytes) {
  if (stream.target != runtime::Target::cpu) {
    throw std::logic_error("a kernel built for the CPU was launched on a GPU stream");
  }
  if (stream.machine) require_machine(config, *stream.machine);
  const Settings settings = stream.settings ? *stream.settings : Settings{};
  const KernelLaunch launch{config, counted, kernel, nullptr, thunk, arguments, argument_bytes};
  const Options options{settings.executor_threads, settings.check_shared_memory, true};
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
