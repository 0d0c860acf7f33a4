#pragma once
// Counts of one launch, held line by line against numbers derived by hand.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {

// What a line's accesses should cost. cost and ideal are sectors for global memory, wavefronts for
// shared memory; worst is the dearest request.
struct Cost {
  std::uint64_t requests, lanes, cost, ideal;
  unsigned worst;
};

struct Access {
  executor::MemorySpace space;
  executor::AccessKind kind;
  int bytes;
};
constexpr Access global_load(int bytes) {
  return {executor::MemorySpace::global, executor::AccessKind::load, bytes};
}
constexpr Access global_store(int bytes) {
  return {executor::MemorySpace::global, executor::AccessKind::store, bytes};
}
constexpr Access global_atomic(int bytes) {
  return {executor::MemorySpace::global, executor::AccessKind::atomic, bytes};
}
constexpr Access shared_load(int bytes) {
  return {executor::MemorySpace::shared, executor::AccessKind::load, bytes};
}
constexpr Access shared_store(int bytes) {
  return {executor::MemorySpace::shared, executor::AccessKind::store, bytes};
}
constexpr Access shared_atomic(int bytes) {
  return {executor::MemorySpace::shared, executor::AccessKind::atomic, bytes};
}

class Counted {
 public:
  // `file` is the kernel's, as path_of() takes it.
  template <class... Values>
  Counted(std::string file, const std::string& kernel, const Shape& shape, const Values&... values)
      : Counted(std::move(file), count(kernel, shape, values...)) {}
  Counted(std::string file, executor::KernelCounts counts)
      : file_(std::move(file)), counts_(std::move(counts)) {}

  const executor::KernelCounts& counts() const { return counts_; }

  void expect(const std::string& mark, Access access, Cost cost) {
    const bool global = access.space == executor::MemorySpace::global;
    executor::AccessCounts want;
    want.file = path_of(file_);
    want.line = line_of(file_, "COUNT: " + mark);
    want.space = access.space;
    want.kind = access.kind;
    want.bytes = access.bytes;
    want.requests = cost.requests;
    want.lanes = cost.lanes;
    (global ? want.sectors : want.wavefronts) = cost.cost;
    (global ? want.ideal_sectors : want.ideal_wavefronts) = cost.ideal;
    want.worst = cost.worst;
    ++accesses_;
    const auto same_place = [&](const executor::AccessCounts& c) {
      return c.line == want.line && c.space == want.space && c.kind == want.kind &&
             c.bytes == want.bytes;
    };
    const auto& all = counts_.accesses;
    const auto found = std::find_if(all.begin(), all.end(), same_place);
    if (found == all.end()) {
      ADD_FAILURE() << "no such access: " << ::testing::PrintToString(want);
    } else {
      EXPECT_EQ(*found, want) << mark;
    }
  }
  void expect_fmas(const std::string& mark, std::uint64_t n) {
    EXPECT_EQ(event(mark).fmas, n) << mark;
  }
  void expect_barriers(const std::string& mark, std::uint64_t n) {
    EXPECT_EQ(event(mark).barriers, n) << mark;
  }
  void expect_shuffles(const std::string& mark, std::uint64_t n) {
    EXPECT_EQ(event(mark).shuffles, n) << mark;
  }
  void expect_bulk_bytes(const std::string& mark, std::uint64_t n) {
    EXPECT_EQ(event(mark).bulk_bytes, n) << mark;
  }
  void expect_tensor_fmas(const std::string& mark, std::uint64_t n) {
    EXPECT_EQ(event(mark).tensor_fmas, n) << mark;
  }
  // The launch did nothing but what was expected so far.
  void expect_no_more() const {
    EXPECT_EQ(counts_.accesses.size(), accesses_) << ::testing::PrintToString(counts_.accesses);
    EXPECT_EQ(counts_.events.size(), events_.size()) << ::testing::PrintToString(counts_.events);
  }

 private:
  executor::EventCounts event(const std::string& mark) {
    const int line = line_of(file_, "COUNT: " + mark);
    events_.insert(line);
    for (const executor::EventCounts& e : counts_.events) {
      if (e.line == line) return e;
    }
    return {};
  }

  std::string file_;
  executor::KernelCounts counts_;
  std::size_t accesses_ = 0;
  std::set<int> events_;
};

}  // namespace warpladder::kernel_tests
