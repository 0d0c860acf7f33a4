// Launches: which of them are checked or counted, kernels that kernels launch, graphs, and what is
// reported at the end of the program.

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "executor/executor.hpp"
#include "executor/hooks.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/api.hpp"
#include "programs/runtime/deferred.hpp"
#include "programs/runtime/errors.hpp"
#include "programs/runtime/memory.hpp"
#include "programs/runtime/repeats.hpp"
#include "programs/runtime/session.hpp"
#include "programs/runtime/time_limit.hpp"

namespace warpladder::programs {
namespace {

using executor::FaultKind;
using executor::KernelCounts;
using executor::KernelFault;
using executor::this_worker;
using Clock = std::chrono::steady_clock;

struct Kernel {
  explicit Kernel(const std::string& name) : row(name) {}
  LaunchesRow row;
  Launches launches;
  std::set<std::string> seen;  // shape and arguments of the launches that were looked at
};

struct State {
  std::map<std::string, Kernel> kernels;
  // A kernel's own launches, by the thread that made them. They run when its grid has ended, as
  // late as CUDA allows and in the grid's order.
  std::multimap<std::uint64_t, std::function<void()>> children;
  std::mutex children_mutex;
  std::recursive_mutex launch_mutex;  // host threads launch one after the other
  std::vector<std::function<void()>> captured;
  bool is_capturing = false;
};
// Never destroyed: it is used at exit.
State& state() {
  static State& instance = *new State;
  return instance;
}

bool matches(const std::string& kernel, const std::string& wanted) {
  return kernel == wanted || kernel.substr(0, kernel.find('<')) == wanted;
}

// A library's algorithm, which runs as one thread here: its counts would say nothing.
bool is_library(const std::string& kernel) {
  return kernel.starts_with("thrust::") || kernel.starts_with("cub::");
}

// Whether a launch is checked or counted. What repeats an earlier one, shape and arguments alike,
// is run alone. It would say the same again; the data may have changed, but that rarely matters.
bool is_looked_at(Kernel& kernel, const std::string& name, const std::string& key) {
  constexpr std::size_t kDifferent = 16;
  const Settings& s = settings();
  if (s.mode == Mode::run) return false;
  if (s.mode == Mode::explain && is_library(name)) return false;
  if (!s.kernel.empty() && !matches(name, s.kernel)) return false;
  if (s.launch) return kernel.launches.launched == s.launch;
  if (s.all_launches || s.uninitialised) return true;
  return kernel.seen.size() < kDifferent && kernel.seen.insert(key).second;
}

std::string name_of(const void* function) {
  return executor::SiteTable::instance().kernel_name(
      executor::offset_of(reinterpret_cast<std::uintptr_t>(function)));
}

cudaError_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::assertion:
      return cudaErrorAssert;
    case FaultKind::misaligned_access:
      return cudaErrorMisalignedAddress;
    case FaultKind::out_of_bounds:
    case FaultKind::host_pointer:
      return cudaErrorIllegalAddress;
    default:
      return cudaErrorLaunchFailure;
  }
}

void run_children() {
  State& s = state();
  while (!s.children.empty()) {
    auto mine = std::exchange(s.children, {});
    for (auto& [at, child] : mine) child();
  }
}

void at_exit() {
  std::fflush(stdout);
  report_unseen_errors();
  if (settings().mode == Mode::check || settings().mode == Mode::judge) report_leaks();
}

