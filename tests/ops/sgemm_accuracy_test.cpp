// What each distribution promises, and the truth about its products in integers.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"

namespace warpladder::sgemm {
namespace {

__extension__ typedef __int128 Wide;

struct Drawn {
  std::int64_t m, n, k;
  HostOperands x;

  float a(std::int64_t i, std::int64_t p) const { return x.a[static_cast<std::size_t>(i * k + p)]; }
  float b(std::int64_t p, std::int64_t j) const { return x.b[static_cast<std::size_t>(p * n + j)]; }
  ProductTruth truth() const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
    std::iota(rows.begin(), rows.end(), 0);
    return product_truth(compact(m, n, k), x, rows);
  }
  double largest_in_row(std::int64_t i) const {
    double most = 0;
    for (std::int64_t p = 0; p < k; ++p) most = std::max(most, std::abs(double{a(i, p)}));
    return most;
  }
  double largest_in_column(std::int64_t p) const {
    double most = 0;
    for (std::int64_t i = 0; i < m; ++i) most = std::max(most, std::abs(double{a(i, p)}));
    return most;
  }
  double largest_in_row_of_b(std::int64_t p) const {
    double most = 0;
    for (std::int64_t j = 0; j < n; ++j) most = std::max(most, std::abs(double{b(p, j)}));
    return most;
  }
};

Drawn draw(const std::string& distribution, std::int64_t m, std::int64_t n, std::int64_t k,
           std::uint64_t seed = 1) {
  return {m, n, k, draw_operands(distribution, m, n, k, seed)};
}

// Both operands' elements.
std::vector<double> all_of(const Drawn& d) {
  std::vector<double> values(d.x.a.begin(), d.x.a.end());
  values.insert(values.end(), d.x.b.begin(), d.x.b.end());
  return values;
}
void expect_within(const std::vector<double>& values, double low, double high) {
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_GE(least, low);
  EXPECT_LE(most, high);
}
double mean(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double x : values) sum += std::pow(x, power);
  return sum / static_cast<double>(values.size());
}

TEST(AccuracyTruth, IsExact) {
  // Multiples of 2^-35 and 2^-55: products and sums that 128 bits hold.
  const std::pair<const char*, int> scales[] = {
      {"uniform", 23}, {"positive", 24}, {"cancelling", 35}, {"adversarial", 55}, {"identity", 23}};
  for (const auto& [distribution, bits] : scales) {
    const Drawn d = draw(distribution, 3, 5, 1001);
    const ProductTruth truth = d.truth();
    const auto whole = [bits = bits](float x) {
      const double scaled = std::ldexp(double{x}, bits);
      EXPECT_EQ(scaled, std::rint(scaled));
      return static_cast<Wide>(scaled);
    };
    for (std::int64_t i = 0; i < d.m; ++i) {
      for (std::int64_t j = 0; j < d.n; ++j) {
        Wide sum = 0, magnitude = 0;
        for (std::int64_t p = 0; p < d.k; ++p) {
          const Wide product = whole(d.a(i, p)) * whole(d.b(p, j));
          sum += product;
          magnitude += product < 0 ? -product : product;
        }
        const auto at = static_cast<std::size_t>(i * d.n + j);
        const auto back = [bits = bits](double x) {
          return static_cast<Wide>(std::ldexp(x, 2 * bits));
        };
        EXPECT_TRUE(back(truth.value[at].high) + back(truth.value[at].low) == sum)
            << distribution << " " << i << " " << j;
        EXPECT_NEAR(std::ldexp(truth.magnitude[at], 2 * bits), static_cast<double>(magnitude),
                    1e-12 * static_cast<double>(magnitude));
      }
    }
  }
}

TEST(AccuracyTruth, OfSomeRows) {
  const Drawn d = draw("uniform", 6, 4, 50);
  const ProductTruth all = d.truth();
  const std::int64_t rows[] = {1, 5};
  const ProductTruth some = product_truth(compact(6, 4, 50), d.x, rows);
  ASSERT_EQ(some.value.size(), 8u);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(some.value[j].high, all.value[4 + j].high);
    EXPECT_EQ(some.value[4 + j].low, all.value[20 + j].low);
    EXPECT_EQ(some.magnitude[4 + j], all.magnitude[20 + j]);
  }
}

