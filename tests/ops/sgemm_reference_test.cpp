// Hand values → reference: the truth that all rungs are judged by is itself tested on products
// worked out by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "ops/lab/checked.hpp"
#include "ops/sgemm/lab/reference.hpp"

namespace warpladder::sgemm {
namespace {

std::vector<double> values(const Problem& p, const HostOperands& x) {
  std::vector<double> list;
  for (const ops::Expected& e : reference(p, x)) list.push_back(e.value);
  return list;
}

// [1 2 3; 4 5 6] · [7 8; 9 10; 11 12] = [58 64; 139 154]
const HostOperands kByRows{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {1, 2, 3, 4}};

TEST(SgemmReference, MultipliesByHand) {
  EXPECT_EQ(values(compact(2, 2, 3), kByRows), (std::vector<double>{58, 64, 139, 154}));
}

TEST(SgemmReference, ScalesAndAdds) {
  const Problem p = compact(2, 2, 3, Layout::row_major, false, false, 2.0f, 10.0f);
  EXPECT_EQ(values(p, kByRows), (std::vector<double>{126, 148, 308, 348}));
}

TEST(SgemmReference, ReadsTransposes) {
  // The same A and B, stored the other way round.
  const HostOperands x{{1, 4, 2, 5, 3, 6}, {7, 9, 11, 8, 10, 12}, {0, 0, 0, 0}};
  EXPECT_EQ(values(compact(2, 2, 3, Layout::row_major, true, true), x),
            (std::vector<double>{58, 64, 139, 154}));
}

TEST(SgemmReference, ReadsColumnMajor) {
  const HostOperands x{{1, 4, 2, 5, 3, 6}, {7, 9, 11, 8, 10, 12}, {1, 3, 2, 4}};
  const Problem p = compact(2, 2, 3, Layout::column_major, false, false, 1.0f, 1.0f);
  EXPECT_EQ(values(p, x), (std::vector<double>{59, 66, 142, 158}));
}

TEST(SgemmReference, SkipsTheGapsOfLd) {
  Problem p = compact(2, 2, 3);
  p.lda = 5;
  p.ldb = 3;
  p.ldc = 4;
  const float gap = std::numeric_limits<float>::quiet_NaN();
  const HostOperands x{{1, 2, 3, gap, gap, 4, 5, 6},
                       {7, 8, gap, 9, 10, gap, 11, 12},
                       {gap, gap, gap, gap, gap, gap}};
  EXPECT_EQ(values(p, x), (std::vector<double>{58, 64, 139, 154}));
}

TEST(SgemmReference, ReadsNothingThatBlasForbids) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      values(compact(1, 1, 1, Layout::row_major, false, false, 0.0f, 2.0f), {{nan}, {nan}, {3}}),
      std::vector<double>{6});
  EXPECT_EQ(values(compact(1, 1, 0, Layout::row_major, false, false, 1.0f, 2.0f), {{}, {}, {3}}),
            std::vector<double>{6});
  EXPECT_EQ(values(compact(1, 1, 1), {{2}, {3}, {nan}}), std::vector<double>{6});
  EXPECT_TRUE(reference(compact(0, 4, 4), {}).empty());
}

TEST(SgemmReference, BoundGrowsWithDepthAndMagnitude) {
  // One product of 3·(-4): k = 1, so γ(4)·12 and a trace for underflow.
  const double u = 0x1p-24;
  const double bound = reference(compact(1, 1, 1), {{3}, {-4}, {0}})[0].bound;
  EXPECT_NEAR(bound, 4 * u / (1 - 4 * u) * 12, 1e-12 * bound);
  // Cancelling sums keep the bound of their magnitudes.
  const auto cancelling = reference(compact(1, 1, 2), {{1000, 1000}, {1, -1}, {0}})[0];
  EXPECT_EQ(cancelling.value, 0.0);
  EXPECT_GT(cancelling.bound, 2000 * 4 * u);
}

TEST(SgemmReference, FollowsIeeeForSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values(compact(1, 1, 1), {{inf}, {2}, {0}}), std::vector<double>{inf});
  EXPECT_TRUE(std::isnan(values(compact(1, 1, 2), {{inf, inf}, {1, -1}, {0}})[0]));
  EXPECT_TRUE(std::isnan(values(compact(1, 1, 1), {{inf}, {0}, {0}})[0]));
}

TEST(SgemmProblem, CountsWorkAndBytes) {
  EXPECT_EQ(flops(compact(2, 3, 4)), 48);
  EXPECT_EQ(minimal_bytes(compact(2, 3, 4)), 4 * (8 + 12 + 6));
  EXPECT_EQ(minimal_bytes(compact(2, 3, 4, Layout::row_major, false, false, 1, 1)),
            4 * (8 + 12 + 12));
}

TEST(SgemmProblem, RefusesInASentence) {
  const auto sentence = [](Problem p) {
    try {
      ops::footprint(p);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(sentence(compact(-1, 2, 3)), "sgemm: m must not be negative, it is -1");
  Problem p = compact(4, 5, 6);
  p.lda = 5;
  EXPECT_EQ(sentence(p), "sgemm: lda is 5, but a row-major matrix of 4x6 needs at least 6");
  p = compact(4, 5, 6, Layout::column_major);
  p.ldc = 3;
  EXPECT_EQ(sentence(p), "sgemm: ldc is 3, but a column-major matrix of 4x5 needs at least 4");
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_NE(sentence(compact(huge, 1, huge)).find("too large"), std::string::npos);
  EXPECT_EQ(sentence(compact(0, 0, 0)), "");
}

TEST(SgemmProblem, TwinOfTheOtherLayoutIsTheSameProduct) {
  const Problem p = compact(2, 3, 4, Layout::column_major, true, false, 1.5f, 0.5f);
  const float a = 0, b = 0;
  float c = 0;
  const Call twin = in_layout({p, &a, &b, &c}, Layout::row_major);
  EXPECT_EQ(twin.a, &b);
  EXPECT_EQ(twin.b, &a);
  EXPECT_EQ(twin.problem.m, 3);
  EXPECT_EQ(twin.problem.n, 2);
  EXPECT_FALSE(twin.problem.trans_a);
  EXPECT_TRUE(twin.problem.trans_b);
  EXPECT_NO_THROW(ops::validate(twin.problem));
}

}  // namespace
}  // namespace warpladder::sgemm
