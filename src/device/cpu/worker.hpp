#pragma once
// One OS thread of the executor with the block it is running. Internal to device/cpu.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "device/cpu/arena.hpp"
#include "device/cpu/executor.hpp"
#include "device/cpu/fiber.hpp"
#include "device/cpu/request_log.hpp"
#include "device/cpu/shared_shadow.hpp"
#include "device/cpu/site_table.hpp"

namespace warpladder::device::cpu {

constexpr unsigned kWarp = 32;
constexpr unsigned kMaxBlockThreads = 1024;
constexpr std::size_t kMaxDynamicShared = 227 * 1024;
constexpr std::size_t kStackBytes = 64 * 1024;

enum class LaneState : std::uint8_t { ready, paused, at_block_barrier, at_exchange, done };
enum class Exchange : std::uint8_t { sync, shuffle, vote, reduce, active_mask };

// What a lane brings to a warp-wide exchange, and takes from it.
struct ExchangeSlot {
  Exchange op;
  int form, argument, width;
  unsigned mask;
  std::uintptr_t pc;
  std::uint64_t value;
};

struct AsyncCopy {
  void* shared;
  const void* global;
  unsigned bytes, source_bytes;
  std::uintptr_t pc;
};
struct AsyncQueue {
  std::vector<std::vector<AsyncCopy>> groups{1};  // the last one is still open
};

// What the workers of one launch share.
struct LaunchState {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const KernelLaunch* launch = nullptr;
  Options options;
  bool counted = false;
  std::uint64_t blocks = 0;
  std::atomic<std::uint64_t> next_block{0};
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

class Worker {
 public:
  // ---- read by the hooks and the language, on the hot path
  unsigned current = 0;  // running thread of the block
  unsigned warp_end = 0;
  bool counted = false;
  LogCursor cursor;
  std::uintptr_t shared_begin = 0;
  std::size_t shared_bytes = 0;
  ArenaView arena;
  bool check_shared = false;
  Dim3 block_index;
  const KernelLaunch* launch = nullptr;
  std::vector<Dim3> thread_index;
  std::vector<LaneState> state;
  SharedShadow shadow;

  ~Worker();
  void run(LaunchState& launch_state, unsigned slot);

  // Suspends the running fiber: the next lane of the warp goes on, or the scheduler.
  void suspend();
  // Records the fault of the running thread and never returns to it. `sentence` is called for the
  // text, so that no string is left on the stack that is abandoned.
  template <class Sentence>
  [[noreturn]] void fail(FaultKind kind, std::uintptr_t pc, const Sentence& sentence) {
    blame(kind, pc, current, sentence());
    abandon();
  }

  int wait_at_barrier(int form, int predicate, std::uintptr_t pc);
  std::uint64_t exchange(const ExchangeSlot& slot);
  void wait_for_turn();
  AsyncQueue& async_queue();
  bool on_fiber_stack(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(stacks_) < stack_count_ * kStackBytes;
  }
  void pause_lane();

  RequestLog log;
  std::unique_ptr<Fault> fault;

 private:
  void prepare_launch(LaunchState& launch_state);
  void prepare_fibers();
  bool run_block();
  void check_stacks();
  bool run_warp(unsigned first, unsigned end);
  void resume(unsigned thread);
  void enter_lane(unsigned thread);
  bool resolve_exchanges(unsigned first, unsigned end);
  bool perform(unsigned first, unsigned members);
  bool blame(FaultKind kind, std::uintptr_t pc, unsigned thread, std::string sentence);
  [[noreturn]] void abandon();
  static void fiber_entry(boost::context::detail::transfer_t transfer);

  LaunchState* shared_state_ = nullptr;
  unsigned slot_ = 0;
  std::uint64_t block_ = 0;
  bool aborting_ = false, my_turn_ = false;
  unsigned threads_ = 0, done_ = 0;

  Context scheduler_;
  std::vector<Context> context_;
  char* stacks_ = nullptr;
  std::size_t stack_count_ = 0;
  unsigned prepared_ = 0;  // fibers ready to run a kernel from its start

  unsigned arrived_ = 0, predicates_ = 0, last_predicates_ = 0;
  std::uintptr_t barrier_pc_ = 0, other_barrier_pc_ = 0;
  unsigned other_barrier_thread_ = 0;
  std::vector<ExchangeSlot> slot_of_;
  unsigned at_exchange_ = 0, paused_ = 0;
  std::vector<AsyncQueue> async_;
};

// The worker of the running OS thread while it runs a kernel, else null.
extern constinit thread_local Worker* this_worker __attribute__((tls_model("local-exec")));

}  // namespace warpladder::device::cpu
