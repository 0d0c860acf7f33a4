// Held to integers: what float64 holds exactly, 128 bits add up exactly.

#include "base/double_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/philox.hpp"

namespace warpladder {
namespace {

__extension__ typedef __int128 Wide;

// Up to 2^53 in size, most of them far smaller, of either sign.
std::int64_t draw(std::uint32_t i) {
  const PhiloxBlock random = philox4x32({{i, 0, 0, 0}}, {{7, 0}});
  const auto bits = std::uint64_t{random.word[0]} << 32 | random.word[1];
  const auto size = static_cast<std::int64_t>(bits >> (11 + random.word[2] % 50));
  return random.word[3] & 1 ? -size : size;
}

TEST(TwoSum, LosesNothing) {
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const int shift = static_cast<int>(i % 60);
    const double a = std::ldexp(static_cast<double>(draw(2 * i)), shift);
    const auto b = static_cast<double>(draw(2 * i + 1));
    for (const TwoSum& s : {two_sum(a, b), two_sum(b, a)}) {
      EXPECT_EQ(s.sum, a + b);
      EXPECT_EQ(static_cast<Wide>(s.sum) + static_cast<Wide>(s.error),
                static_cast<Wide>(a) + static_cast<Wide>(b));
    }
  }
}

TEST(DoubleDouble, AddsUpExactlyWhatFitsIn100Bits) {
  DoubleDouble sum;
  Wide exact = 0;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    const double x = std::ldexp(static_cast<double>(draw(i)), static_cast<int>(i * 7 % 30));
    sum.add(x);
    exact += static_cast<Wide>(x);
    ASSERT_TRUE(static_cast<Wide>(sum.high) + static_cast<Wide>(sum.low) == exact) << i;
    ASSERT_EQ(sum.high, sum.high + sum.low) << "low is more than half a unit of high";
  }
}

TEST(DoubleDouble, KeepsWhatCancellationUncovers) {
  const auto total = [](std::initializer_list<double> terms) {
    DoubleDouble sum;
    for (const double x : terms) sum.add(x);
    return sum.high + sum.low;
  };
  EXPECT_EQ(total({0x1p90, 1, -0x1p90}), 1);
  EXPECT_EQ(total({1, 0x1p90, -0x1p90}), 1);
  EXPECT_EQ(total({0x1p60, 0x1p-40, -0x1p60, 1}), 1 + 0x1p-40);
  EXPECT_EQ(total({0x1p53, 1, 1, 1, -0x1p53}), 3);
  EXPECT_EQ(total({1, -1}), 0);
  EXPECT_EQ(total({std::numeric_limits<double>::denorm_min(), 0x1p-1000, -0x1p-1000}),
            std::numeric_limits<double>::denorm_min());
}

}  // namespace
}  // namespace warpladder
