// Buffers with their guard bands, and the arena of the CPU side.

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "device/testing.hpp"
#include "executor/arena.hpp"

namespace warpladder::device_tests {
namespace {

using device::Memory;
using executor::Arena;

class Buffers : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const device::Availability there = device::availability(GetParam());
    if (!there.available) GTEST_SKIP() << there.why_not;
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, Buffers, ::testing::Values(Target::cpu, Target::gpu),
                         [](const auto& target) {
                           return std::string(device::name(target.param));
                         });

TEST_P(Buffers, KeepWhatIsUploaded) {
  for (const std::size_t misalign : {0, 1, 3, 64}) {
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 0.5);
    Buffer<double> b(GetParam(), values, misalign);
    EXPECT_EQ(b.download(), values);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 256, misalign * sizeof(double) % 256);
    EXPECT_TRUE(b.guards_intact());
    b.fill_bytes(0);
    EXPECT_EQ(b.download(), std::vector<double>(1000));
    EXPECT_TRUE(b.guards_intact());
  }
}

TEST_P(Buffers, MayBeEmpty) {
  Buffer<int> none(GetParam(), 0);
  EXPECT_EQ(none.download(), std::vector<int>());
  none.fill_bytes(1);
  EXPECT_TRUE(none.guards_intact());
  EXPECT_TRUE(Buffer<int>().guards_intact());
}

TEST_P(Buffers, Move) {
  Buffer<int> a(GetParam(), std::vector<int>{1, 2, 3});
  Buffer<int> b = std::move(a);
  EXPECT_EQ(b.download(), (std::vector<int>{1, 2, 3}));
  b = Buffer<int>(GetParam(), std::vector<int>{4, 5});
  EXPECT_EQ(b.download(), (std::vector<int>{4, 5}));
}

TEST_P(Buffers, RefuseWhatDoesNotFit) {
  Memory m(GetParam(), 16);
  char bytes[32] = {};
  EXPECT_THROW(m.upload(bytes, 17), std::logic_error);
  EXPECT_THROW(m.download(bytes, 17), std::logic_error);
  EXPECT_NO_THROW(m.upload(bytes, 16));
}

TEST_P(Buffers, RefuseAbsurdSizes) {
  for (const std::size_t bytes :
       {std::size_t{1} << 50, std::numeric_limits<std::size_t>::max() / 2}) {
    try {
      Memory m(GetParam(), bytes);
      ADD_FAILURE() << bytes << " bytes were given";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resource) << error.what();
    }
  }
}

// The plain flavour checks no access; what it writes over the bands is seen afterwards.
TEST(GuardBands, CatchPlainWritesOnEitherSide) {
  device::Stream stream(Target::cpu);
  for (const std::size_t misalign : {0, 1}) {
    for (const int element : {-1, -60, 64, 64 + 60}) {
      Buffer<float> b(Target::cpu, 64, misalign), neighbour(Target::cpu, 64);
      run(stream, Flavour::plain, "write_at", {{1}, {64}}, b, 0);
      EXPECT_TRUE(b.guards_intact());
      run(stream, Flavour::plain, "write_at", {{1}, {1}}, b, element);
      EXPECT_FALSE(b.guards_intact()) << element;
      EXPECT_TRUE(neighbour.guards_intact());
    }
  }
}

// ---- the arena: one for the program, so only what these tests allocate is spoken of

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

}  // namespace
}  // namespace warpladder::device_tests
