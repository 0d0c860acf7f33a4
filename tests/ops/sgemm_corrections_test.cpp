// The corrections of sgemm's plans: what trees answer, of which traits, and on which machines.

#define WARPLADDER_FLAVOUR \
  corrections_test  // the header is of a flavour, and this one has no kernels
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/sgemm/corrections.hpp"

namespace warpladder::sgemm {
namespace {

// Questions lead to leaves as a tree's description says.
TEST(SgemmPlanCorrections, FollowTheAnswers) {
  Tree tree{{0, 1, 2, 3, 4, 5, 6}, {}, {}};
  for (int i = 0; i < 8; ++i) tree.leaf[i] = static_cast<float>(i);
  for (int answers = 0; answers < 8; ++answers) {
    ShapeTraits traits{};
    int node = 0;
    for (int level = 0; level < 3; ++level) {  // the first question is the highest bit
      const bool yes = (answers >> (2 - level) & 1) != 0;
      traits[static_cast<std::size_t>(node)] = yes ? 1.0f : -1.0f;
      node = 2 * node + (yes ? 2 : 1);
    }
    EXPECT_EQ(answer_of(tree, traits), static_cast<float>(answers));
  }
  const Tree twice[] = {tree, tree};
  ShapeTraits all_no{};
  all_no.fill(-1.0f);
  tree.leaf[0] = 1.5f;
  EXPECT_EQ(correction_of({twice, 2}, all_no), 1.0);
  EXPECT_FLOAT_EQ(static_cast<float>(correction_of({&tree, 1}, all_no)), std::exp2(1.5f));
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
  const ShapeTraits batch = traits_of(compact(48, 1024, 256), 64);
  EXPECT_FLOAT_EQ(batch[10], 16.0f * 64 / 132 / 8);
  EXPECT_EQ(batch[12], 6.0f);
  EXPECT_EQ(batch[13], 10.0f);
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
