#include "base/philox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "base/random_fill.hpp"
#include "base/testing.hpp"

namespace warpladder {
namespace {

using Words = std::array<std::uint32_t, 4>;

constexpr Words philox(Words counter, std::array<std::uint32_t, 2> key) {
  const PhiloxBlock block =
      philox4x32({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

// The known-answer vectors that Random123 publishes for philox4x32 with 10 rounds.
static_assert(philox({0, 0, 0, 0}, {0, 0}) ==
              Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

TEST(Philox, GivesThePublishedAnswers) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomFill, AnElementDependsOnSeedAndIndexAlone) {
  std::vector<float> all(1001);
  fill_uniform(all, 42, -1, 1);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, all.size()}) {
    std::vector<float> some(size);
    fill_uniform(some, 42, -1, 1);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << size;
  }
  for (std::size_t i = all.size(); i-- > 0;) {
    EXPECT_EQ(all[i], uniform_element(42, i, -1, 1)) << i;
  }
}

TEST(RandomFill, UsesAllBitsOfSeedAndIndex) {
  std::set<float> seen;
  for (const int shift : {0, 20, 40, 60}) {
    seen.insert(uniform_element(std::uint64_t{1} << shift, 0, 0, 1));
    seen.insert(uniform_element(0, std::uint64_t{4} << shift, 0, 1));
  }
  EXPECT_EQ(seen.size(), 8u);
}

// The first element of seed 0 comes from the published word 6627e8d5.
TEST(RandomFill, MapsWordsToTheInterval) {
  EXPECT_EQ(uniform_element(0, 0, 0, 1), static_cast<float>(0x6627e8) / 16777216.0f);
  EXPECT_EQ(uniform_from(0, -3, 5), -3.0f);
  EXPECT_EQ(uniform_from(0xffffffff, 0, 1), 1.0f - 0x1p-24f);
  EXPECT_EQ(uniform_from(0xffffffff, -1, 1), 1.0f - 0x1p-23f);
  EXPECT_EQ(uniform_from(0x80000000, -1, 1), 0.0f);
  EXPECT_EQ(uniform_from(0x12345678, 7, 7), 7.0f);
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isfinite(uniform_from(0xffffffff, -largest, largest)));
}

TEST(RandomFill, IsUniform) {
  constexpr std::size_t kCount = 1 << 16;
  std::vector<float> values(kCount);
  fill_uniform(values, 1, -2, 6);
  std::array<int, 16> histogram{};
  for (const float value : values) {
    ASSERT_GE(value, -2.0f);
    ASSERT_LE(value, 6.0f);
    ++histogram[std::min<std::size_t>(15, static_cast<std::size_t>((value + 2) * 2))];
  }
  // The count of a bin has the deviation sqrt(n p (1 - p)) = 62: allow five.
  for (const int count : histogram) EXPECT_NEAR(count, kCount / 16, 310);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / kCount;
  EXPECT_NEAR(mean, 2.0, 5 * (8 / std::sqrt(12.0)) / 256);
}

TEST(RandomFill, RefusesUnorderedBounds) {
  std::vector<float> out(4);
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto& [lo, hi] : {std::pair{1.0f, 0.0f}, {0.0f, inf}, {std::nanf(""), 1.0f}}) {
    EXPECT_SAYS("finite and in order",
                testing::sentence_of([&, lo = lo, hi = hi] { fill_uniform(out, 0, lo, hi); }));
  }
}

}  // namespace
}  // namespace warpladder