TEST(AccuracyDraws, AreTheSameEverywhere) {
  // Bits of all distributions' elements, so that a change of the data does not go unseen.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const ops::Distribution& distribution : accuracy_distributions()) {
    for (const double x : all_of(draw(distribution.name, 5, 7, 33))) {
      hash = (hash ^ std::bit_cast<std::uint32_t>(static_cast<float>(x))) * 0x100000001b3;
    }
  }
  EXPECT_EQ(hash, 1485094946422273642u);
}

TEST(AccuracyDraws, DependOnSeedAndPlace) {
  for (const ops::Distribution& distribution : accuracy_distributions()) {
    const Drawn d = draw(distribution.name, 8, 8, 64), other = draw(distribution.name, 8, 8, 64, 2);
    EXPECT_NE(d.x.b, other.x.b) << distribution.name;
    EXPECT_TRUE(std::ranges::all_of(all_of(d), [](double x) { return std::isfinite(x); }));
  }
  const Drawn narrow = draw("normal", 3, 3, 16), wide = draw("normal", 5, 9, 32);
  EXPECT_EQ(narrow.a(2, 7), wide.a(2, 7));
  EXPECT_EQ(narrow.b(7, 2), wide.b(7, 2));
  EXPECT_THROW(draw_operands("gamma", 1, 1, 1, 1), Error);
}

TEST(AccuracyDraws, LargeOnesAreThoseOfOneThread) {
  const Drawn large = draw("log_uniform", 4, 4, 300000), small = draw("log_uniform", 4, 4, 1000);
  for (std::int64_t p = 0; p < 1000; ++p) {
    ASSERT_EQ(large.a(3, p), small.a(3, p));
    ASSERT_EQ(large.b(p, 3), small.b(p, 3));
  }
}

TEST(AccuracyDraws, Uniform) {
  const std::vector<double> values = all_of(draw("uniform", 64, 64, 128));
  expect_within(values, -1, 1);
  EXPECT_NEAR(mean(values, 1), 0, 0.02);
  EXPECT_NEAR(mean(values, 2), 1.0 / 3, 0.01);
  const std::vector<double> positive = all_of(draw("positive", 64, 64, 128));
  expect_within(positive, 0, 1);
  EXPECT_NEAR(mean(positive, 1), 0.5, 0.01);
}

TEST(AccuracyDraws, Normal) {
  const std::vector<double> values = all_of(draw("normal", 128, 128, 256));
  EXPECT_NEAR(mean(values, 1), 0, 0.015);
  EXPECT_NEAR(mean(values, 2), 1, 0.02);
  EXPECT_NEAR(mean(values, 4), 3, 0.15);
  const auto beyond = std::ranges::count_if(values, [](double x) { return std::abs(x) > 3; });
  EXPECT_NEAR(static_cast<double>(beyond) / static_cast<double>(values.size()), 0.0027, 0.0008);
}

TEST(AccuracyDraws, LogUniform) {
  const std::vector<double> values = all_of(draw("log_uniform", 64, 64, 128));
  int quarters[4] = {}, negative = 0;
  for (const double x : values) {
    const double exponent = std::log2(std::abs(x));
    ASSERT_TRUE(exponent >= -20 && exponent <= 20) << x;
    ++quarters[std::clamp(static_cast<int>((exponent + 20) / 10), 0, 3)];
    negative += x < 0;
  }
  for (const int count : quarters) EXPECT_NEAR(count / double(values.size()), 0.25, 0.02);
  EXPECT_NEAR(negative / double(values.size()), 0.5, 0.02);
}

TEST(AccuracyDraws, LineScaled) {
  const Drawn d = draw("line_scaled", 64, 64, 256);
  const auto expect_scaled = [&](const auto& at, std::int64_t lines) {
    double least = HUGE_VAL, most = 0;
    for (std::int64_t line = 0; line < lines; ++line) {
      double largest = 0, squares = 0;
      for (std::int64_t p = 0; p < d.k; ++p) {
        const double x = at(line, p);
        largest = std::max(largest, std::abs(x));
        squares += x * x / static_cast<double>(d.k);
      }
      EXPECT_NEAR(largest / std::sqrt(squares), std::sqrt(3), 0.3) << "within a line it is uniform";
      least = std::min(least, largest);
      most = std::max(most, largest);
    }
    EXPECT_LE(most, 0x1p20);
    EXPECT_GE(most / least, 0x1p30);
  };
  expect_scaled([&](std::int64_t i, std::int64_t p) { return double{d.a(i, p)}; }, d.m);
  expect_scaled([&](std::int64_t j, std::int64_t p) { return double{d.b(p, j)}; }, d.n);
}

