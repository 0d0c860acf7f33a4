#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <vector>

namespace warpladder {
namespace {

TEST(ParallelFor, VisitsEachIndexOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    for (const std::int64_t count : {0, 1, 99, 100, 101, 1000}) {
      std::vector<int> visits(count, 0);
      parallel_for(count, 100, threads, [&](std::int64_t first, std::int64_t last) {
        EXPECT_LT(first, last);
        EXPECT_LE(last - first, 100);
        for (std::int64_t i = first; i < last; ++i) ++visits.at(i);
      });
      EXPECT_EQ(visits, std::vector<int>(count, 1)) << threads << " threads";
    }
  }
}

TEST(ParallelFor, PiecesReachTheGreatestCount) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> sum = 0;
  parallel_for(kMost, kMost / 2, 3,
               [&](std::int64_t first, std::int64_t last) { sum += last - first; });
  EXPECT_EQ(sum, kMost);
}

TEST(ParallelFor, ThrowsWhatTheWorkThrew) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<int> begun = 0;
    const auto fail = [&](std::int64_t, std::int64_t) {
      ++begun;
      throw std::runtime_error("planted");
    };
    EXPECT_THROW(parallel_for(1000000, 1, threads, fail), std::runtime_error);
    EXPECT_LE(begun, static_cast<int>(threads)) << "nobody begins a piece after a failure";
  }
}

}  // namespace
}  // namespace warpladder
