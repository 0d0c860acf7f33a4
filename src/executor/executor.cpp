#include "executor/executor.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/worker.hpp"

namespace warpladder::executor {
namespace {

// A thread's stack also holds the __shared__ variables of all kernels, which are thread-local: 8
// MiB by now, as much as a thread usually has. What is not touched takes no memory.
bool make_stacks_large() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return false;
  const bool is_set = pthread_attr_setstacksize(&attributes, kBytes) == 0 &&
                      pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return is_set;
}
[[maybe_unused]] const bool kStacksAreLarge = make_stacks_large();

// A launch under way, which idle threads of the pool may join.
struct OpenLaunch {
  const std::function<void(unsigned)>& job;  // takes the slot of a worker
  unsigned most;                             // workers
  unsigned limit;                            // of busy threads, beyond which none joins
  unsigned slots = 1;                        // handed out
  unsigned joined = 0;                       // threads of the pool that are at it
  std::condition_variable done = {};
};

// The executor's OS threads, kept between launches. A launch runs on the launching thread, and on
// idle threads of the pool.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  // Calls job(slot) on the launching thread, and at the same time on up to `most` - 1 threads of
  // the pool. They join only while fewer than `limit` threads are busy. Returns when all have
  // finished.
  void run(unsigned most, unsigned limit, const std::function<void(unsigned)>& job) {
    const BusyThread busy;
    OpenLaunch launch{job, most, limit};
    {
      std::lock_guard lock(mutex_);
      const auto idle = [&] { return static_cast<unsigned>(threads_.size()) - helping_; };
      while (idle() + 1 < most && idle() + busy_ < limit) {
        threads_.emplace_back([this] { serve(); });
      }
      launches_.push_back(&launch);
    }
    if (most > 1) wake_.notify_all();
    job(0);
    std::unique_lock lock(mutex_);
    std::erase(launches_, &launch);
    launch.done.wait(lock, [&] { return launch.joined == 0; });
  }

  void add_busy() {
    std::lock_guard lock(mutex_);
    ++busy_;
  }
  // A thread of the pool may then join a launch in its place.
  void remove_busy() {
    {
      std::lock_guard lock(mutex_);
      --busy_;
      if (launches_.empty()) return;
    }
    wake_.notify_all();
  }

