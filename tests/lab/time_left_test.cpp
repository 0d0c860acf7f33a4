#include "lab/time_left.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace warpladder::lab {
namespace {

TEST(TimeLeft, FollowsWhatIsDoneSinceTheBeginning) {
  EXPECT_EQ(seconds_left(10, 0, 0.25), 30);
  EXPECT_EQ(seconds_left(10, 0.5, 0.75), 10) << "a resumed run";
  EXPECT_EQ(seconds_left(10, 0, 1), 0);
  EXPECT_TRUE(std::isinf(seconds_left(0.5, 0, 0.5)));
  EXPECT_TRUE(std::isinf(seconds_left(10, 0.3, 0.3)));
}

TEST(TimeLeft, IsSaidInItsUnit) {
  EXPECT_EQ(time_left_text(0.2), "about 1 s left");
  EXPECT_EQ(time_left_text(45), "about 45 s left");
  EXPECT_EQ(time_left_text(180), "about 3 min left");
  EXPECT_EQ(time_left_text(9000), "about 2.5 h left");
}

}  // namespace
}  // namespace warpladder::lab
