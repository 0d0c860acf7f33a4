// The judge of overlaps beside a look at every element.

#include "library/operands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace warpladder::library {
namespace {

alignas(4096) float memory[4096];

std::multiset<std::int64_t> elements_of(const Region& x) {
  std::multiset<std::int64_t> all;
  for (std::int64_t matrix = 0; matrix < x.batch; ++matrix) {
    for (std::int64_t line = 0; line < x.lines; ++line) {
      for (std::int64_t i = 0; i < x.length; ++i) {
        all.insert(static_cast<const float*>(x.data) - memory + matrix * x.stride + line * x.ld +
                   i);
      }
    }
  }
  return all;
}

TEST(Overlap, IsExactForPartsOfOneMatrixAndNeverMissed) {
  std::mt19937 generator(1);
  const auto draw = [&](int from, int to) {
    return std::int64_t{from} +
           static_cast<std::int64_t>(generator() % static_cast<unsigned>(to - from + 1));
  };
  int met = 0, apart = 0;
  for (int round = 0; round < 200000; ++round) {
    const std::int64_t ld = draw(1, 12), stride = draw(0, 30);
    const auto region = [&](std::int64_t its_ld, std::int64_t its_stride) {
      return Region{memory + draw(0, 120),
                    draw(0, 4),
                    std::min<std::int64_t>(draw(0, 6), its_ld),
                    its_ld,
                    draw(1, 3),
                    its_stride};
    };
    const bool same = round % 4 != 0;
    const Region x = region(ld, stride),
                 y = region(same ? ld : draw(1, 12), same ? stride : draw(0, 30));
    const auto of_x = elements_of(x), of_y = elements_of(y);
    const bool shared = std::ranges::any_of(of_x, [&](std::int64_t e) { return of_y.contains(e); });
    if (shared) {
      ASSERT_TRUE(overlap(x, y)) << round;
      ++met;
    } else if (same && stride > 0) {
      ASSERT_FALSE(overlap(x, y)) << round;
      ++apart;
    }
    const bool twice = std::set(of_x.begin(), of_x.end()).size() != of_x.size();
    if (x.batch > 1) {
      ASSERT_EQ(overlaps_itself(x), twice) << round;
    }
  }
  EXPECT_GT(met, 1000);
  EXPECT_GT(apart, 1000);
}

}  // namespace
}  // namespace warpladder::library