 private:
  OpenLaunch* joinable() const {
    for (OpenLaunch* launch : launches_) {
      if (launch->slots < launch->most && busy_ < launch->limit) return launch;
    }
    return nullptr;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      OpenLaunch* launch = nullptr;
      wake_.wait(lock, [&] { return stopping_ || (launch = joinable()); });
      if (stopping_) return;
      const unsigned slot = launch->slots++;
      ++launch->joined;
      ++busy_, ++helping_;
      lock.unlock();
      launch->job(slot);
      lock.lock();
      --busy_, --helping_;
      if (--launch->joined == 0) launch->done.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
  std::vector<OpenLaunch*> launches_;
  unsigned busy_ = 0;     // threads: of the pool, and others that launch
  unsigned helping_ = 0;  // of the pool
  bool stopping_ = false;
};

// Each thread keeps its worker, which knows where the thread's __shared__ variables lie.
Worker& own_worker() {
  thread_local const auto worker = std::make_unique<Worker>();
  return *worker;
}

// CUDA's own limits, so that a launch that a GPU would refuse does not pass here.
void validate(const KernelLaunch& launch) {
  const runtime::Dim3 &g = launch.config.grid, &b = launch.config.block;
  if (b.count() == 0 || b.x > 1024 || b.y > 1024 || b.z > 64 || b.count() > kMaxBlockThreads) {
    throw_bad_input(fmt::format(
        "a block of {}x{}x{} threads; the limits are 1024x1024x64 and 1024 in all", b.x, b.y, b.z));
  }
  if (g.count() == 0 || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
    throw_bad_input(
        fmt::format("a grid of {}x{}x{} blocks; each must be at least 1, the limits are "
                    "2147483647x65535x65535",
                    g.x, g.y, g.z));
  }
  const unsigned cluster = launch.config.cluster;
  if (cluster == 0 || cluster > kMaxCluster || g.x % cluster) {
    throw_bad_input(
        fmt::format("clusters of {} blocks in a grid of {}x{}x{}; from 1 to {} are possible, and x "
                    "must be a multiple",
                    cluster, g.x, g.y, g.z, kMaxCluster));
  }
  if (launch.cooperative && g.count() > 1 &&
      g.count() * ((b.count() + 31) / 32 * 32) > launch.most_cooperative_threads) {
    throw_bad_input(
        fmt::format("a cooperative grid of {} blocks of {} threads; {} threads can be "
                    "there at once",
                    g.count(), b.count(), launch.most_cooperative_threads));
  }
  if (launch.config.dynamic_shared_bytes > kMaxDynamicShared) {
    throw_bad_input(fmt::format("{} bytes of dynamic shared memory; the limit is {}",
                                launch.config.dynamic_shared_bytes, kMaxDynamicShared));
  }
}

std::string kernel_name(const KernelLaunch& launch) {
  if (launch.name) return launch.name;
  return SiteTable::instance().kernel_name(static_cast<std::uint32_t>(
      reinterpret_cast<std::uintptr_t>(launch.kernel) - SiteTable::text_begin()));
}

KernelFault error_of(const Fault& fault, const KernelLaunch& launch) {
  const SiteTable& table = SiteTable::instance();
  const SourceLine& at =
      table.line_of(static_cast<std::uint32_t>(fault.pc - SiteTable::text_begin()));
  const runtime::Dim3 &g = launch.config.grid, &b = launch.config.block;
  const auto block = fault.block;
  KernelFault::Place place;
  place.kernel = kernel_name(launch);
  place.file = at.file;
  place.line = at.line;
  place.block = {static_cast<unsigned>(block % g.x), static_cast<unsigned>(block / g.x % g.y),
                 static_cast<unsigned>(block / (std::uint64_t{g.x} * g.y))};
  place.thread = {fault.thread % b.x, fault.thread / b.x % b.y, fault.thread / (b.x * b.y)};
  return KernelFault(fault.kind, std::move(place), fault.sentence);
}

void fill_counts(const RequestLog::Sums& sums, const KernelLaunch& launch, bool as_compiled,
                 KernelCounts& counts) {
  const SiteTable& table = SiteTable::instance();
  counts.kernel = kernel_name(launch);
  counts.grid = launch.config.grid;
  counts.block = launch.config.block;
  counts.dynamic_shared_bytes = launch.config.dynamic_shared_bytes;

  struct Access {
    Tally tally;
    Request worst;
  };
  std::map<std::tuple<std::string, int, MemorySpace, AccessKind, int>, Access> accesses;
  std::map<std::pair<std::string, int>, EventCounts> events;
  const auto event_at = [&](std::uint32_t line) -> EventCounts& {
    const SourceLine& at = table.lines()[line];
    return events[{at.file, at.line}];
  };
  const auto add = [&](std::size_t key, unsigned bytes, const Tally& tally) {
    const Site& site = table.sites()[key / 2];
    const SourceLine& at = table.lines()[site.source_line];
    const MemorySpace space = key % 2 ? MemorySpace::shared : MemorySpace::global;
    const AccessKind kind = access_kind(site, space);
    Access& access = accesses[{at.file, at.line, space, kind, static_cast<int>(bytes)}];
    if (tally.worst > access.tally.worst) access.worst = sums.worst.at({key, bytes}).request;
    access.tally.merge(tally);
  };
  for (const auto& [key, tally] : sums.tallies) {
    if (key / 2 != 0) add(key, table.sites()[key / 2].bytes, tally);
  }
  for (const auto& [number, times] : sums.site_lanes) {
    const Site& site = table.sites()[number];
    if (number == 0) continue;  // unknown code
    if (site.kind == SiteKind::sync) event_at(site.source_line).barriers += times;
    if (site.kind == SiteKind::exchange) event_at(site.source_line).shuffles += times;
    if (site.kind == SiteKind::bulk_copy) event_at(site.source_line).bulk_bytes += times;
    if (site.kind == SiteKind::tensor) event_at(site.source_line).tensor_fmas += times;
    if (site.kind == SiteKind::block) {
      for (std::uint32_t f = site.first_fma; f < site.first_fma + site.fma_count; ++f) {
        const BlockFma& fma = table.fmas()[f];
        if (as_compiled || !fma.divides) event_at(fma.source_line).fmas += times * fma.per_lane;
      }
    }
  }
  for (const auto& [where, tally] : sums.resized) add(where.first, where.second, tally);
  for (auto& [key, access] : accesses) {
    const auto& [file, line, space, kind, bytes] = key;
    const Tally& tally = access.tally;
    counts.accesses.push_back({file, line, space, kind, bytes, tally.requests, tally.lanes,
                               tally.sectors, tally.ideal_sectors, tally.wavefronts,
                               tally.ideal_wavefronts, tally.worst});
    counts.worst_requests.push_back(std::move(access.worst));
  }
  for (auto& [key, event] : events) {
    std::tie(event.file, event.line) = key;
    counts.events.push_back(event);
  }
}

}  // namespace

