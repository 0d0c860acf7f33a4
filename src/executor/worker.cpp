#include "executor/worker.hpp"

#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
#include <utility>

#include "executor/own_elf.hpp"

// The project's one dynamic shared array; like every __shared__ variable it is thread-local.
// Aligned as the swizzle of the copy engine and of the tensor cores wants it.
alignas(
    1024) thread_local unsigned char warpladder_dynamic_shared[warpladder::executor::kSharedArea]
    __attribute__((tls_model("local-exec")));

// Keeps the section of the __shared__ variables from being empty (kernel_text.ld).
extern "C" {
__attribute__((section(".tdata.warpladder_shared"),
               used)) constinit thread_local unsigned char warpladder_shared_mark = 1;
}

namespace warpladder::executor {

constinit thread_local Worker* this_worker __attribute__((tls_model("local-exec"))) = nullptr;
extern "C" {
constinit thread_local SimtPlace simt_place __attribute__((tls_model("local-exec"))) = {};
}
static_assert(offsetof(SimtPlace, thread) == SimtPlace::kThread &&
              offsetof(SimtPlace, block) == SimtPlace::kBlock &&
              offsetof(SimtPlace, block_dim) == SimtPlace::kBlockDim &&
              offsetof(SimtPlace, grid_dim) == SimtPlace::kGridDim &&
              offsetof(SimtPlace, dynamic_shared) == SimtPlace::kDynamicShared);

namespace {

constexpr std::uint64_t kStackCanary = 0x57a9c4b1d0e6f283;

// The thread-local storage of the program on this OS thread, which holds all __shared__ variables.
std::pair<std::uintptr_t, std::size_t> thread_local_range() {
  std::pair<std::uintptr_t, std::size_t> range{0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
            *static_cast<std::pair<std::uintptr_t, std::size_t>*>(out) = {
                reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
          }
        }
        return 1;  // the first object is the program itself
      },
      &range);
  return range;
}

// The __shared__ variables; what else is thread-local is the host's.
const ElfSection& shared_section() {
  static const ElfSection section = own_section("warpladder_shared");
  return section;
}

// Its variables or, where the program is stripped, the section as one.
std::span<const ElfVariable> shared_variables() {
  static const ElfVariable whole{shared_section().begin, shared_section().bytes, {}};
  const std::vector<ElfVariable>& variables = shared_section().variables;
  return variables.empty() ? std::span(&whole, 1) : std::span(variables);
}

}  // namespace

Worker::~Worker() {
  release_stacks();
  if (cluster_areas_) munmap(cluster_areas_, kMaxCluster * kSharedArea);
}

void Worker::prepare_launch(LaunchState& launch_state) {
  shared_state_ = &launch_state;
  launch = launch_state.launch;
  counted = launch_state.counted;
  fault.reset();
  aborting_ = false;
  const runtime::Dim3 b = launch->config.block;
  threads_ = static_cast<unsigned>(b.count());
  swapped_in_ = 0;
  swaps_ = launch->cooperative && launch->config.grid.count() > 1;
  cluster_ = swaps_ ? static_cast<unsigned>(launch->config.grid.count()) : launch->config.cluster;
  blocks_.resize(cluster_);
  stride_ = cluster_ == 1 ? threads_ : (threads_ + kWarp - 1) / kWarp * kWarp;
  fibers_ = cluster_ * stride_;
  state.assign(fibers_, LaneState::done);  // as what fills up the last warp of a block stays
  slot_of_.resize(fibers_);
  last_volatile_.assign(fibers_, LastVolatile::none);
  warpgroups.prepare(fibers_);
  prepare_fibers();
  prepare_shared();
  prepare_place();
  arena = Arena::instance().view();
  allocation = {};
  check_shared = counted && launch_state.options.check_shared;
  unwatched_arena_bytes = counted && !arena.written ? arena.size : 0;
  unchecked_shared_bytes = counted && !check_shared ? shared_bytes : 0;
  if (check_shared) prepare_shadow();
  logs = counted && launch_state.options.count;
  mapped = nullptr;
  cursor = {};
  if (logs) log.prepare(launch_state.compiled);
}

