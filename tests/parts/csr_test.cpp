// The search for a place in row offsets, against the place as it follows from the sequence.

#include <algorithm>
#include <limits>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

class Crossing : public EveryFlavour {
 protected:
  // A sequence of 0 before place `knee` (at least 1), growing by `slope` from there on.
  void expect_found(bool wide, std::int64_t high, std::int64_t knee, std::int64_t slope) {
    const std::int64_t greatest = (high - knee + 1) * slope;
    std::vector<std::int64_t> targets;
    for (const std::int64_t target :
         {std::int64_t{1}, std::int64_t{2}, greatest / 3, greatest / 2, greatest - 1, greatest}) {
      targets.push_back(std::clamp<std::int64_t>(target, 1, greatest));
    }
    const auto blocks = static_cast<unsigned>(targets.size());
    const Buffer<std::int64_t> in(target(), targets), found(target(), 3 * targets.size());
    run(wide ? "find_crossing<std::int64_t>" : "find_crossing<std::int32_t>", {{blocks}, {32}}, in,
        found, high, knee, slope);
    const std::vector<std::int64_t> of = found.download();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::int64_t steps = (targets[i] + slope - 1) / slope;  // of the first that reaches it
      EXPECT_EQ(of[3 * i], knee + steps - 1) << high << ' ' << knee << ' ' << targets[i];
      EXPECT_EQ(of[3 * i + 1], (steps - 1) * slope) << high << ' ' << knee << ' ' << targets[i];
      EXPECT_EQ(of[3 * i + 2], steps * slope) << high << ' ' << knee << ' ' << targets[i];
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Crossing);

TEST_P(Crossing, IsTheFirstPlaceThatReaches) {
  for (const bool wide : {false, true}) {
    for (const std::int64_t high : {1, 2, 31, 33, 1000, 123456}) {
      for (const std::int64_t knee : {std::int64_t{1}, high / 2 + 1, high}) {
        expect_found(wide, high, knee, 1);
        expect_found(wide, high, knee, 7);
      }
    }
  }
}

TEST_P(Crossing, OfAsManyRowsAsOffsetsCount) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t knee : {std::int64_t{1}, kMost / 2, kMost - 100, kMost}) {
    expect_found(false, kMost, knee, 1);
    expect_found(true, 4 * kMost, knee, 3);
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
