// Who runs next, and what it means when nobody can.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "executor/worker.hpp"

namespace warpladder::executor {

bool Worker::run_warp(unsigned first, unsigned end) {
  warp_end = end;
  at_exchange_ = paused_ = 0;
  if (uneven_) {
    for (unsigned t = first; t < end; ++t) at_exchange_ += state[t] == LaneState::at_exchange;
  }
  for (;;) {
    if (is_out_of_time()) return blame_endless_loop(first);
    do {
      for (unsigned t = first; t < end; ++t) {
        if (state[t] != LaneState::ready) continue;
        resume(t);
        if (aborting_) return false;
        t = current;  // the lanes up to here ran one after the other
      }
      begin_end_ = 0;
    } while (woken_ && any_ready(first, end));  // a lane may have woken one in front of it
    if (in_step_ && !paused_) {
      resume_in_step(first, end);
      continue;
    }
    if (logs) {
      std::uint32_t paused = 0;
      if (paused_) {
        for (unsigned t = first; t < end; ++t) {
          const bool stops = state[t] == LaneState::paused || state[t] == LaneState::in_step;
          paused |= std::uint32_t{stops} << (t - first);
        }
      }
      if (const std::uint32_t unknown = log.replay(end - first, paused)) {
        return blame(FaultKind::unknown_code, SiteTable::text_begin() + unknown, first,
                     "a device function was not inlined into its kernel; mark it __forceinline__");
      }
      if (paused) {
        const unsigned before = paused_;
        for (unsigned t = first; t < end; ++t) {
          if (state[t] == LaneState::paused && log.has_room(t - first)) {
            state[t] = LaneState::ready;
            --paused_;
          }
        }
        if (paused_ == before) resume_in_step(first, end);  // whose logs end too early
        continue;
      }
    }
    if (at_exchange_ == 0) return true;
    const unsigned before = at_exchange_;
    if (!resolve_exchanges(first, end)) return false;
    if (at_exchange_ == before) return true;  // they wait for lanes that wait elsewhere
  }
}

namespace {

std::int64_t processor_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

// Asked each time a warp has run until it waits, or its logs are full: some milliseconds at most.
bool Worker::is_out_of_time() {
  constexpr unsigned kRoundsToALook = 64;
  const double limit_s = shared_state_->block_limit_s;
  if (limit_s <= 0 || ++rounds_ % kRoundsToALook) return false;
  return block_seconds() > limit_s;
}

double Worker::block_seconds() const {
  return 1e-9 * static_cast<double>(processor_time_ns() - block_begin_ns_);
}

std::string Worker::endless_sentence() const {
  return fmt::format("the block has run for {:g} s of processor time without an end",
                     shared_state_->block_limit_s);
}

bool Worker::blame_endless_loop(unsigned first) {
  const bool is_busy = busy_pc_ != 0;
  const std::uintptr_t at_barrier = running_->barrier_pc;
  const std::uintptr_t pc = is_busy      ? busy_pc_
                            : at_barrier ? at_barrier
                                         : reinterpret_cast<std::uintptr_t>(launch->kernel);
  return blame(FaultKind::endless_loop, pc, is_busy ? busy_fiber_ : first, endless_sentence());
}

void Worker::begin_blocks() {
  busy_pc_ = 0;
  if (shared_state_->block_limit_s > 0) block_begin_ns_ = processor_time_ns();
  for (unsigned rank = 0; rank < cluster_; ++rank) {
    Block& block = blocks_[rank];
    block = Block();
    block.first = rank * stride_;
    make_ready(block);
  }
  begin_end_ = 0;
  at_exchange_ = paused_ = yielding_ = at_cluster_barrier_ = in_step_ = 0;
  forget_steps(0, fibers_);
  keeps_step_ = false;
  my_turn_ = false;
  uneven_ = cluster_ > 1;
  last_failed_swap_ = {};
  async_.clear();
  mbarriers.clear(shared_begin);
  warpgroups.clear();
  early_read_.reset();
  if (check_shared) {
    shadow.begin_block((fibers_ + kWarp - 1) / kWarp);
    shadow.forget_async_writes();
  }
}

void Worker::make_ready(const Block& block) {
  const auto first = state.begin() + block.first;
  if (block.done == 0) {
    std::fill(first, first + threads_, LaneState::ready);
    return;
  }
  std::replace(first, first + threads_, LaneState::at_block_barrier, LaneState::ready);
  uneven_ = true;
}

bool Worker::is_complete(const Block& block) const {
  if (block.arrived == threads_) return true;
  return block.arrived && block.arrived + block.done == threads_ && shared_state_->options.goes_on;
}

// Runs one block, or those of a cluster, to their end.
bool Worker::run_blocks() {
  begin_blocks();
  for (bool is_first = true;; is_first = false) {
    woken_ = false;
    for (Block& block : blocks_) {
      enter_block(block);
      const unsigned block_end = block.first + threads_;
      resume_yielding(block.first, block_end);
      for (unsigned first = block.first; first < block_end; first += kWarp) {
        const unsigned end = std::min(first + kWarp, block_end);
        if (uneven_ && !any_ready(first, end)) continue;
        begin_end_ = is_first ? end : 0;
        if (!run_warp(first, end)) return false;
      }
    }
    if (woken_) continue;
    bool goes_on = false;
    if (!release_barriers(goes_on)) return false;
    if (goes_on || yielding_) continue;
    unsigned done = 0;
    for (const Block& block : blocks_) done += block.done;
    if (done == cluster_ * threads_) break;
    if (!land_awaited(*this, goes_on)) return false;
    if (!goes_on) return blame_standstill();
  }
  return finish_blocks();
}

bool Worker::finish_blocks() {
  if (!settle_early_read()) return false;
  for (std::size_t i = 0; i < mbarriers.size(); ++i) {
    const Mbarrier& b = mbarriers[i];
    if (b.due.empty()) continue;
    const Delivery& first = b.due.front();
    return blame(FaultKind::unwaited_async_copy, first.pc, first.fiber,
                 fmt::format("the block ends before this copy, for which nobody has waited at {}",
                             describe(*this, b)));
  }
  return true;
}

// Lets those go on who wait at a barrier that all have reached.
bool Worker::release_barriers(bool& released) {
  for (Block& block : blocks_) {
    if (!is_complete(block)) continue;
    released = true;
    if (!release(block)) return false;
  }
  if (at_cluster_barrier_ == cluster_ * threads_) {
    released = true;
    if (logs) log.count_event(cluster_barrier_pc_, cluster_ * ((threads_ + kWarp - 1) / kWarp));
    if (!pass_barrier()) return false;
    at_cluster_barrier_ = 0;
    for (const Block& block : blocks_) make_ready(block);
  }
  return true;
}

bool Worker::release(Block& block) {
  if (block.other_barrier_pc && !shared_state_->options.goes_on) {
    // The compiler may have copied one barrier to two places; two source lines are an error.
    const SiteTable& table = SiteTable::instance();
    const auto begin = SiteTable::text_begin();
    const SourceLine& one = table.line_of(static_cast<std::uint32_t>(block.barrier_pc - begin));
    const SourceLine& two =
        table.line_of(static_cast<std::uint32_t>(block.other_barrier_pc - begin));
    if (!(one == two)) {
      return blame(FaultKind::divergent_barrier, block.other_barrier_pc, block.other_barrier_fiber,
                   fmt::format("waits here while other threads wait at the barrier of {}:{}",
                               one.file, one.line));
    }
  }
  if (logs) log.count_event(block.barrier_pc, (threads_ + kWarp - 1) / kWarp);
  if (!pass_barrier()) return false;
  block.last_predicates = block.predicates;
  block.arrived = block.predicates = 0;
  block.other_barrier_pc = 0;
  make_ready(block);
  forget_steps(block.first, block.first + threads_);
  return true;
}

namespace {

// "1 thread waits", "40 threads wait".
std::string threads_wait(unsigned count) {
  return fmt::format("{} thread{}", count, count == 1 ? " waits" : "s wait");
}
std::string have_exited(unsigned count) {
  return fmt::format("{} {} exited", count, count == 1 ? "has" : "have");
}

}  // namespace

// Lanes wait at an exchange for lanes that wait elsewhere. Of a __syncwarp() and a shuffle that
// wait for each other, the shuffle is to blame. It stands in a branch that not all lanes take.
bool Worker::blame_exchange(unsigned waiter, const std::string& where_others_are) {
  const auto waits = [&](unsigned t) { return state[t] == LaneState::at_exchange; };
  const unsigned end = std::min(waiter / kWarp * kWarp + kWarp, fibers_);
  unsigned other = waiter;
  while (other < end && !(waits(other) && slot_of_[other].pc != slot_of_[waiter].pc)) ++other;
  std::string elsewhere;
  if (other < end) {
    if (slot_of_[waiter].op == Exchange::sync) std::swap(waiter, other);
    const SourceLine& at = SiteTable::instance().line_of(
        static_cast<std::uint32_t>(slot_of_[other].pc - SiteTable::text_begin()));
    elsewhere = fmt::format(": lane {} waits at {}:{}", other % kWarp, at.file, at.line);
  }
  unsigned here = 0;
  for (unsigned t = 0; t < fibers_; ++t) here += waits(t) && slot_of_[t].pc == slot_of_[waiter].pc;
  return blame(FaultKind::deadlock, slot_of_[waiter].pc, waiter,
               fmt::format("{} here for lanes of their warp that never come{} {}",
                           threads_wait(here), elsewhere, where_others_are));
}

// Nobody can go on: names one who waits, and what for.
bool Worker::blame_standstill() {
  unsigned in[kLaneStates] = {}, first[kLaneStates] = {};
  for (const Block& block : blocks_) {
    for (unsigned t = block.first; t < block.first + threads_; ++t) {
      const auto s = static_cast<std::size_t>(state[t]);
      if (in[s]++ == 0) first[s] = t;
    }
  }
  const auto count = [&](LaneState s) { return in[static_cast<std::size_t>(s)]; };
  const auto one_in = [&](LaneState s) { return first[static_cast<std::size_t>(s)]; };
  const unsigned at_barrier = count(LaneState::at_block_barrier), exited = count(LaneState::done);
  const auto where_others_are = [&] {
    return fmt::format("({} at __syncthreads, {})", threads_wait(at_barrier), have_exited(exited));
  };
  const auto deadlock = [&](LaneState s, const std::string& sentence) {
    return blame(FaultKind::deadlock, slot_of_[one_in(s)].pc, one_in(s), sentence);
  };

  if (const unsigned n = count(LaneState::at_mbarrier)) {
    const unsigned waiter = one_in(LaneState::at_mbarrier);
    std::size_t i = 0;
    while (std::ranges::find(mbarriers[i].waiting, waiter) == mbarriers[i].waiting.end()) ++i;
    const Mbarrier& b = mbarriers[i];
    return deadlock(LaneState::at_mbarrier,
                    fmt::format("waits for {}, which still waits for {} of {} arrivals and for {} "
                                "bytes that no copy will bring; {} at mbarriers {}",
                                describe(*this, b), b.missing, b.arrivals, b.bytes, threads_wait(n),
                                where_others_are()));
  }
  if (count(LaneState::at_exchange))
    return blame_exchange(one_in(LaneState::at_exchange), where_others_are());
  if (const unsigned n = count(LaneState::at_warpgroup)) {
    return deadlock(LaneState::at_warpgroup,
                    fmt::format("{} here for threads of their warpgroup that never come {}",
                                threads_wait(n), where_others_are()));
  }
  if (const unsigned n = count(LaneState::at_cluster_barrier)) {
    const unsigned t = one_in(LaneState::at_cluster_barrier);
    return blame(FaultKind::divergent_barrier, slot_of_[t].pc, t,
                 fmt::format("{} thread{} of the cluster wait{} at its barrier, the others never "
                             "come {}",
                             n, n == 1 ? "" : "s", n == 1 ? "s" : "", where_others_are()));
  }
  if (const unsigned n = count(LaneState::at_named_barrier)) {
    const unsigned t = one_in(LaneState::at_named_barrier);
    const int id = slot_of_[t].argument;
    const NamedBarrier& barrier = blocks_[rank_of(t)].named[static_cast<std::size_t>(id)];
    return blame(FaultKind::divergent_barrier, barrier.pc, t,
                 fmt::format("{} at named barriers; at barrier {} {} of {} {}", threads_wait(n), id,
                             barrier.arrived, barrier.threads, where_others_are()));
  }
  const unsigned t = one_in(LaneState::at_block_barrier);
  const Block& block = blocks_[rank_of(t)];
  // Where a thread left is not known: only waits have a place.
  const auto begin = state.begin() + block.first, end = begin + threads_;
  std::string such_as;
  if (const auto left = std::find(begin, end, LaneState::done); left != end) {
    const auto& index = thread_index_[static_cast<std::size_t>(left - state.begin())];
    such_as = fmt::format(", such as thread ({},{},{})", index.x, index.y, index.z);
  }
  return blame(FaultKind::divergent_barrier, block.barrier_pc, t,
               fmt::format("{} at __syncthreads, but {}{}", threads_wait(block.arrived),
                           have_exited(block.done), such_as));
}

}  // namespace warpladder::executor
