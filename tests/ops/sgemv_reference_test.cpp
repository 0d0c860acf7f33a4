// Hand values → reference. The truth that judges all rungs is itself tested on products worked out
// by hand, and beside OpenBLAS, which knows what BLAS asks for.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/operator.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemv/lab/reference.hpp"

namespace warpladder::sgemv {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<double> values(const Problem& p, const HostOperands& x) {
  std::vector<double> list;
  for (const ops::Expected& e : reference(p, x)) list.push_back(e.value);
  return list;
}

// [1 2 3; 4 5 6]
const std::vector<float> kByRows{1, 2, 3, 4, 5, 6}, kByColumns{1, 4, 2, 5, 3, 6};

TEST(SgemvReference, MultipliesByHand) {
  // 1·7 + 2·8 + 3·9, 4·7 + 5·8 + 6·9; and the transpose times (7, 8).
  EXPECT_EQ(values(compact(2, 3), {kByRows, {7, 8, 9}, {0, 0}}), (std::vector<double>{50, 122}));
  EXPECT_EQ(values(compact(2, 3, Layout::row_major, true), {kByRows, {7, 8}, {0, 0, 0}}),
            (std::vector<double>{39, 54, 69}));
}

TEST(SgemvReference, ReadsColumnMajor) {
  const Problem n = compact(2, 3, Layout::column_major), t = compact(2, 3, n.layout, true);
  EXPECT_EQ(n.lda, 2);
  EXPECT_EQ(values(n, {kByColumns, {7, 8, 9}, {0, 0}}), (std::vector<double>{50, 122}));
  EXPECT_EQ(values(t, {kByColumns, {7, 8}, {0, 0, 0}}), (std::vector<double>{39, 54, 69}));
}

TEST(SgemvReference, ScalesAndAdds) {
  const Problem p = compact(2, 3, Layout::row_major, false, 2.0f, 10.0f);
  EXPECT_EQ(values(p, {kByRows, {7, 8, 9}, {1, -2}}), (std::vector<double>{110, 224}));
}

TEST(SgemvReference, SkipsGapsAndWalksBackwards) {
  Problem p = compact(2, 3, Layout::row_major, false, 1.0f, 1.0f);
  p.lda = 4;
  p.incx = 2;
  p.incy = 3;
  HostOperands x{{1, 2, 3, kNan, 4, 5, 6}, {7, kNan, 8, kNan, 9}, {1, kNan, kNan, 2}};
  EXPECT_EQ(values(p, x), (std::vector<double>{51, 124}));
  p.incx = -2;  // x is (9, 8, 7): 1·9 + 2·8 + 3·7, 4·9 + 5·8 + 6·7
  EXPECT_EQ(values(p, x), (std::vector<double>{47, 120}));
  p.incy = -3;  // y is (2, 1)
  EXPECT_EQ(values(p, x), (std::vector<double>{48, 119}));
}

TEST(SgemvReference, ReadsNothingThatBlasForbids) {
  EXPECT_EQ(values(compact(1, 1, Layout::row_major, false, 0.0f, 2.0f), {{kNan}, {kNan}, {3}}),
            std::vector<double>{6});
  EXPECT_EQ(values(compact(1, 1), {{2}, {3}, {kNan}}), std::vector<double>{6});
  EXPECT_TRUE(reference(compact(0, 4), {}).empty());
  EXPECT_TRUE(reference(compact(4, 0), {{}, {}, {1, 2, 3, 4}}).empty());
}

TEST(SgemvReference, BoundGrowsWithTermsAndMagnitude) {
  // One product of 3·(-4): one term, so γ(4)·12 and a trace for underflow.
  const double u = 0x1p-24;
  const double bound = reference(compact(1, 1), {{3}, {-4}, {0}})[0].bound;
  EXPECT_NEAR(bound, 4 * u / (1 - 4 * u) * 12, 1e-12 * bound);
  // Cancelling sums keep the bound of their magnitudes.
  const auto cancelling = reference(compact(1, 2), {{1000, 1000}, {1, -1}, {0}})[0];
  EXPECT_EQ(cancelling.value, 0.0);
  EXPECT_GT(cancelling.bound, 2000 * 4 * u);
}

TEST(SgemvReference, FollowsIeeeForSpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values(compact(1, 1), {{inf}, {2}, {0}}), std::vector<double>{inf});
  EXPECT_TRUE(std::isnan(values(compact(1, 2), {{inf, inf}, {1, -1}, {0}})[0]));
}

