// Buffers with their guard bands.

#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

using device::Memory;

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

}  // namespace
}  // namespace warpladder::kernel_tests