// "Shared" is the thread-local storage or, where several blocks share the OS thread, an area for
// each: variables in thread-local storage exist once.
void Worker::prepare_shared() {
  std::tie(tls_begin_, tls_bytes_) = thread_local_range();
  areas_ = warpladder_dynamic_shared;
  shared_begin = tls_begin_;
  shared_bytes = tls_bytes_;
  if (cluster() == 1) return;
  if (!cluster_areas_) {
    void* p = mmap(nullptr, kMaxCluster * kSharedArea, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw_resource("cannot map the shared memory of a cluster");
    cluster_areas_ = static_cast<unsigned char*>(p);
  }
  areas_ = cluster_areas_;
  shared_begin = reinterpret_cast<std::uintptr_t>(areas_);
  shared_bytes = cluster_ * kSharedArea;
}

void Worker::prepare_place() {
  const auto index = [](const runtime::Dim3& d) { return SimtPlace::Index{d.x, d.y, d.z}; };
  const runtime::Dim3& b = launch->config.block;
  simt_place.block_dim = index(b);
  simt_place.grid_dim = index(launch->config.grid);
  thread_index_.resize(fibers_);
  for (unsigned fiber = 0; fiber < fibers_; ++fiber) {
    const unsigned t = fiber % stride_;
    thread_index_[fiber] = {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
  }
}

// The lanes that run from now on are those of `block`.
void Worker::enter_block(Block& block) {
  running_ = &block;
  const unsigned rank = rank_of(block.first);
  const runtime::Dim3 at = block_index(rank);
  simt_place.block = {at.x, at.y, at.z};
  simt_place.dynamic_shared = dynamic_shared(rank);
}

// Legal are the __shared__ variables and as much dynamic shared memory as the launch asked for.
void Worker::prepare_shadow() {
  const std::size_t dynamic = launch->config.dynamic_shared_bytes;
  const bool is_prepared = shadow_begin_ == shared_begin && shadow_cluster_ == cluster();
  if (is_prepared && shadow_dynamic_bytes_ == dynamic) return;
  const std::size_t areas = reinterpret_cast<std::uintptr_t>(areas_) - shared_begin;
  if (!is_prepared) {
    shadow.prepare(reinterpret_cast<const unsigned char*>(shared_begin), shared_bytes,
                   cluster() == 1 ? shared_variables() : std::span<const ElfVariable>());
  }
  for (unsigned rank = 0; rank < cluster(); ++rank) {
    const std::size_t area = areas + rank * kSharedArea;
    if (is_prepared) shadow.set_legal(area, shadow_dynamic_bytes_, false);
    shadow.set_legal(area, dynamic, true);
  }
  shadow_begin_ = shared_begin;
  shadow_dynamic_bytes_ = dynamic;
  shadow_cluster_ = cluster();
}

std::string Worker::describe_shared(std::uintptr_t address) const {
  const std::size_t dynamic = launch->config.dynamic_shared_bytes;
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(areas_);
  if (offset < cluster() * kSharedArea) {
    if (dynamic == 0) return "of dynamic shared memory, of which the launch asked for none";
    return fmt::format("{} bytes past the end of the launch's {} bytes of dynamic shared memory",
                       offset % kSharedArea - std::min(dynamic, offset % kSharedArea), dynamic);
  }
  const auto& variables = shared_section().variables;
  const std::size_t at = address - tls_begin_;
  const auto after = std::ranges::upper_bound(variables, at, {}, &ElfVariable::begin);
  if (after == variables.begin()) return "where no __shared__ variable is";
  const ElfVariable& v = *std::prev(after);
  const std::size_t end = v.begin + v.bytes;
  if (at < end)
    return fmt::format("across the end of {}, {} bytes of shared memory", v.name, v.bytes);
  return fmt::format("{} bytes past the end of {}, {} bytes of shared memory", at - end, v.name,
                     v.bytes);
}

// ---- questions about shared memory

bool Worker::settle_doubts(unsigned fiber) {
  const auto* problem = shadow.settle_doubts();
  return !problem || blame(problem->kind, doubt_pc_, fiber, problem->sentence);
}

void Worker::suspect_early_read(std::uintptr_t pc, const std::string& sentence) {
  if (early_read_) return;
  early_read_ = EarlyRead{pc, current, sentence};
  shadow.await_writer(shadow_name(current));
}

bool Worker::blame_early_read(const SharedShadow::Problem& problem) {
  const EarlyRead read = *std::exchange(early_read_, std::nullopt);
  shadow.forget_awaited();
  return blame(problem.kind, read.pc, read.fiber, problem.sentence);
}

bool Worker::settle_early_read() {
  if (!early_read_) return true;
  return blame_early_read({FaultKind::uninitialised_shared_read, early_read_->sentence});
}

bool Worker::pass_barrier() {
  if (!check_shared) return true;
  if (!settle_early_read()) return false;
  shadow.pass_barrier();
  return true;
}

void Worker::release_stacks() {
  if (!stacks_) return;
  forget_frames(stacks_, stack_bytes());
  munmap(stacks_ - kStackBytes, kStackBytes + stack_bytes());
}

void Worker::prepare_fibers() {
  if (stack_count_ < fibers_) {
    release_stacks();
    stack_count_ = fibers_;
    prepared_ = 0;
    // Below the lowest lies room, so that its overflow is told as any other.
    void* p = mmap(nullptr, kStackBytes + stack_bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      stacks_ = nullptr;
      stack_count_ = 0;
      throw_resource(fmt::format("cannot map {} stacks of {} bytes", fibers_, kStackBytes));
    }
    stacks_ = static_cast<char*>(p) + kStackBytes;
    context_.assign(fibers_, Context());
  }
  for (; prepared_ < fibers_; ++prepared_) {
    char* stack = stacks_ + prepared_ * kStackBytes;
    // Stacks a power of two apart would share their cache sets; stagger their tops.
    const std::size_t stagger = prepared_ % 61 * 192 / 64 * 64;
    prepare(context_[prepared_], stack, kStackBytes - stagger, &Worker::fiber_entry);
    std::memcpy(stack, &kStackCanary, sizeof kStackCanary);
  }
}

inline bool Worker::holds_canary(std::size_t stack) const {
  std::uint64_t canary;
  std::memcpy(&canary, stacks_ + stack * kStackBytes, sizeof canary);
  return canary == kStackCanary;
}

// A stack runs the kernel for one lane after the other, without a switch as long as none of them
// waits. Only the last of them is accounted for here: suspend_here() settles the others.
void Worker::fiber_entry(void*, Context* from) {
  arrive(nullptr, from);
  Worker& w = *this_worker;
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto stack = (frame - reinterpret_cast<std::uintptr_t>(w.stacks_)) / kStackBytes;
  for (;;) {
    const auto thunk = w.launch->thunk;
    const void* const arguments = w.launch->arguments;
    for (;;) {
      thunk(arguments);
      if (!w.holds_canary(stack)) {
        w.blame_overflow(w.current);
        w.abandon();
      }
      const unsigned me = w.current, next = me + 1;
      if (next >= w.begin_end_) break;
      if (w.counted) w.leave_lane(me);
      w.enter_lane(next);
    }
    w.state[w.current] = LaneState::done;
    ++w.running_->done;
    w.suspend();
  }
}

// ---- switching between the lanes of a warp

void Worker::leave_lane(unsigned me) {
  if (check_shared && shadow.in_doubt() && !settle_doubts(me)) abandon();
  if (logs) log.store(me % kWarp, cursor);
}

// The lanes [first_on_stack_, current) have ended on the running stack. They leave it to the
// running lane and share the stacks on which they would have begun.
void Worker::settle_ended_lanes() {
  const unsigned first = first_on_stack_, me = current;
  std::fill(state.begin() + first, state.begin() + me, LaneState::done);
  running_->done += me - first;
  context_[first] = context_[me];
}

void Worker::suspend() { suspend_here(); }

void Worker::yield() {
  state[current] = LaneState::yielding;
  ++yielding_;
  uneven_ = true;
  suspend();
}

void Worker::wait_in_step() {
  state[current] = LaneState::in_step;
  ++in_step_;
  suspend();
}

void Worker::resume_in_step(unsigned first, unsigned end) {
  for (unsigned t = first; t < end; ++t) {
    if (state[t] == LaneState::in_step) state[t] = LaneState::ready;
  }
  in_step_ = 0;
}

void Worker::forget_steps(unsigned first, unsigned end) {
  if (keeps_step_) {
    std::fill(last_volatile_.begin() + first, last_volatile_.begin() + end, LastVolatile::none);
  }
}

void Worker::resume_yielding(unsigned first, unsigned end) {
  if (yielding_ == 0) return;
  for (unsigned t = first; t < end; ++t) {
    if (state[t] != LaneState::yielding) continue;
    state[t] = LaneState::ready;
    --yielding_;
  }
}

runtime::Dim3 Worker::index_in_grid(std::uint64_t block) const {
  const runtime::Dim3 g = launch->config.grid;
  return {static_cast<unsigned>(block % g.x), static_cast<unsigned>(block / g.x % g.y),
          static_cast<unsigned>(block / (std::uint64_t{g.x} * g.y))};
}

void Worker::pause_lane() {
  busy_pc_ = SiteTable::text_begin() + (cursor.pc[-1] & ~kSharedBit);
  busy_fiber_ = current;
  state[current] = LaneState::paused;
  ++paused_;
  suspend();
}

bool Worker::blame(FaultKind kind, std::uintptr_t pc, unsigned fiber, std::string sentence) {
  if (early_read_) return settle_early_read();  // the first fault, of which this one may come
  const unsigned rank = rank_of(fiber);
  fault = std::make_unique<Fault>(
      Fault{kind, pc, fiber - rank * stride_, block_ + rank, std::move(sentence)});
  aborting_ = true;
  prepared_ = 0;  // the other fibers are stuck in the middle of the kernel
  std::atomic<std::uint64_t>& faulty = shared_state_->faulty_block;
  for (std::uint64_t seen = faulty; block_ < seen && !faulty.compare_exchange_weak(seen, block_);) {
  }
  return false;
}

// Leaves the running fiber for good.
void Worker::abandon() {
  switch_to(context_[current], scheduler_);
  __builtin_unreachable();
}

// ---- barriers, called by the running lane

int Worker::wait_at_barrier(int form, int predicate, std::uintptr_t pc) {
  Block& block = *running_;
  block.predicates += predicate != 0;
  wait_at_barrier(pc);
  switch (form) {
    case 1:
      return block.last_predicates == threads_;
    case 2:
      return block.last_predicates != 0;
    case 3:
      return static_cast<int>(block.last_predicates);
    default:
      return 0;
  }
}

void Worker::wait_at_cluster_barrier(std::uintptr_t pc) {
  if (at_cluster_barrier_++ == 0) cluster_barrier_pc_ = pc;
  wait_as(LaneState::at_cluster_barrier, pc);
}

void Worker::wait_at_named_barrier(unsigned id, unsigned threads, std::uintptr_t pc) {
  if (id >= kNamedBarriers) {
    fail(FaultKind::divergent_barrier, pc,
         [&] { return fmt::format("waits at barrier {}; a block has {}", id, kNamedBarriers); });
  }
  Block& block = *running_;
  NamedBarrier& barrier = block.named[id];
  if (threads > threads_) {
    fail(FaultKind::divergent_barrier, pc, [&] {
      return fmt::format("waits for {} threads at barrier {}; the block has {}", threads, id,
                         threads_);
    });
  }
  if (barrier.arrived++ == 0) {
    barrier.threads = threads;
    barrier.pc = pc;
  } else if (barrier.threads != threads) {
    fail(FaultKind::divergent_barrier, pc, [&] {
      return fmt::format("waits for {} threads at barrier {}, where others wait for {}", threads,
                         id, barrier.threads);
    });
  }
  slot_of_[current].argument = static_cast<int>(id);
  if (barrier.arrived < threads) return wait_as(LaneState::at_named_barrier, pc);
  state[current] = LaneState::at_named_barrier;
  const auto waits = [&](unsigned t) {
    return state[t] == LaneState::at_named_barrier && slot_of_[t].argument == static_cast<int>(id);
  };
  for (unsigned t = block.first; t < block.first + threads_; ++t) {
    const unsigned warp = t - (t - block.first) % kWarp;
    if (waits(t) == waits(warp)) continue;
    state[current] = LaneState::ready;
    fail(FaultKind::divergent_barrier, pc, [&] {
      return fmt::format("barrier {} has its {} threads, but not of whole warps", id, threads);
    });
  }
  if (logs) log.count_event(barrier.pc, threads / kWarp);
  if (!pass_barrier()) abandon();
  barrier = NamedBarrier();
  for (unsigned t = block.first; t < block.first + threads_; ++t) {
    if (waits(t)) wake(t);
  }
  suspend();
}

void Worker::wait_for_turn() {
  if (my_turn_) return;
  const LaunchState& shared = *shared_state_;
  for (unsigned other = 0; other < shared.workers; ++other) {
    const std::atomic<std::uint64_t>& at = shared.at_block[other];
    for (std::uint64_t seen; other != slot_ && (seen = at) < block_; at.wait(seen)) {
      if (shared.faulty_block < block_) {  // the launch has failed; what this block does is moot
        aborting_ = true;
        prepared_ = 0;
        switch_to(context_[current], scheduler_);
      }
    }
  }
  my_turn_ = true;
}

AsyncQueue& Worker::async_queue() {
  if (async_.size() < fibers_) async_.resize(fibers_);
  return async_[current];
}

// A fiber that outgrew its stack wrote over the canary at its end, or over its neighbour's.
void Worker::blame_overflow(unsigned fiber) {
  blame(FaultKind::stack_overflow, reinterpret_cast<std::uintptr_t>(launch->kernel), fiber,
        fmt::format("a thread's local variables need more than {} bytes", kStackBytes));
}

void Worker::check_stacks() {
  for (unsigned t = 0; t < prepared_; ++t) {
    if (!holds_canary(t)) return blame_overflow(t);
  }
}

void Worker::run(LaunchState& launch_state, unsigned slot) {
  slot_ = slot;
  prepare_launch(launch_state);
  std::atomic<std::uint64_t>& at = launch_state.at_block[slot];
  this_worker = this;
  for (;;) {
    at = launch_state.next_block.load();  // not lower than what the next line takes
    block_ = launch_state.next_block.fetch_add(cluster_);
    at = block_;
    at.notify_all();
    if (block_ >= launch_state.blocks || block_ > launch_state.faulty_block) break;
    block_index_ = index_in_grid(block_);
    if (logs) log.begin_block(block_);
    if (!(swaps_ ? run_grid() : run_blocks())) break;
  }
  check_stacks();
  at = LaunchState::kNone;
  at.notify_all();
  this_worker = nullptr;
}

}  // namespace warpladder::executor
