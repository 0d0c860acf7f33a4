// mbarriers, named barriers and clusters: the executor's side of parts/ptx/mbarrier.hpp,
// named_barrier.hpp and cluster.hpp.

#include <fmt/format.h>

#include <algorithm>

#include "executor/mbarriers.hpp"
#include "executor/worker.hpp"

namespace warpladder::executor {

Mbarrier& Mbarriers::make(std::uintptr_t address) {
  const std::size_t s = slot(address);
  if (s >= index_.size()) index_.resize(s + 1);
  if (!index_[s]) {
    if (used_ == barriers_.size()) barriers_.emplace_back();
    index_[s] = static_cast<std::uint16_t>(++used_);
  }
  Mbarrier& barrier = barriers_[index_[s] - 1u];
  barrier.address = address;
  barrier.bytes = 0;
  barrier.phase = 0;
  barrier.due.clear();
  barrier.waiting.clear();
  return barrier;
}

std::string describe(const Worker& w, const Mbarrier& b) {
  for (unsigned rank = 0; rank < w.cluster(); ++rank) {
    const std::size_t offset = w.dynamic_offset(b.address, sizeof(std::uint64_t), rank);
    if (offset == Worker::kNowhere) continue;
    return fmt::format("the mbarrier at byte {} of dynamic shared memory{}", offset,
                       w.cluster() == 1 ? "" : fmt::format(" of block {} of the cluster", rank));
  }
  return "the mbarrier in static shared memory";
}

bool settle(Worker& w, Mbarrier& b, unsigned fiber, std::uintptr_t pc) {
  if (b.missing || b.bytes) return true;
  if (!b.due.empty()) {
    // On a GPU these bytes would count for this phase or for the next, as it happens.
    std::int64_t under_way = 0;
    for (const Delivery& d : b.due) under_way += d.bytes;
    if (under_way == 0) {  // a thread's own copies, whose arrival this phase has no place for
      return w.blame(FaultKind::mbarrier_misuse, pc, fiber,
                     fmt::format("an arrival too many: ends a phase of {} while {} threads' copies "
                                 "have yet to arrive",
                                 describe(w, b), b.due.size()));
    }
    return w.blame(FaultKind::mbarrier_misuse, pc, fiber,
                   fmt::format("ends a phase of {} while {} bytes are on their way to it that "
                               "nobody has announced",
                               describe(w, b), under_way));
  }
  b.phase ^= 1;
  b.missing = b.arrivals;
  for (const unsigned waiter : b.waiting) w.wake(waiter);
  b.waiting.clear();
  // Who arrived and who waited are in order now. The shadow knows one order of all threads, so it
  // may overlook a race between others, and reports none that is not there.
  return w.pass_barrier();
}

namespace {

std::uintptr_t to_pc(void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address);
}

// Throughout: of the running fiber's block, which alone it may name directly.
std::uintptr_t address_of(Worker& w, const void* barrier, std::uintptr_t pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(barrier);
  const bool dynamic =
      w.dynamic_offset(address, sizeof(std::uint64_t), w.rank_of(w.current)) != Worker::kNowhere;
  if (!dynamic && !(w.cluster() == 1 && w.in_static_shared(address))) {
    w.fail(FaultKind::mbarrier_misuse, pc,
           [] { return "an mbarrier that is not in the block's shared memory"; });
  }
  if (address % sizeof(std::uint64_t)) {
    w.fail(FaultKind::misaligned_access, pc,
           [] { return "an mbarrier at an address that is no multiple of 8"; });
  }
  return address;
}

Mbarrier& barrier_at(Worker& w, std::uintptr_t address, std::uintptr_t pc) {
  Mbarrier* const b = w.mbarriers.find(address);
  if (!b) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      Mbarrier nameless;
      nameless.address = address;
      return fmt::format("{} has not been initialised", describe(w, nameless));
    });
  }
  return *b;
}

void arrive(Worker& w, Mbarrier& b, unsigned bytes, std::uintptr_t pc) {
  if (b.missing == 0) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      return fmt::format(
          "an arrival too many: {} has had the {} of this phase and waits for {} "
          "bytes",
          describe(w, b), b.arrivals, b.bytes);
    });
  }
  b.bytes += bytes;
  if (b.bytes > Mbarrier::kMost) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      return fmt::format("{} would wait for {} bytes; it counts up to {}", describe(w, b), b.bytes,
                         Mbarrier::kMost);
    });
  }
  --b.missing;
  if (!settle(w, b, w.current, pc)) w.abandon();
}

