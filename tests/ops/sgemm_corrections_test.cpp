// The corrections of sgemm's plans: what trees answer, of which traits, and on which machines.

#define WARPLADDER_FLAVOUR \
  corrections_test  // the header is of a flavour, and this one has no kernels
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "ops/sgemm/corrections.hpp"

namespace warpladder::sgemm {
namespace {

std::string digits(std::initializer_list<int> values) {
  static const std::string kAll =
      "!#$%&'()*+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
  EXPECT_EQ(kAll.size(), static_cast<std::size_t>(kDigits));
  std::string text;
  for (const int value : values) text += kAll[static_cast<std::size_t>(value)];
  return text;
}
std::string leaf_of(int thousandths) {
  const int place = thousandths + kDigits * kDigits / 2;
  return digits({place / kDigits, place % kDigits});
}

TEST(SgemmPlanCorrections, AreTextOfDigits) {
  for (int value = 0; value < kDigits; ++value) {
    EXPECT_EQ(digit_of(digits({value})[0]), value);
  }
}

// Questions lead to leaves as a tree's description says.
TEST(SgemmPlanCorrections, FollowTheAnswers) {
  std::string text;
  for (int node = 0; node < Tree::kQuestions; ++node) text += digits({node, 4});
  for (int leaf = 0; leaf < Tree::kLeaves; ++leaf) text += leaf_of(leaf - 3);
  ASSERT_EQ(text.size(), static_cast<std::size_t>(Tree::kLength));
  for (int answers = 0; answers < Tree::kLeaves; ++answers) {
    Bins bins{};
    int node = 0;
    for (int level = 0; level < Tree::kLevels; ++level) {  // the first question is the highest bit
      const bool yes = (answers >> (Tree::kLevels - 1 - level) & 1) != 0;
      bins[static_cast<std::size_t>(digits({node})[0])] = digits({yes ? 5 : 4})[0];
      node = 2 * node + (yes ? 2 : 1);
    }
    EXPECT_EQ(answer_of({text.c_str()}, bins), answers - 3);
    EXPECT_DOUBLE_EQ(correction_of({text.c_str(), 1}, bins), std::exp2((answers - 3) / 1000.0));
  }
  const std::string twice = text + text;
  EXPECT_DOUBLE_EQ(correction_of({twice.c_str(), 2}, Bins{}), std::exp2(-6 / 1000.0));
}

// A trait that lies on an edge is not above it; and none is above the last digit's.
TEST(SgemmPlanCorrections, CountTheEdgesBelow) {
  Edges edges;
  edges.fill(kNoEdge);
  EXPECT_EQ(bin_of(edges, 1e30f), 0);
  edges[0] = -1;
  edges[1] = 2.5f;
  for (const auto& [trait, bin] :
       {std::pair{-2.0f, 0}, {-1.0f, 0}, {0.0f, 1}, {2.5f, 1}, {3.0f, 2}}) {
    EXPECT_EQ(bin_of(edges, trait), bin) << trait;
  }
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = static_cast<float>(i);
  EXPECT_EQ(bin_of(edges, 1e30f), kDigits - 1);
}

// The same products as in tests/tools/test_fit_plans.py.
TEST(SgemmPlanCorrections, KnowTheTraitsThatTheyWereLearnedFrom) {
  const auto of = [](std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a, bool trans_b) {
    return traits_of(compact(m, n, k, Layout::row_major, trans_a, trans_b));
  };
  const ShapeTraits wide = of(48, 1024, 256, false, true);
  EXPECT_EQ(wide[1], 10.0f);
  EXPECT_EQ(wide[2], 8.0f);
  EXPECT_EQ(std::vector<float>(wide.begin() + 5, wide.begin() + 10),
            (std::vector<float>{4, 1, 1, 1, 1}));
  EXPECT_FLOAT_EQ(wide[10], 16.0f / 132);
  const ShapeTraits tall = of(1024, 48, 255, true, false);
  EXPECT_EQ(std::vector<float>(tall.begin() + 5, tall.begin() + 9),
            (std::vector<float>{4, 0, 0, 1}));
  EXPECT_EQ(tall[12], 0.0f);
  EXPECT_EQ(tall[13], 4.0f);
  EXPECT_FLOAT_EQ(tall[14], 256.0f / 255);
  EXPECT_FLOAT_EQ(of(8, 8, 40, false, false)[15], 64.0f / 40);
  const ShapeTraits batch = traits_of(compact(48, 1024, 256), 64);
  EXPECT_FLOAT_EQ(batch[10], 16.0f * 64 / 132 / 8);
  EXPECT_EQ(batch[12], 6.0f);
  EXPECT_EQ(batch[13], 10.0f);
  const ShapeTraits powers = traits_of(compact(16, 32, 64), 4);
  EXPECT_FLOAT_EQ(powers[3], std::log2(4.0f * (48 * 64 + 512)));
  EXPECT_EQ(powers[16], 17.0f);
  const ShapeTraits ragged = of(8, 10, 255, false, false);
  EXPECT_EQ(ragged[5], 2.0f);
  EXPECT_EQ(ragged[17], 1.0f);
  EXPECT_EQ(tall[17], 4.0f);
}
TEST(SgemmPlanCorrections, KnowTheTraitsOfCuts) {
  const auto of = [](const Cut& cut, std::int64_t count) {
    return traits_of({.plan = {}, .model_s = 10.24e-6, .cut = cut}, compact(100, 1000, 256), count);
  };
  const CutTraits cut = of({64, 128, 4, 8}, 2);
  const std::vector<float> expected = {6,
                                       7,
                                       2,
                                       3,
                                       std::log2(128.0f / 132),
                                       128.0f / 132,
                                       1,
                                       0,
                                       100.0f / 128,
                                       1000.0f / 1024,
                                       std::log2(16 * 192 / 1100.0f),
                                       10};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(cut[i], expected[i], 1e-6) << i;
  EXPECT_EQ(of({64, 128, 4, 8, true}, 2)[7], 1.0f);
  EXPECT_EQ(of({16, 16, 1, 1}, 100)[6], 6.0f);  // and more waves
  EXPECT_EQ(of({}, 1), (CutTraits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 10}));
}

// Others than Hopper, or Hopper without its own instructions, plan by the model alone.
TEST(SgemmPlanCorrections, AreThoseOfTheArchitecture) {
  runtime::Machine machine;
  ASSERT_NE(corrections_of(machine), nullptr);
  EXPECT_EQ(corrections_of(machine)->capability, 90);
  machine.hopper_code = false;
  EXPECT_EQ(corrections_of(machine), nullptr);
  machine.hopper_code = true;
  machine.capability = 100;
  EXPECT_EQ(corrections_of(machine), nullptr);
}

}  // namespace
}  // namespace warpladder::sgemm
