#pragma once
// One OS thread of the executor with the block, or the cluster of blocks, that it is running.
// Internal to device/cpu.
//
// The blocks of a cluster take turns on one OS thread. Their threads are numbered through, each
// block's from a multiple of 32; such a number is called a fiber here. Of a launch without clusters
// the fiber is the thread's number in its block. The blocks of a cooperative launch take turns
// likewise, from one barrier of the grid to the next. Their shared memory is exchanged when they
// do.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/arena.hpp"
#include "executor/executor.hpp"
#include "executor/fiber.hpp"
#include "executor/mbarriers.hpp"
#include "executor/memory_map.hpp"
#include "executor/place.hpp"
#include "executor/request_log.hpp"
#include "executor/shared_shadow.hpp"
#include "executor/site_table.hpp"
#include "executor/warpgroups.hpp"

namespace warpladder::executor {

constexpr unsigned kWarp = 32;
constexpr unsigned kMaxBlockThreads = 1024;
constexpr unsigned kMaxCluster = 16;  // 8 where it must be portable, 16 on Hopper
constexpr std::size_t kMaxDynamicShared = 227 * 1024;
constexpr std::size_t kSharedArea =
    228 * 1024;  // from one block's dynamic shared memory to the next
constexpr std::size_t kStackBytes = 64 * 1024;
// Above the stacks of all fibers: what lies so little above a stack pointer is a stack's, too.
constexpr std::size_t kRoomAboveStacks = 4096;

enum class LaneState : std::uint8_t {
  ready,
  paused,
  yielding,
  in_step,
  at_block_barrier,
  at_exchange,
  at_mbarrier,
  at_warpgroup,
  at_cluster_barrier,
  at_named_barrier,
  done
};
constexpr std::size_t kLaneStates = static_cast<std::size_t>(LaneState::done) + 1;
enum class Exchange : std::uint8_t {
  sync,
  shuffle,
  vote,
  reduce,
  active_mask,
  multiply_f64,
  multiply,
  load_matrices
};
// What the instruction's aligned form asks of all lanes: they are at one place.
constexpr bool is_aligned(Exchange op) { return op >= Exchange::multiply_f64; }

// What a lane brings to a warp-wide exchange, and takes from it.
struct ExchangeSlot {
  Exchange op;
  int form, argument, width;
  unsigned mask;
  std::uintptr_t pc;
  std::uint64_t value;
};

// A lane's part in a warp's product in float64: what its exchange's value points to.
struct WarpProduct {
  double* sums;  // four
  double a[2], b;
};
// A lane's part in loading matrices, eight rows of 16 bytes each (ldmatrix).
struct MatrixRow {
  std::uint32_t* to;         // one for each matrix
  const unsigned char* row;  // of matrix lane / 8; null where there is no such matrix
  int count;
  bool transposed;
};

struct AsyncQueue {
  std::vector<std::vector<AsyncCopy>> groups{1};  // the last one is still open
};

// One of a block's named barriers, and who has come to it.
struct NamedBarrier {
  unsigned threads = 0, arrived = 0;
  std::uintptr_t pc = 0;
};
constexpr unsigned kNamedBarriers = 16;

// A block that is running, and who waits at its barriers.
struct Block {
  unsigned first = 0;  // its first fiber
  unsigned done = 0;   // threads that have exited
  unsigned arrived = 0, predicates = 0, last_predicates = 0;
  std::uintptr_t barrier_pc = 0, other_barrier_pc = 0;
  unsigned other_barrier_fiber = 0;
  std::array<NamedBarrier, kNamedBarriers> named;
};

// What the workers of one launch share.
struct LaunchState {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const KernelLaunch* launch = nullptr;
  Options options;
  double block_limit_s = 0;
  const std::vector<CompiledAccess>* compiled = nullptr;  // of the kernel, if it is known
  bool counted = false;
  std::uint64_t blocks = 0;
  std::atomic<std::uint64_t> next_block{0};  // the first of the next cluster
  std::atomic<std::uint64_t> faulty_block{kNone};
  // The block each worker is at, or a lower bound of it while it fetches the next.
  std::unique_ptr<std::atomic<std::uint64_t>[]> at_block;
  unsigned workers = 0;
};

struct Fault {
  FaultKind kind;
  std::uintptr_t pc;
  unsigned thread;
  std::uint64_t block;
  std::string sentence;
};

extern "C" {
extern constinit thread_local SimtPlace simt_place __attribute__((tls_model("local-exec")));
}

class Worker {
 public:
  // ---- read by the hooks and the language, on the hot path
  unsigned current = 0;  // the running fiber
  unsigned warp_end = 0;
  bool counted = false;  // accesses are checked
  bool logs = false;     // … and counted
  LogCursor cursor;
  std::uintptr_t shared_begin = 0;
  std::size_t shared_bytes = 0;
  ArenaView arena;
  const MappedRange* mapped = nullptr;  // which was accessed last
  bool check_shared = false;
  // What the hooks settle at a glance: arena.size, or 0 while it is known what has been written;
  // shared_bytes, or 0 while check_shared. Both are 0 in kernels of the plain flavour.
  std::size_t unwatched_arena_bytes = 0, unchecked_shared_bytes = 0;
  const KernelLaunch* launch = nullptr;
  std::vector<LaneState> state;
  SharedShadow shadow;
  Arena::Allocation allocation;  // which the copy engine read last
  Mbarriers mbarriers;
  Warpgroups warpgroups;

