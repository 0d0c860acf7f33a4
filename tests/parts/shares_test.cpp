// parts/shares: division by multiplication against the machine's own, and parts against a count.

#include <algorithm>
#include <random>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 31;  // of numbers; the largest divisor

class Shares : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Shares);

// All small divisors, and those beside powers of two.
std::vector<std::int64_t> divisors_of(std::mt19937_64& random) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t by = 1; by <= 130; ++by) divisors.push_back(by);
  for (int bit = 8; bit <= 31; ++bit) {
    for (const int beside : {-1, 0, 1}) {
      divisors.push_back(std::min(kEnd, (std::int64_t{1} << bit) + beside));
    }
  }
  for (int i = 0; i < 60; ++i) {
    divisors.push_back(1 + static_cast<std::int64_t>(random() >> (33 + random() % 20)));
  }
  return divisors;
}

TEST_P(Shares, DivideAsTheMachineDoes) {
  std::mt19937_64 random(7);
  const std::vector<std::int64_t> divisors = divisors_of(random);
  std::vector<unsigned> numbers;
  const auto add = [&](std::int64_t number) {
    if (number >= 0 && number < kEnd) numbers.push_back(static_cast<unsigned>(number));
  };
  for (const std::int64_t by : divisors) {  // the largest multiple, and another one
    const auto any = static_cast<std::int64_t>(random() >> 33);
    for (const std::int64_t multiple : {(kEnd - 1) / by * by, any / by * by}) {
      for (const int beside : {-1, 0, 1}) add(multiple + beside);
    }
  }
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, kEnd - 1}) add(number);
  const auto blocks = static_cast<unsigned>(divisors.size());
  const auto count = static_cast<int>(numbers.size());
  const Buffer<std::int64_t> by(target(), divisors);
  const Buffer<unsigned> in(target(), numbers), out(target(), 2 * divisors.size() * numbers.size());
  run("divide", {{blocks}, {64}}, by, in, count, out);
  const std::vector<unsigned> divided = out.download();
  for (std::size_t d = 0, at = 0; d < divisors.size(); ++d) {
    for (const std::int64_t number : numbers) {
      EXPECT_EQ(divided[at++], number / divisors[d]) << number << " by " << divisors[d];
      EXPECT_EQ(divided[at++], number % divisors[d]) << number << " by " << divisors[d];
    }
  }
}

TEST_P(Shares, OfPiecesCoverAllAndDifferByOne) {
  constexpr int kMost = 40;
  const Buffer<int> out(target(),
                        static_cast<std::size_t>((kMost + 1) * (kMost + 1) * (kMost + 1)));
  run("cut", {{kMost + 1}, {32}}, kMost, out);
  const std::vector<int> all = out.download();
  for (int pieces = 0; pieces <= kMost; ++pieces) {
    for (int count = 1; count <= kMost; ++count) {
      const int* const first =
          &all[static_cast<std::size_t>((pieces * (kMost + 1) + count) * (kMost + 1))];
      EXPECT_EQ(first[0], 0);
      EXPECT_EQ(first[count], pieces);
      for (int part = 0; part < count; ++part) {
        const int own = first[part + 1] - first[part];
        EXPECT_TRUE(own == pieces / count || own == pieces / count + 1) << pieces << ' ' << count;
      }
    }
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
