// The arena that is device memory on the CPU. There is one for the program, so the tests speak only
// of what they allocate.

#include "executor/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"

namespace warpladder::kernel_tests {
namespace {

using executor::Arena;

TEST(Arena, AlignsAndSeparates) {
  Arena& arena = Arena::instance();
  std::vector<char*> pieces;
  for (const std::size_t bytes : {0, 1, 255, 256, 257, 5000, 100000}) {
    char* p = static_cast<char*>(arena.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 256, 0u);
    const auto legal = [&](std::ptrdiff_t at) {
      return arena.view().legal(reinterpret_cast<std::uintptr_t>(p + at), 1);
    };
    const auto size = static_cast<std::ptrdiff_t>(bytes);
    EXPECT_FALSE(legal(-1)) << bytes;
    EXPECT_EQ(legal(0), bytes > 0) << bytes;
    EXPECT_EQ(legal(size - 1), bytes > 0) << bytes;
    EXPECT_FALSE(legal(size)) << bytes;
    EXPECT_FALSE(legal(size + 500)) << bytes;
    EXPECT_EQ(std::count(pieces.begin(), pieces.end(), p), 0);
    std::fill_n(p, bytes, '\x11');
    pieces.push_back(p);
  }
  for (char* p : pieces) arena.release(p);
  EXPECT_FALSE(arena.view().legal(reinterpret_cast<std::uintptr_t>(pieces.back()), 1));
}

TEST(Arena, ReusesAndCoalesces) {
  Arena& arena = Arena::instance();
  constexpr std::size_t kBytes = 10000;
  for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}}) {
    // The first gap wide enough for all three, then the three in a row.
    void* probe = arena.allocate(4 * kBytes);
    arena.release(probe);
    std::array<void*, 3> pieces;
    for (void*& p : pieces) p = arena.allocate(kBytes);
    void* after = arena.allocate(kBytes);
    for (const int i : order) arena.release(pieces[static_cast<std::size_t>(i)]);
    void* whole = arena.allocate(3 * kBytes);
    EXPECT_EQ(whole, pieces[0]);
    arena.release(whole);
    void* again = arena.allocate(kBytes);
    EXPECT_EQ(again, pieces[0]);
    arena.release(again);
    arena.release(after);
  }
}

TEST(Arena, PartsLieFarApart) {
  Arena& arena = Arena::instance();
  const auto allocated_in = [&](unsigned part, unsigned of, std::size_t bytes) {
    const executor::ArenaPart own(part, of);
    return static_cast<char*>(arena.allocate(bytes));
  };
  char* const none = static_cast<char*>(arena.allocate(100));
  char* const first = allocated_in(0, 3, 100);
  char* const last = allocated_in(2, 3, 100);
  char* const behind = allocated_in(2, 3, 100);
  EXPECT_LT(none, first);
  EXPECT_GT(last - first, std::ptrdiff_t{1} << 28);
  EXPECT_EQ(behind - last, first - none);
  arena.release(last);
  EXPECT_EQ(allocated_in(2, 3, 50), last);
  constexpr unsigned kParts = 1 << 16;  // of 16 MiB; where one has no room, another has
  char* const large = allocated_in(kParts - 1, kParts, std::size_t{64} << 20);
  EXPECT_LT(large, last);
  for (char* p : {none, first, last, behind, large}) arena.release(p);
  EXPECT_EQ(allocated_in(0, 1, 100), none);
  arena.release(none);
}

TEST(Arena, RefusesWhatIsAbsurd) {
  Arena& arena = Arena::instance();
  for (const std::size_t bytes : {std::size_t{1} << 46, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_THROW(arena.allocate(bytes), Error);
  }
  char* p = static_cast<char*>(arena.allocate(100));
  EXPECT_THROW(arena.release(p + 16), std::logic_error);
  arena.release(p);
  EXPECT_THROW(arena.release(p), std::logic_error);
  EXPECT_NO_THROW(arena.release(nullptr));
}

TEST(Arena, TellsWhereAnAddressIs) {
  Arena& arena = Arena::instance();
  char* p = static_cast<char*>(arena.allocate(1000));
  const auto says = [&](std::ptrdiff_t at) {
    return arena.describe(reinterpret_cast<std::uintptr_t>(p + at));
  };
  EXPECT_EQ(says(992), "across the end of an allocation of 1000 bytes");
  EXPECT_EQ(says(1004), "4 bytes past the end of an allocation of 1000 bytes");
  EXPECT_EQ(says(-8), "8 bytes before the start of an allocation of 1000 bytes");
  arena.release(p);
}

TEST(Arena, TellsANameWhereItIsSure) {
  Arena& arena = Arena::instance();
  const auto says = [&](const char* p, std::ptrdiff_t at) {
    return arena.describe(reinterpret_cast<std::uintptr_t>(p + at));
  };
  char* const a = static_cast<char*>(arena.allocate(1000, "A, 996 bytes"));
  char* const b = static_cast<char*>(arena.allocate(500, "B, 500 bytes"));
  EXPECT_EQ(says(a, 998), "across the end of A, 996 bytes");
  EXPECT_EQ(says(a, 1000), "0 bytes past the end of A, 996 bytes");
  EXPECT_EQ(says(a, 1 << 18), "261144 bytes past the end of A, 996 bytes");
  EXPECT_EQ(says(b, -(1 << 18)), "262144 bytes before the start of B, 500 bytes");
  EXPECT_EQ(says(b, 1 << 20), "1048076 bytes past the end of an allocation of 500 bytes");
  arena.release(a);
  arena.release(b);
  // What lay behind a name is free again, and has none.
  char* const again = static_cast<char*>(arena.allocate(1000));
  EXPECT_EQ(again, a);
  EXPECT_EQ(says(again, 1000), "0 bytes past the end of an allocation of 1000 bytes");
  char* const next = static_cast<char*>(arena.allocate(1000));
  EXPECT_LT(next - again, 4096);
  arena.release(again);
  arena.release(next);
}

}  // namespace
}  // namespace warpladder::kernel_tests