  ~Worker();
  void run(LaunchState& launch_state, unsigned slot);

  // Suspends the running fiber: the next lane of the warp goes on, or the scheduler.
  void suspend();
  // Suspends the running fiber until wake(); `pc` is where, should that never come.
  void wait_as(LaneState waiting, std::uintptr_t pc) {
    slot_of_[current].pc = pc;
    state[current] = waiting;
    uneven_ = true;
    suspend();
  }
  // Lets all others run before the running fiber goes on.
  void yield();
  // In front of a volatile access. Before a lane goes from loads to stores, or back, the other
  // lanes of its warp come as far. They do so on a GPU that runs them in lockstep.
  void keep_step(bool is_store) {
    const LastVolatile now = is_store ? LastVolatile::store : LastVolatile::load;
    LastVolatile& last = last_volatile_[current];
    const LastVolatile before = std::exchange(last, now);
    keeps_step_ = true;
    if (before != LastVolatile::none && before != now) wait_in_step();
  }
  // After a compare-and-swap that did not find what it expected. Finding the same value twice, it
  // may wait for a lock that another thread holds, which must run to give the lock back.
  void on_failed_swap(const void* address, std::uint64_t found) {
    const FailedSwap now{address, found, current};
    if (now == last_failed_swap_) return yield();
    last_failed_swap_ = now;
  }
  void wake(unsigned fiber) {
    state[fiber] = LaneState::ready;
    woken_ = true;
  }
  // Records the fault of the running thread and never returns to it. `sentence` is called for the
  // text, so that no string is left on the stack that is abandoned.
  template <class Sentence>
  [[noreturn]] void fail(FaultKind kind, std::uintptr_t pc, const Sentence& sentence) {
    blame(kind, pc, current, sentence());
    abandon();
  }
  // The two halves of fail(): records the fault of a fiber, and returns false; leaves the running
  // fiber for good.
  bool blame(FaultKind kind, std::uintptr_t pc, unsigned fiber, std::string sentence);
  [[noreturn]] void abandon();

  // The blocks of the cluster, or the one block, and which of them a fiber belongs to.
  unsigned cluster() const { return swaps_ ? 1 : cluster_; }
  unsigned rank_of(unsigned fiber) const { return cluster_ == 1 ? 0 : fiber / stride_; }
  unsigned thread_rank() const { return current - rank_of(current) * stride_; }
  // What the shadow of shared memory calls a fiber. Blocks that take turns share the names.
  unsigned shadow_name(unsigned fiber) const { return fiber - swapped_in_ * stride_; }
  const Block& block(unsigned rank) const { return blocks_[rank]; }
  unsigned block_threads() const { return threads_; }
  // The blocks of a cluster lie along x.
  runtime::Dim3 block_index(unsigned rank) const {
    if (swaps_) return index_in_grid(rank);
    return {block_index_.x + rank, block_index_.y, block_index_.z};
  }
  unsigned char* dynamic_shared(unsigned rank) const {
    return areas_ + (swaps_ ? 0 : rank) * kSharedArea;
  }
  // A range of shared memory as an offset into the dynamic shared memory of block `rank`, or
  // kNowhere.
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t dynamic_offset(std::uintptr_t address, std::size_t bytes, unsigned rank) const {
    const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(dynamic_shared(rank));
    const std::size_t all = launch->config.dynamic_shared_bytes;
    return offset <= all && bytes <= all - offset ? offset : kNowhere;
  }
  // Of a __shared__ variable. Without a cluster the dynamic shared memory is thread-local, too.
  bool in_static_shared(std::uintptr_t address) const {
    return address - tls_begin_ < tls_bytes_ &&
           address - reinterpret_cast<std::uintptr_t>(areas_) >= kSharedArea;
  }

