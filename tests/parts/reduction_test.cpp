// Places in words, against a loop that looks for them as they are defined. A NaN comes before any
// number, then the greatest or the least, then the lowest index.

#include <cmath>
#include <limits>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN(),
                kLeast = std::numeric_limits<float>::denorm_min();

int place_in(const std::vector<float>& values, bool greatest) {
  int best = 0;
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const float x = values[static_cast<std::size_t>(i)], b = values[static_cast<std::size_t>(best)];
    if (std::isnan(b)) break;
    if (std::isnan(x) || (greatest ? x > b : x < b)) best = i;
  }
  return values.empty() ? -1 : best;
}

class ReductionPlaces : public EveryFlavour {
 protected:
  std::int64_t find(const std::vector<float>& values, bool greatest, bool wide, std::int64_t from) {
    const auto count = static_cast<unsigned>(values.size()), blocks = count / 64 + 2;
    Buffer<float> in(target(), values.empty() ? std::vector<float>{kNan} : values);
    const Buffer<std::uint64_t> words(target(), std::vector<std::uint64_t>(2 * blocks));
    const Buffer<std::int64_t> place(target(), std::vector<std::int64_t>{-7});
    run(std::string("find_place<parts::Place<") + (greatest ? "true" : "false") + ", " +
            (wide ? "parts::WideWord" : "std::uint64_t") + ">>",
        {{blocks}, {64}}, in, words, place, from, static_cast<int>(count));
    for (const std::uint64_t word : words.download()) EXPECT_EQ(word, 0u);
    return place.download()[0];
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(ReductionPlaces);

TEST_P(ReductionPlaces, AreTheFirstOfTheBest) {
  std::vector<float> ties(300, -2.0f);
  ties[17] = ties[180] = 3.0f;
  ties[99] = ties[255] = -kInf;
  std::vector<float> with_nan = ties;
  with_nan[203] = with_nan[111] = kNan;
  with_nan[250] = -kNan;
  const std::vector<std::vector<float>> all = {{},
                                               {5.0f},
                                               {-kInf, -kInf},
                                               {kInf, kInf},
                                               {0.0f, -0.0f},
                                               {-0.0f, 0.0f},
                                               ties,
                                               {kLeast, 0, -kLeast},
                                               {-kLeast, 0, kLeast},
                                               {-1, -2, -3},
                                               {1, 2, 3},
                                               with_nan};
  for (const auto& values : all) {
    for (const bool greatest : {false, true}) {
      const std::int64_t at = place_in(values, greatest);
      for (const std::int64_t from : {std::int64_t{0}, (std::int64_t{1} << 32) - 300}) {
        EXPECT_EQ(find(values, greatest, false, from), at < 0 ? -1 : from + at);
      }
      for (const std::int64_t from :
           {std::int64_t{0}, (std::int64_t{1} << 32) - 100, (std::int64_t{1} << 62) + 12345}) {
        EXPECT_EQ(find(values, greatest, true, from), at < 0 ? -1 : from + at);
      }
    }
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