std::string text_of(const dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

// Shared memory beyond 48 KiB is granted as if cudaFuncSetAttribute had been called.
void run_now(const simt::Shape& shape, const std::string& name, void (*thunk)(const void*),
             const void* arguments, std::size_t bytes, const std::string& values,
             const void* caller) {
  static const int registered = std::atexit(at_exit);
  static_cast<void>(registered);
  map_variables();
  auto& [kernel_name, kernel] = *state().kernels.try_emplace(name, name).first;
  ++kernel.launches.launched;
  executor::KernelLaunch launch;
  launch.config.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  launch.config.block = {shape.block.x, shape.block.y, shape.block.z};
  launch.config.dynamic_shared_bytes = shape.shared_bytes;
  // The thunk tells instances of a template apart.
  const std::string key =
      fmt::format("{} {} {} {} {}", name, reinterpret_cast<const void*>(thunk), text_of(shape.grid),
                  text_of(shape.block), shape.shared_bytes) +
      values;
  launch.counted = is_looked_at(kernel, name, key);
  if (!launch.counted && repeats().may_skip(key)) {
    ++kernel.launches.left_out;
    kernel.row.update(kernel.launches);
    return;
  }
  launch.name = name.c_str();
  launch.thunk = thunk;
  launch.arguments = arguments;
  launch.argument_bytes = bytes;
  launch.cooperative = shape.cooperative;
  const ToldDevice& device = settings().device;
  launch.most_cooperative_threads = std::uint64_t(device.multiprocessors) * device.sm_threads;
  executor::Options options;
  options.threads = settings().threads;
  options.goes_on = settings().mode == Mode::run;
  const Mode mode = settings().mode;
  options.count = mode == Mode::explain || mode == Mode::judge;
  options.check_shared = mode == Mode::check || mode == Mode::judge;
  kernel.launches.looked_at += launch.counted;
  kernel.launches.is_running = true;
  kernel.row.update(kernel.launches);
  const executor::AsCompiled as_compiled(settings().compiled);
  const executor::BlockLimit limit(settings().timeout_s);
  repeats().begin(key);
  const auto begin = Clock::now();
  watch_launch(kernel_name.c_str(), kernel.launches.launched);
  try {
    KernelCounts counts;
    run_kernel(launch, options, options.count ? &counts : nullptr);
    if (launch.counted && options.count) report_counts(counts);
    if (!launch.counted) note_all_written();
  } catch (const KernelFault& fault) {
    std::fflush(stdout);
    report_fault(fault);
    // An assertion is the program's own affair; after anything else its results mean nothing.
    if (fault.kind() != FaultKind::assertion) stop(1);
    failed_for_good(error_of(fault.kind()));
  } catch (const Error& error) {
    launch_refused(cudaErrorInvalidConfiguration, caller, name.c_str(), error.what());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  kernel.launches.seconds += seconds;
  kernel.launches.is_running = false;
  kernel.row.update(kernel.launches);
  repeats().end(key, seconds);
  watch_host();
}

}  // namespace

namespace {

// A graph's work. Graphs made of one another share their nodes. None is ever freed: a program has
// few.
struct Node {
  std::function<void()> work;
};
using Graph = std::vector<Node*>;
Graph& graph_of(void* graph) { return *static_cast<Graph*>(graph); }

}  // namespace

bool is_capturing() { return state().is_capturing; }
bool defer(std::function<void()> work) {
  if (!is_capturing()) return false;
  state().captured.push_back(std::move(work));
  return true;
}

}  // namespace warpladder::programs

using namespace warpladder::programs;

extern "C" {

void program_launch(const simt::Shape& shape, const char* kernel, const void* function,
                    void (*thunk)(const void*), const void* arguments, std::size_t bytes,
                    const void* values, std::size_t value_bytes) {
  const void* const caller = __builtin_return_address(0);
  if (!kernel && !function) {
    launch_refused(cudaErrorInvalidDeviceFunction, caller, "a kernel", "the pointer to it is null");
    return;
  }
  const std::string name = kernel ? kernel : name_of(function);
  const std::string key(static_cast<const char*>(values), value_bytes);
  if (!this_worker && !state().is_capturing) {
    std::lock_guard lock(state().launch_mutex);
    run_now(shape, name, thunk, arguments, bytes, key, caller);
    run_children();
    return;
  }
  // The arguments are copied by their bytes, as CUDA does.
  const auto copy = std::make_shared<std::string>(static_cast<const char*>(arguments), bytes);
  auto later = [=] { run_now(shape, name, thunk, copy->data(), bytes, key, caller); };
  if (!this_worker) {
    defer(later);
    return;
  }
  note_effect();
  const auto block = this_worker->block_index(this_worker->rank_of(this_worker->current));
  const std::uint64_t at = (std::uint64_t{block.y} << 32 | block.x) * 1024 + this_worker->current;
  std::lock_guard lock(state().children_mutex);
  state().children.emplace(at, later);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  state().is_capturing = true;
  state().captured.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  state().is_capturing = false;
  Graph& made = *new Graph;
  for (auto& work : state().captured) made.push_back(new Node{std::move(work)});
  *graph = reinterpret_cast<cudaGraph_t>(&made);
  return cudaSuccess;
}
cudaError_t program_graph_create(cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(new Graph);
  return cudaSuccess;
}
cudaError_t program_graph_clone(cudaGraph_t* copy, cudaGraph_t graph) {
  *copy = reinterpret_cast<cudaGraph_t>(new Graph(graph_of(graph)));
  return cudaSuccess;
}
cudaError_t program_graph_assign(cudaGraph_t graph, cudaGraph_t from) {
  graph_of(graph) = graph_of(from);
  return cudaSuccess;
}
cudaError_t program_graph_set(cudaGraph_t graph, cudaGraphNode_t* node, void (*run)(void*),
                              void* data) {
  const auto work = [=] { run(data); };
  if (*node) {
    reinterpret_cast<Node*>(*node)->work = work;
    return cudaSuccess;
  }
  Node* const fresh = new Node{work};
  graph_of(graph).push_back(fresh);
  *node = reinterpret_cast<cudaGraphNode_t>(fresh);
  return cudaSuccess;
}
cudaError_t program_graph_size(cudaGraph_t graph, std::size_t* count) {
  *count = graph_of(graph).size();
  return cudaSuccess;
}
cudaError_t program_graph_launch(void* graph) {
  std::lock_guard lock(state().launch_mutex);
  for (const Node* node : graph_of(graph)) node->work();
  run_children();
  return cudaSuccess;
}
cudaError_t program_call(void (*function)(void*), void* data) {
  if (!defer([=] { function(data); })) function(data);
  return cudaSuccess;
}
}