unsigned rank_in_cluster(Worker& w, unsigned rank, std::uintptr_t pc) {
  if (rank >= w.cluster()) {
    w.fail(FaultKind::out_of_bounds, pc,
           [&] { return fmt::format("block {} of a cluster of {}", rank, w.cluster()); });
  }
  return rank;
}

// Where the same place lies in block `rank`.
unsigned char* in_block(Worker& w, void* shared, unsigned rank, std::uintptr_t pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(shared);
  const std::size_t offset = w.dynamic_offset(address, 0, w.rank_of(w.current));
  if (offset == Worker::kNowhere) {
    w.fail(FaultKind::out_of_bounds, pc, [] {
      return "only what lies in the block's own dynamic shared memory has a counterpart in another "
             "block";
    });
  }
  return w.dynamic_shared(rank_in_cluster(w, rank, pc)) + offset;
}

}  // namespace
}  // namespace warpladder::executor

using namespace warpladder::executor;

extern "C" {

unsigned simt_cluster_rank() { return this_worker->rank_of(this_worker->current); }

void simt_cluster_barrier() {
  this_worker->wait_at_cluster_barrier(to_pc(__builtin_return_address(0)));
}

void simt_named_barrier(int id, int threads) {
  this_worker->wait_at_named_barrier(static_cast<unsigned>(id), static_cast<unsigned>(threads),
                                     to_pc(__builtin_return_address(0)));
}

void* simt_in_block(void* shared, unsigned rank) {
  return in_block(*this_worker, shared, rank, to_pc(__builtin_return_address(0)));
}

// An address in the shared window, of which the block's dynamic shared memory is all there is here.
unsigned simt_shared_address(const void* shared) {
  const Worker& w = *this_worker;
  return static_cast<unsigned>(
      reinterpret_cast<std::uintptr_t>(shared) -
      reinterpret_cast<std::uintptr_t>(w.dynamic_shared(w.rank_of(w.current))));
}

void simt_mbarrier_init(std::uint64_t* barrier, unsigned arrivals) {
  Worker& w = *this_worker;
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  const std::uintptr_t address = address_of(w, barrier, pc);
  if (arrivals == 0 || arrivals > Mbarrier::kMost) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      return fmt::format("an mbarrier of {} arrivals; from 1 to {} are possible", arrivals,
                         Mbarrier::kMost);
    });
  }
  if (const Mbarrier* old = w.mbarriers.find(address);
      old && !(old->waiting.empty() && old->due.empty())) {
    w.fail(FaultKind::mbarrier_misuse, pc,
           [&] { return fmt::format("initialises {} while it is in use", describe(w, *old)); });
  }
  Mbarrier& b = w.mbarriers.make(address);
  b.arrivals = b.missing = arrivals;
}

void simt_mbarrier_arrive(std::uint64_t* barrier, unsigned expected_bytes) {
  Worker& w = *this_worker;
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  arrive(w, barrier_at(w, address_of(w, barrier, pc), pc), expected_bytes, pc);
}

// All that the thread has under way, whatever its groups, now belongs to the barrier.
void simt_cp_async_arrive(std::uint64_t* barrier) {
  Worker& w = *this_worker;
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  Mbarrier& b = barrier_at(w, address_of(w, barrier, pc), pc);
  auto& groups = w.async_queue().groups;
  std::vector<AsyncCopy> copies;
  for (const auto& group : groups) copies.insert(copies.end(), group.begin(), group.end());
  groups.assign(1, {});
  b.due.push_back({std::move(copies), nullptr, 0, pc, w.current});
}

void simt_mbarrier_arrive_at(std::uint64_t* barrier, unsigned rank) {
  Worker& w = *this_worker;
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  const auto there = reinterpret_cast<std::uintptr_t>(in_block(w, barrier, rank, pc));
  if (w.block(rank).done == w.block_threads()) {
    w.fail(FaultKind::mbarrier_misuse, pc, [&] {
      return fmt::format("arrives at an mbarrier of block {} of the cluster, which has ended",
                         rank);
    });
  }
  arrive(w, barrier_at(w, there, pc), 0, pc);
}

void simt_mbarrier_wait(std::uint64_t* barrier, unsigned parity) {
  Worker& w = *this_worker;
  const std::uintptr_t pc = to_pc(__builtin_return_address(0));
  Mbarrier& b = barrier_at(w, address_of(w, barrier, pc), pc);
  if (parity > 1) {
    w.fail(FaultKind::mbarrier_misuse, pc,
           [&] { return fmt::format("waits for parity {}; a phase has 0 or 1", parity); });
  }
  if (b.phase != parity) return;
  b.waiting.push_back(w.current);
  w.wait_as(LaneState::at_mbarrier, pc);
}
}
