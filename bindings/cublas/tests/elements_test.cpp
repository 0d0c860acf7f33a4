// What is done to each element around a product, against float64, and verify's judge, which a
// planted fault must not pass.

#include "elements.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace warpladder::cublas {
namespace {

TEST(Activation, GeluIsRightToTheLastDigits) {
  for (double x = -12; x < 12; x += 0.01) {
    const auto argument = static_cast<float>(x);
    const double u = std::sqrt(2 / M_PI) * (argument + 0.044715 * std::pow(argument, 3));
    const double truth = argument / (1 + std::exp(-2 * u));
    EXPECT_NEAR(activate(Activation::gelu, argument), truth, 2e-5 * std::fabs(truth) + 1e-37) << x;
  }
}

TEST(Activation, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto activation : {Activation::none, Activation::relu, Activation::gelu}) {
    EXPECT_TRUE(std::isnan(activate(activation, std::nanf(""))));
    EXPECT_EQ(activate(activation, inf), inf);
    EXPECT_EQ(activate(activation, 0.0f), 0.0f);
  }
  for (const auto activation : {Activation::relu, Activation::gelu}) {
    EXPECT_EQ(activate(activation, -inf), 0.0f);
    EXPECT_EQ(activate(activation, -1e30f), 0.0f);
  }
  EXPECT_EQ(activate(Activation::gelu, 1e30f), 1e30f);
}

// One row of A with norm 3 and one column of B with norm 2, k = 4: 2·8·6·2^-24.
class Judge : public testing::Test {
 protected:
  Verdict judge(float ours, float theirs, Activation activation = Activation::none) {
    Compare compare;
    compare.extent = {1, 1, 1};
    compare.ours.data = &ours;
    compare.theirs.data = &theirs;
    compare.norms_a = &norm_a;
    compare.norms_b = &norm_b;
    compare.k = 4;
    compare.activation = activation;
    Verdict verdict;
    compare.verdict = &verdict;
    compare(0, 0, 0);
    return verdict;
  }
  double norm_a = 3, norm_b = 2;
};

TEST_F(Judge, KnowsTheBound) {
  const float bound = 96 * 0x1p-24f;
  EXPECT_EQ(judge(1, 1).wrong, 0u);
  EXPECT_EQ(judge(1 + 0.9f * bound, 1).wrong, 0u);
  EXPECT_NEAR(judge(1 + 0.9f * bound, 1).worst, 0.9, 0.03);
  EXPECT_EQ(judge(1 + 1.1f * bound, 1).wrong, 1u);
  EXPECT_EQ(judge(1 - 1.1f * bound, 1).wrong, 1u);
  EXPECT_EQ(judge(1 + 1.1f * bound, 1, Activation::relu).wrong, 0u);
  EXPECT_EQ(judge(1 + 1.3f * bound, 1, Activation::relu).wrong, 1u);
}

TEST_F(Judge, CatchesNumbersThatAreNone) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(judge(nan, nan).wrong, 0u);
  EXPECT_EQ(judge(inf, inf).wrong, 0u);
  for (const auto& [ours, theirs] :
       {std::pair{nan, 1.0f}, {1.0f, nan}, {inf, 1.0f}, {inf, nan}, {-inf, inf}, {1.0f, inf}}) {
    EXPECT_EQ(judge(ours, theirs).wrong, 1u) << ours << ' ' << theirs;
  }
}

TEST(NormsOfRows, AreEuclidean) {
  const std::vector<float> a = {3, 1, 4, 2};  // 2×2 by columns
  double norms[2];
  const Norms work{{2, 1, 1}, {a.data(), 1, 2, 0, nullptr}, 2, norms};
  work(0, 0, 0);
  work(1, 0, 0);
  EXPECT_DOUBLE_EQ(norms[0], 5);
  EXPECT_DOUBLE_EQ(norms[1], std::sqrt(5));
}

}  // namespace
}  // namespace warpladder::cublas
