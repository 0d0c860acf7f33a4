#include "device/cpu/worker.hpp"

#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <thread>
#include <tuple>
#include <utility>

// The project's one dynamic shared array; like every __shared__ variable it is thread-local.
alignas(128) thread_local unsigned char warpladder_dynamic_shared[228 * 1024]
    __attribute__((tls_model("local-exec")));

namespace warpladder::device::cpu {

constinit thread_local Worker* this_worker __attribute__((tls_model("local-exec"))) = nullptr;

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

}  // namespace

Worker::~Worker() {
  if (stacks_) munmap(stacks_, stack_count_ * kStackBytes);
}

void Worker::prepare_launch(LaunchState& launch_state) {
  shared_state_ = &launch_state;
  launch = launch_state.launch;
  counted = launch_state.counted;
  fault.reset();
  aborting_ = false;
  const Dim3 b = launch->config.block;
  threads_ = static_cast<unsigned>(b.count());
  state.assign(threads_, LaneState::ready);
  slot_of_.resize(threads_);
  thread_index.resize(threads_);
  for (unsigned t = 0; t < threads_; ++t)
    thread_index[t] = {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
  prepare_fibers();
  std::tie(shared_begin, shared_bytes) = thread_local_range();
  arena = Arena::instance().view();
  check_shared = counted && launch_state.options.check_shared;
  if (check_shared) shadow.resize(shared_bytes);
  if (counted) log.prepare();
}

void Worker::prepare_fibers() {
  if (stack_count_ < threads_) {
    if (stacks_) munmap(stacks_, stack_count_ * kStackBytes);
    stack_count_ = threads_;
    prepared_ = 0;
    void* p = mmap(nullptr, stack_count_ * kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      stacks_ = nullptr;
      stack_count_ = 0;
      throw_resource(fmt::format("cannot map {} stacks of {} bytes", threads_, kStackBytes));
    }
    stacks_ = static_cast<char*>(p);
    context_.assign(threads_, Context());
  }
  for (; prepared_ < threads_; ++prepared_) {
    char* stack = stacks_ + prepared_ * kStackBytes;
    // Stacks a power of two apart would share their cache sets; stagger their tops.
    const std::size_t stagger = prepared_ % 61 * 192 / 64 * 64;
    prepare(context_[prepared_], stack, kStackBytes - stagger, &Worker::fiber_entry);
    std::memcpy(stack, &kStackCanary, sizeof kStackCanary);
  }
}

void Worker::fiber_entry(boost::context::detail::transfer_t transfer) {
  receive(transfer, nullptr);
  for (;;) {
    Worker* w = this_worker;
    w->launch->thunk(w->launch->arguments);
    w = this_worker;
    w->state[w->current] = LaneState::done;
    ++w->done_;
    w->suspend();
  }
}

// ---- switching between the lanes of a warp

void Worker::enter_lane(unsigned thread) {
  current = thread;
  if (counted) log.load(thread % kWarp, cursor);
}

void Worker::resume(unsigned thread) {
  enter_lane(thread);
  switch_to(scheduler_, context_[thread]);
}

void Worker::suspend() {
  const unsigned me = current, next = me + 1;
  if (counted) log.store(me % kWarp, cursor);
  if (next < warp_end && state[next] == LaneState::ready && !aborting_) {
    enter_lane(next);
    switch_to(context_[me], context_[next]);
  } else {
    switch_to(context_[me], scheduler_);
  }
}

void Worker::pause_lane() {
  state[current] = LaneState::paused;
  ++paused_;
  suspend();
}

bool Worker::blame(FaultKind kind, std::uintptr_t pc, unsigned thread, std::string sentence) {
  fault = std::make_unique<Fault>(Fault{kind, pc, thread, block_, std::move(sentence)});
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

// ---- barriers and warp-wide exchanges, called by the running lane

int Worker::wait_at_barrier(int form, int predicate, std::uintptr_t pc) {
  if (arrived_++ == 0) {
    barrier_pc_ = pc;
  } else if (pc != barrier_pc_) {
    other_barrier_pc_ = pc;
    other_barrier_thread_ = current;
  }
  predicates_ += predicate != 0;
  state[current] = LaneState::at_block_barrier;
  suspend();
  switch (form) {
    case 1:
      return last_predicates_ == threads_;
    case 2:
      return last_predicates_ != 0;
    case 3:
      return static_cast<int>(last_predicates_);
    default:
      return 0;
  }
}

std::uint64_t Worker::exchange(const ExchangeSlot& slot) {
  const unsigned lane = current % kWarp;
  if (slot.op != Exchange::active_mask && !(slot.mask >> lane & 1)) {
    fail(FaultKind::bad_warp_mask, slot.pc, [&] {
      return fmt::format("lane {} calls with mask {:#010x}, which leaves it out", lane, slot.mask);
    });
  }
  slot_of_[current] = slot;
  state[current] = LaneState::at_exchange;
  ++at_exchange_;
  suspend();
  return slot_of_[current].value;
}

void Worker::wait_for_turn() {
  if (my_turn_) return;
  const LaunchState& shared = *shared_state_;
  for (unsigned other = 0; other < shared.workers; ++other) {
    while (other != slot_ && shared.at_block[other] < block_) {
      if (shared.faulty_block < block_) {  // the launch has failed; what this block does is moot
        aborting_ = true;
        prepared_ = 0;
        switch_to(context_[current], scheduler_);
      }
      std::this_thread::yield();
    }
  }
  my_turn_ = true;
}

AsyncQueue& Worker::async_queue() {
  if (async_.size() < threads_) async_.resize(threads_);
  return async_[current];
}

// ---- the scheduler

bool Worker::run_warp(unsigned first, unsigned end) {
  warp_end = end;
  for (;;) {
    for (unsigned t = first; t < end; ++t) {
      if (state[t] != LaneState::ready) continue;
      resume(t);
      if (aborting_) return false;
      t = current;  // the lanes up to here ran one after the other
    }
    if (counted) {
      std::uint32_t paused = 0;
      if (paused_) {
        for (unsigned t = first; t < end; ++t) {
          paused |= std::uint32_t{state[t] == LaneState::paused} << (t - first);
        }
      }
      if (const std::uint32_t unknown = log.replay(end - first, paused)) {
        return blame(FaultKind::unknown_code, SiteTable::text_begin() + unknown, first,
                     "a device function was not inlined into its kernel; mark it __forceinline__");
      }
      if (paused) {
        for (unsigned t = first; t < end; ++t) {
          if (state[t] == LaneState::paused && log.has_room(t - first)) {
            state[t] = LaneState::ready;
            --paused_;
          }
        }
        continue;
      }
    }
    if (at_exchange_ == 0) return true;
    const unsigned before = at_exchange_;
    if (!resolve_exchanges(first, end)) return false;
    if (at_exchange_ == before) return true;  // they wait for lanes that wait elsewhere
  }
}

// Performs every exchange whose members have all arrived.
bool Worker::resolve_exchanges(unsigned first, unsigned end) {
  unsigned waiting = 0, gone = 0;
  for (unsigned t = first; t < first + kWarp; ++t) {
    const unsigned bit = 1u << (t - first);
    if (t >= end || state[t] == LaneState::done) {
      gone |= bit;
    } else if (state[t] == LaneState::at_exchange) {
      waiting |= bit;
    }
  }
  for (unsigned t = first; t < end; ++t) {
    const unsigned bit = 1u << (t - first);
    if (!(waiting & bit)) continue;
    const ExchangeSlot& mine = slot_of_[t];
    unsigned members = mine.mask;
    if (mine.op == Exchange::active_mask) {  // whoever stopped at the same place
      members = 0;
      for (unsigned u = first; u < end; ++u) {
        if ((waiting >> (u - first) & 1) && slot_of_[u].op == Exchange::active_mask &&
            slot_of_[u].pc == mine.pc) {
          members |= 1u << (u - first);
        }
      }
    } else if (const unsigned lost = members & gone) {
      return blame(
          FaultKind::bad_warp_mask, mine.pc, t,
          fmt::format("mask {:#010x} names lanes {:#010x}, which have exited or never were",
                      mine.mask, lost));
    }
    if ((members & waiting) != members) continue;
    bool agreed = true;
    for (unsigned u = first; u < end && agreed; ++u) {
      if (!(members >> (u - first) & 1)) continue;
      agreed = slot_of_[u].op == mine.op &&
               (mine.op == Exchange::active_mask || slot_of_[u].mask == mine.mask);
    }
    if (!agreed) continue;
    if (!perform(first, members)) return false;
    waiting &= ~members;
  }
  return true;
}

namespace {

std::uint64_t reduce(int form, std::uint64_t a, std::uint64_t b) {
  const auto ua = static_cast<unsigned>(a), ub = static_cast<unsigned>(b);
  const auto sa = static_cast<int>(ua), sb = static_cast<int>(ub);
  switch (form) {
    case 0:
      return ua + ub;
    case 1:
      return static_cast<unsigned>(std::min(sa, sb));
    case 2:
      return static_cast<unsigned>(std::max(sa, sb));
    case 3:
      return std::min(ua, ub);
    case 4:
      return std::max(ua, ub);
    case 5:
      return ua & ub;
    case 6:
      return ua | ub;
    default:
      return ua ^ ub;
  }
}

// The lane that `lane` reads from, or itself where CUDA says that the value stays.
int shuffle_source(const ExchangeSlot& slot, int lane) {
  const int width = slot.width, segment = lane & ~(width - 1);
  switch (slot.form) {
    case 0:
      return segment + (slot.argument & (width - 1));
    case 1:
      return lane - slot.argument < segment ? lane : lane - slot.argument;
    case 2:
      return lane + slot.argument >= segment + width ? lane : lane + slot.argument;
    default: {
      const int source = lane ^ slot.argument;
      return source >= segment + width ? lane : source;
    }
  }
}

}  // namespace

bool Worker::perform(unsigned first, unsigned members) {
  ExchangeSlot* slots = &slot_of_[first];
  const unsigned leader = static_cast<unsigned>(std::countr_zero(members));
  const Exchange op = slots[leader].op;
  std::uint64_t in[kWarp];
  unsigned votes = 0;
  std::uint64_t reduced = slots[leader].value;
  for (unsigned l = 0; l < kWarp; ++l) {
    if (!(members >> l & 1)) continue;
    in[l] = slots[l].value;
    votes |= unsigned{in[l] != 0} << l;
    if (l != leader && op == Exchange::reduce) reduced = reduce(slots[l].form, reduced, in[l]);
  }
  // A warp's barrier and its active mask hand no lane another's value.
  const bool is_shuffle = op != Exchange::sync && op != Exchange::active_mask;
  if (counted && is_shuffle) log.count_event(slots[leader].pc, 1);
  for (unsigned l = 0; l < kWarp; ++l) {
    if (!(members >> l & 1)) continue;
    ExchangeSlot& slot = slots[l];
    switch (op) {
      case Exchange::sync:
        break;
      case Exchange::active_mask:
        slot.value = members;
        break;
      case Exchange::reduce:
        slot.value = reduced;
        break;
      case Exchange::vote:
        slot.value = slot.form == 0 ? votes : slot.form == 1 ? votes != 0 : votes == members;
        break;
      case Exchange::shuffle: {
        if (slot.width < 1 || slot.width > 32 || !std::has_single_bit(unsigned(slot.width))) {
          return blame(FaultKind::bad_warp_mask, slot.pc, first + l,
                       fmt::format("shuffle width {} is not a power of two up to 32", slot.width));
        }
        const int source = shuffle_source(slot, static_cast<int>(l));
        if (source < 0 || source > 31 || !(members >> source & 1)) {
          return blame(FaultKind::inactive_lane_shuffle, slot.pc, first + l,
                       fmt::format("lane {} reads from lane {}, which does not take part (mask "
                                   "{:#010x})",
                                   l, source, slot.mask));
        }
        slot.value = in[source];
      }
    }
    state[first + l] = LaneState::ready;
    --at_exchange_;
  }
  if (op == Exchange::sync && check_shared) shadow.pass_warp_barrier(first / kWarp);
  return true;
}

bool Worker::run_block() {
  const unsigned warps = (threads_ + kWarp - 1) / kWarp;
  std::fill(state.begin(), state.end(), LaneState::ready);
  done_ = arrived_ = predicates_ = at_exchange_ = paused_ = 0;
  my_turn_ = false;
  async_.clear();
  if (check_shared) {
    shadow.begin_block(warps);
    shadow.forget_async_writes();
  }
  for (;;) {
    other_barrier_pc_ = 0;
    unsigned stuck = 0;
    for (unsigned warp = 0; warp < warps; ++warp) {
      const unsigned first = warp * kWarp, end = std::min(first + kWarp, threads_);
      at_exchange_ = paused_ = 0;
      if (!run_warp(first, end)) return false;
      stuck += at_exchange_;
    }
    if (stuck) {
      unsigned t = 0;
      while (state[t] != LaneState::at_exchange) ++t;
      return blame(FaultKind::deadlock, slot_of_[t].pc, t,
                   fmt::format("{} threads wait here for lanes of their warp that never come ({} "
                               "threads wait at __syncthreads, {} have exited)",
                               stuck, arrived_, done_));
    }
    if (arrived_ == 0) break;
    if (done_) {
      unsigned t = 0;
      while (state[t] != LaneState::at_block_barrier) ++t;
      return blame(
          FaultKind::divergent_barrier, barrier_pc_, t,
          fmt::format("{} threads wait at __syncthreads, but {} have exited", arrived_, done_));
    }
    if (other_barrier_pc_) {
      // The compiler may have copied one barrier to two places; two source lines are an error.
      const SiteTable& table = SiteTable::instance();
      const auto begin = SiteTable::text_begin();
      const SourceLine& one = table.line_of(static_cast<std::uint32_t>(barrier_pc_ - begin));
      const SourceLine& two = table.line_of(static_cast<std::uint32_t>(other_barrier_pc_ - begin));
      if (!(one == two)) {
        return blame(FaultKind::divergent_barrier, other_barrier_pc_, other_barrier_thread_,
                     fmt::format("waits here while other threads wait at the barrier of {}:{}",
                                 one.file, one.line));
      }
    }
    if (counted) log.count_event(barrier_pc_, warps);
    if (check_shared) shadow.pass_barrier();
    last_predicates_ = predicates_;
    arrived_ = predicates_ = 0;
    std::fill(state.begin(), state.end(), LaneState::ready);
  }
  return true;
}

// A fiber that outgrew its stack wrote over the canary at its end, or over its neighbour's.
void Worker::check_stacks() {
  for (unsigned t = 0; t < prepared_; ++t) {
    std::uint64_t canary;
    std::memcpy(&canary, stacks_ + t * kStackBytes, sizeof canary);
    if (canary != kStackCanary) {
      blame(FaultKind::stack_overflow, reinterpret_cast<std::uintptr_t>(launch->kernel), t,
            fmt::format("a thread's local variables need more than {} bytes", kStackBytes));
      return;
    }
  }
}

void Worker::run(LaunchState& launch_state, unsigned slot) {
  slot_ = slot;
  prepare_launch(launch_state);
  std::atomic<std::uint64_t>& at = launch_state.at_block[slot];
  const Dim3 g = launch->config.grid;
  this_worker = this;
  for (;;) {
    at = launch_state.next_block.load();  // not lower than what the next line takes
    block_ = launch_state.next_block++;
    at = block_;
    if (block_ >= launch_state.blocks || block_ > launch_state.faulty_block) break;
    block_index = {static_cast<unsigned>(block_ % g.x), static_cast<unsigned>(block_ / g.x % g.y),
                   static_cast<unsigned>(block_ / (std::uint64_t{g.x} * g.y))};
    if (counted) log.clear();
    if (!run_block()) break;
  }
  check_stacks();
  at = LaunchState::kNone;
  this_worker = nullptr;
}

}  // namespace warpladder::device::cpu