namespace {

std::atomic<double> block_limit_s{0};
thread_local bool is_busy = false;
std::atomic<const CompiledCode*> compiled_code{nullptr};

}  // namespace

BlockLimit::BlockLimit(double seconds) : before_(block_limit_s.exchange(seconds)) {}
BlockLimit::~BlockLimit() { block_limit_s = before_; }
double BlockLimit::seconds() { return block_limit_s; }

AsCompiled::AsCompiled(const CompiledCode& code) : before_(compiled_code.exchange(&code)) {}
AsCompiled::~AsCompiled() { compiled_code = before_; }
const CompiledCode* AsCompiled::code() { return compiled_code; }

BusyThread::BusyThread() : is_outermost_(!std::exchange(is_busy, true)) {
  if (is_outermost_) Pool::instance().add_busy();
}
BusyThread::~BusyThread() {
  if (!is_outermost_) return;
  is_busy = false;
  Pool::instance().remove_busy();
}

KernelFault Worker::endless_loop_at(std::uintptr_t pc) const {
  const auto begin = SiteTable::text_begin();
  const auto site = SiteTable::instance().site_near(static_cast<std::uint32_t>(pc - begin));
  return error_of({FaultKind::endless_loop, begin + site, thread_rank(), block_ + rank_of(current),
                   endless_sentence()},
                  *launch);
}

unsigned worker_count(const Options& options) {
  if (options.threads) return options.threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

void run_kernel(const KernelLaunch& launch, const Options& options, KernelCounts* counts) {
  validate(launch);
  if (this_worker) throw std::logic_error("a kernel cannot be launched from a kernel");
  LaunchState state;
  state.launch = &launch;
  state.options = options;
  state.block_limit_s = BlockLimit::seconds();
  if (const CompiledCode* code = AsCompiled::code()) state.compiled = code->of(kernel_name(launch));
  state.counted = launch.counted;
  state.blocks = launch.config.grid.count();
  const std::uint64_t at_once = launch.cooperative ? state.blocks : launch.config.cluster;
  const unsigned limit = worker_count(options);
  state.workers = static_cast<unsigned>(std::min<std::uint64_t>(limit, state.blocks / at_once));
  state.at_block = std::make_unique<std::atomic<std::uint64_t>[]>(state.workers);
  for (unsigned slot = 0; slot < state.workers; ++slot) state.at_block[slot] = LaunchState::kNone;

  std::vector<std::exception_ptr> failures(state.workers);
  std::vector<std::unique_ptr<Fault>> faults(state.workers);
  std::mutex sums_mutex;
  RequestLog::Sums sums;
  const bool counts_them = counts && state.counted && options.count;
  Pool::instance().run(state.workers, limit, [&](unsigned slot) {
    if (state.next_block >= state.blocks) return;  // the thread comes too late
    try {
      Worker& worker = own_worker();
      worker.run(state, slot);
      faults[slot] = std::move(worker.fault);
      if (!counts_them) return;
      const std::lock_guard lock(sums_mutex);
      worker.log.add_to(sums);
    } catch (...) {
      failures[slot] = std::current_exception();
      state.faulty_block = 0;
      state.at_block[slot] = LaunchState::kNone;
      state.at_block[slot].notify_all();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  const Fault* lowest = nullptr;
  for (const std::unique_ptr<Fault>& fault : faults) {
    if (fault && (!lowest || fault->block < lowest->block)) lowest = fault.get();
  }
  if (lowest) throw error_of(*lowest, launch);
  if (counts_them) fill_counts(sums, launch, state.compiled != nullptr, *counts);
}

}  // namespace warpladder::executor
