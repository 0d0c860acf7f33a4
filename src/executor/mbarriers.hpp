#pragma once
// The mbarriers of the blocks that an OS thread runs, and what will count for them. The memory of a
// barrier is left alone: what is known of it stands here, by its address. So a barrier that was
// never initialised is told from one that was. Internal to device/cpu.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "runtime/tensor_map.hpp"

namespace warpladder::executor {

class Worker;

// A box that the copy engine brings.
struct Box {
  runtime::TiledMatrix matrix;
  int row = 0, column = 0;
};
// What a thread has stored from another block (st.async).
using StoredBytes = std::array<unsigned char, 16>;

// What a thread copies by itself (cp.async).
struct AsyncCopy {
  void* shared;
  const void* global;
  unsigned bytes, source_bytes;
  std::uintptr_t pc;
};

// What has been asked for, will count at a barrier, and has not landed yet.
struct Delivery {
  // A thread's copies count as an arrival when all of them have landed; the others count bytes.
  std::variant<Box, StoredBytes, std::vector<AsyncCopy>> what;
  unsigned char* to = nullptr;
  unsigned bytes = 0;
  std::uintptr_t pc = 0;
  unsigned fiber = 0;  // who asked
};

struct Mbarrier {
  static constexpr unsigned kMost = (1u << 20) - 1;  // arrivals of a phase, or bytes

  std::uintptr_t address = 0;
  unsigned arrivals = 0;          // that a phase takes
  unsigned missing = 0;           // of those, in this phase
  std::int64_t bytes = 0;         // announced, less what has landed: they may land first
  unsigned phase = 0;             // its parity
  std::deque<Delivery> due;       // in the order in which they were asked for
  std::vector<unsigned> waiting;  // fibers, all for the end of this phase
};

class Mbarriers {
 public:
  // Before each block or cluster. `begin` is where shared memory begins.
  void clear(std::uintptr_t begin) {
    for (std::size_t i = 0; i < used_; ++i) index_[slot(barriers_[i].address)] = 0;
    used_ = 0;
    begin_ = begin;
  }
  // Null where no barrier was made.
  Mbarrier* find(std::uintptr_t address) {
    const std::size_t s = slot(address);
    return s < index_.size() && index_[s] ? &barriers_[index_[s] - 1u] : nullptr;
  }
  Mbarrier& make(std::uintptr_t address);

  std::size_t size() const { return used_; }
  Mbarrier& operator[](std::size_t i) { return barriers_[i]; }

 private:
  // Barriers are 8 bytes apart at least.
  std::size_t slot(std::uintptr_t address) const { return (address - begin_) / 8; }

  std::uintptr_t begin_ = 0;
  std::vector<std::uint16_t> index_;  // by slot: 1 + the place in barriers_; 0: none
  std::deque<Mbarrier> barriers_;     // the first used_ are in use
  std::size_t used_ = 0;
};

// Lets land all that someone waits for; the scheduler calls this when nobody can go on without it.
// Sets `landed` if there was any. False: that broke a rule, which has been recorded.
bool land_awaited(Worker& worker, bool& landed);
// Lets a copy of the fiber land. False: it broke a rule, which has been recorded.
bool land_copy(Worker& worker, const AsyncCopy& copy, unsigned fiber);
// Ends the barrier's phase if nothing is missing. False: something is on its way to it that the
// phase did not expect. This has been recorded as the fault of the running fiber at `pc`.
bool settle(Worker& worker, Mbarrier& barrier, unsigned fiber, std::uintptr_t pc);
// "the mbarrier at byte 16 of dynamic shared memory", with the block's rank where there are
// several.
std::string describe(const Worker& worker, const Mbarrier& barrier);

}  // namespace warpladder::executor