  // ---- questions about shared memory that are answered later (shared_shadow.hpp)
  void note_doubts(std::uintptr_t pc) {
    if (shadow.in_doubt()) doubt_pc_ = pc;
  }
  // False if a doubt was a race, which is then blamed on the fiber that stored.
  bool settle_doubts(unsigned fiber);
  // The running fiber has read what nobody has written so far. Only a block's first is looked into.
  void suspect_early_read(std::uintptr_t pc, const std::string& sentence);
  bool blame_early_read(const SharedShadow::Problem& problem);
  // At a barrier, and at the end of the block: false if the suspected read is a fault.
  bool pass_barrier();
  bool settle_early_read();
  // For a fault report: where the address lies relative to the nearest variable.
  std::string describe_shared(std::uintptr_t address) const;

  void wait_at_cluster_barrier(std::uintptr_t pc);
  // __syncthreads(), on the hot path: in one function with its caller, so that registers are saved
  // once.
  __attribute__((always_inline)) void wait_at_barrier(std::uintptr_t pc) {
    Block& block = *running_;
    if (block.arrived++ == 0) {
      block.barrier_pc = pc;
    } else if (__builtin_expect(pc != block.barrier_pc, 0)) {
      block.other_barrier_pc = pc;
      block.other_barrier_fiber = current;
    }
    state[current] = LaneState::at_block_barrier;
    suspend_here();
  }
  int wait_at_barrier(int form, int predicate, std::uintptr_t pc);
  void wait_at_named_barrier(unsigned id, unsigned threads, std::uintptr_t pc);
  std::uint64_t exchange(const ExchangeSlot& slot);
  void wait_for_turn();
  AsyncQueue& async_queue();
  bool on_fiber_stack(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(stacks_) < stack_bytes();
  }
  void pause_lane();

  // Processor time that the running block has taken, where blocks have a limit.
  double block_seconds() const;
  // The running lane's fault, for a signal handler that meets it at `pc`.
  KernelFault endless_loop_at(std::uintptr_t pc) const;

  RequestLog log;
  std::unique_ptr<Fault> fault;

 private:
  void prepare_launch(LaunchState& launch_state);
  void prepare_shared();
  void prepare_shadow();
  void prepare_place();
  void enter_block(Block& block);
  void prepare_fibers();
  std::size_t stack_bytes() const { return stack_count_ * kStackBytes + kRoomAboveStacks; }
  void release_stacks();
  void leave_lane(unsigned me);
  void settle_ended_lanes();
  bool holds_canary(std::size_t stack) const;
  void blame_overflow(unsigned fiber);
  void check_stacks();
  void enter_lane(unsigned fiber) {
    current = fiber;
    simt_place.thread = thread_index_[fiber];
    if (logs) log.load(fiber % kWarp, cursor);
  }
  __attribute__((always_inline)) void suspend_here() {
    const unsigned me = current, next = me + 1;
    if (first_on_stack_ != me) settle_ended_lanes();
    if (counted) {
      if (check_shared && shadow.in_doubt()) settle_doubts(me);
      if (logs) log.store(me % kWarp, cursor);
      if (aborting_) return switch_to(context_[me], scheduler_);
    }
    if (next < warp_end && state[next] == LaneState::ready) {
      first_on_stack_ = next;
      enter_lane(next);
      switch_to(context_[me], context_[next]);
    } else {
      switch_to(context_[me], scheduler_);
    }
  }
  void resume(unsigned fiber) {
    first_on_stack_ = fiber;
    enter_lane(fiber);
    switch_to(scheduler_, context_[fiber]);
  }
  // scheduler.cpp
  bool run_blocks();
  bool run_grid();  // grid.cpp
  bool run_until_stuck(Block& block);
  void swap_in(unsigned rank);
  bool finish_blocks();
  void resume_yielding(unsigned first, unsigned end);
  runtime::Dim3 index_in_grid(std::uint64_t block) const;
  void begin_blocks();
  bool run_warp(unsigned first, unsigned end);
  void wait_in_step();
  void resume_in_step(unsigned first, unsigned end);
  void forget_steps(unsigned first, unsigned end);
  bool any_ready(unsigned first, unsigned end) const {
    return std::memchr(&state[first], static_cast<int>(LaneState::ready), end - first);
  }
  void make_ready(const Block& block);
  // Whether all have come to the barrier that it waits for.
  bool is_complete(const Block& block) const;
  bool release_barriers(bool& released);
  bool release(Block& block);
  bool blame_standstill();
  bool blame_exchange(unsigned waiter, const std::string& where_others_are);
  bool is_out_of_time();
  std::string endless_sentence() const;
  bool blame_endless_loop(unsigned first);
  // exchange.cpp
  bool resolve_exchanges(unsigned first, unsigned end);
  bool perform(unsigned first, unsigned members);
  bool perform_aligned(unsigned first, Exchange op);  // warp_products.cpp
  static void fiber_entry(void*, Context* from);