TEST(SgemvReference, AgreesWithOpenBlasOnEveryCase) {
  const ops::Rival& openblas = *ops::rivals_of("sgemv", runtime::Target::cpu).at(0);
  device::Stream stream(runtime::Target::cpu);
  for (const ops::Case& each : ops::find_operator("sgemv").cases()) {
    const auto trial = each.prepare(runtime::Target::cpu);
    trial->reset();
    openblas.launch(trial->call(), stream);
    EXPECT_EQ(trial->judge().failure, "") << each.name;
  }
}

TEST(SgemvProblem, CountsWorkAndBytes) {
  EXPECT_EQ(flops(compact(3, 5)), 30);
  EXPECT_EQ(minimal_bytes(compact(3, 5)), 4 * (15 + 5 + 3));
  EXPECT_EQ(minimal_bytes(compact(3, 5, Layout::row_major, true, 1, 1)), 4 * (15 + 3 + 5 + 5));
  Problem p = compact(3, 5);
  p.lda = 7;  // 2·7 + 5
  p.incx = -2;
  p.incy = 3;
  EXPECT_EQ(ops::footprint(p).a_elements, 19);
  EXPECT_EQ(ops::footprint(p).x_elements, 9);
  EXPECT_EQ(ops::footprint(p).y_elements, 7);
}

TEST(SgemvProblem, HasRoomForThePiecesThatItAllows) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                             {31, 31},
                             {5, 1 << 20},
                             {100000, 100},
                             {4096, 4096}}) {
    for (const bool trans : {false, true}) {
      const Problem p = compact(m, n, Layout::row_major, trans);
      EXPECT_GE(flag_words(p), outputs(p) * (most_pieces(p) - 1)) << m << 'x' << n;
      EXPECT_LE(flag_words(p), 1 << 18) << m << 'x' << n;
      EXPECT_GE(terms(p), most_pieces(p)) << "no piece is empty";
    }
  }
  EXPECT_EQ(flag_words(compact(64, 31)), 0);
}

TEST(SgemvProblem, RefusesInASentence) {
  const auto sentence = [](const Problem& p) {
    try {
      ops::validate(p);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(sentence(compact(0, 0)), "");
  EXPECT_EQ(sentence(compact(-1, 2)), "sgemv: m must not be negative, it is -1");
  EXPECT_EQ(sentence(compact(1, -2)), "sgemv: n must not be negative, it is -2");
  Problem p = compact(4, 5);
  p.lda = 4;
  EXPECT_EQ(sentence(p), "sgemv: lda is 4, but a row-major matrix of 4x5 needs at least 5");
  p = compact(4, 5, Layout::column_major);
  p.lda = -4;
  EXPECT_EQ(sentence(p), "sgemv: lda is -4, but a column-major matrix of 4x5 needs at least 4");
  p = compact(4, 5);
  p.incx = 0;
  EXPECT_EQ(sentence(p), "sgemv: incx must not be 0");
  p = compact(0, 0);
  p.incy = 0;
  EXPECT_EQ(sentence(p), "sgemv: incy must not be 0");
  p = compact(4, 5);
  p.incy = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sentence(p),
            "sgemv: y of 4 elements with incy = -9223372036854775808 is too large to address");
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(sentence(compact(huge, huge)),
            "sgemv: A of 1099511627776x1099511627776 with leading dimension 1099511627776 is too "
            "large to address");
}

}  // namespace
}  // namespace warpladder::sgemv