TEST(AccuracyDraws, InnerScaled) {
  const Drawn d = draw("inner_scaled", 64, 64, 128);
  double least = HUGE_VAL, most = 0;
  for (std::int64_t p = 0; p < d.k; ++p) {
    const double scale = d.largest_in_column(p);
    EXPECT_NEAR(scale * d.largest_in_row_of_b(p), 0.95, 0.15) << "the scales cancel";
    least = std::min(least, scale);
    most = std::max(most, scale);
  }
  EXPECT_GE(most / least, 0x1p30);
}

TEST(AccuracyDraws, Cancelling) {
  for (const std::int64_t k : {16, 17, 1000, 4099}) {
    const ProductTruth truth = draw("cancelling", 8, 8, k).truth();
    for (std::size_t at = 0; at < truth.value.size(); ++at) {
      EXPECT_LE(std::abs(truth.value[at].high), 0x1p-10 * truth.magnitude[at]) << k;
      EXPECT_NE(truth.value[at].high, 0);
    }
  }
  EXPECT_EQ(draw("cancelling", 2, 2, 1).truth().value.size(), 4u) << "nothing to take back";
}

TEST(AccuracyDraws, Identity) {
  for (const auto& [k, period] : {std::pair{5, 5}, {16, 16}, {40, 16}}) {
    const Drawn d = draw("identity", 16, 8, k);
    for (std::int64_t i = 0; i < d.m; ++i) {
      for (std::int64_t p = 0; p < k; ++p) {
        EXPECT_EQ(d.a(i, p), i % period == p % period ? 1 : 0) << i << " " << p << " of " << k;
      }
    }
  }
  const Drawn d = draw("identity", 16, 8, 16);
  const ProductTruth truth = d.truth();
  for (std::size_t at = 0; at < truth.value.size(); ++at) {
    EXPECT_EQ(truth.value[at].high, double{d.x.b[at]});
  }
}

TEST(AccuracyDraws, PowersOfTwo) {
  const std::vector<double> values = all_of(draw("powers_of_two", 32, 32, 64));
  int count[5] = {};
  for (const double x : values) {
    const double exponent = std::log2(std::abs(x));
    ASSERT_EQ(exponent, std::rint(exponent));
    ASSERT_TRUE(exponent >= -2 && exponent <= 2);
    ++count[static_cast<int>(exponent) + 2];
  }
  for (const int each : count) EXPECT_NEAR(each / double(values.size()), 0.2, 0.03);
}

TEST(AccuracyDraws, OneHuge) {
  const Drawn d = draw("one_huge", 32, 8, 50);
  for (std::int64_t i = 0; i < d.m; ++i) {
    int huge = 0;
    for (std::int64_t p = 0; p < d.k; ++p) {
      huge += std::abs(d.a(i, p)) == 0x1p20f;
      EXPECT_TRUE(std::abs(d.a(i, p)) <= 1 || std::abs(d.a(i, p)) == 0x1p20f);
    }
    EXPECT_EQ(huge, 1);
  }
}

TEST(AccuracyDraws, Denormals) {
  const Drawn d = draw("denormals", 16, 16, 64);
  for (const float a : d.x.a) EXPECT_TRUE(std::abs(a) < std::numeric_limits<float>::min());
  EXPECT_GT(d.largest_in_row(0), 0x1p-129);
  const ProductTruth truth = d.truth();
  for (const double magnitude : truth.magnitude) {
    EXPECT_GT(magnitude, 0x1p-70) << "the result is far from underflow";
  }
}

TEST(AccuracyDraws, Adversarial) {
  const Drawn d = draw("adversarial", 4, 4, 33);
  const auto expect_about = [](float x, double size) {
    EXPECT_GE(x, 0.5 * size);
    EXPECT_LE(x, size);
  };
  for (std::int64_t p = 0; p < d.k; ++p) {
    expect_about(d.a(2, p), p % 2 == 0 ? 1 : 0x1p-30);
    expect_about(d.b(p, 2), p % 2 == 0 ? 0x1p-30 : 1);
  }
}

}  // namespace
}  // namespace warpladder::sgemm