  LaunchState* shared_state_ = nullptr;
  unsigned slot_ = 0;
  std::uint64_t block_ = 0;
  bool aborting_ = false, my_turn_ = false;
  // Threads of a block, fibers from one block to the next, and fibers in all.
  unsigned threads_ = 0, stride_ = 0, fibers_ = 0;
  unsigned cluster_ = 1;
  bool swaps_ = false;  // the blocks are a whole grid, which takes turns in one shared memory
  unsigned swapped_in_ = 0;
  std::vector<std::vector<unsigned char>> images_;  // the other blocks' shared memory
  runtime::Dim3 block_index_;                       // of the cluster's first block
  std::vector<Block> blocks_;
  Block* running_ = nullptr;                    // the one whose warp is at it
  std::vector<SimtPlace::Index> thread_index_;  // of each fiber
  unsigned at_cluster_barrier_ = 0;
  std::uintptr_t cluster_barrier_pc_ = 0;
  // The lanes behind the running one that have not begun end here. They begin on its stack.
  unsigned begin_end_ = 0;
  unsigned first_on_stack_ = 0;  // the lanes from here to the running one have run on its stack
  bool woken_ = false;     // a lane has become ready since the scheduler last went round the warps
  unsigned yielding_ = 0;  // lanes
  struct FailedSwap {
    const void* address = nullptr;
    std::uint64_t found = 0;
    unsigned fiber = 0;
    bool operator==(const FailedSwap&) const = default;
  };
  FailedSwap last_failed_swap_;
  // Since the lane last met the others.
  enum class LastVolatile : std::uint8_t { none, load, store };
  std::vector<LastVolatile> last_volatile_;
  bool keeps_step_ = false;  // the block has volatile accesses
  unsigned in_step_ = 0;     // lanes of the running warp
  bool uneven_ = false;      // when it goes round again, not all lanes need be ready

  std::int64_t block_begin_ns_ = 0;  // in processor time, which other programs do not use up
  unsigned rounds_ = 0;
  // The last lane that filled its log, and where.
  std::uintptr_t busy_pc_ = 0;
  unsigned busy_fiber_ = 0;

  unsigned char* areas_ = nullptr;          // the blocks' dynamic shared memory
  unsigned char* cluster_areas_ = nullptr;  // kMaxCluster of them, once a cluster was launched
  std::uintptr_t tls_begin_ = 0;
  std::size_t tls_bytes_ = 0;
  // What the shadow was prepared for.
  std::uintptr_t shadow_begin_ = 0;
  std::size_t shadow_dynamic_bytes_ = 0;
  unsigned shadow_cluster_ = 0;
  std::uintptr_t doubt_pc_ = 0;
  struct EarlyRead {
    std::uintptr_t pc;
    unsigned fiber;
    std::string sentence;
  };
  std::optional<EarlyRead> early_read_;

  Context scheduler_;
  std::vector<Context> context_;
  char* stacks_ = nullptr;
  std::size_t stack_count_ = 0;
  unsigned prepared_ = 0;  // fibers ready to run a kernel from its start

  std::vector<ExchangeSlot> slot_of_;
  unsigned at_exchange_ = 0, paused_ = 0;
  std::vector<AsyncQueue> async_;
};

// The worker of the running OS thread while it runs a kernel, else null.
extern constinit thread_local Worker* this_worker __attribute__((tls_model("local-exec")));

}  // namespace warpladder::executor
