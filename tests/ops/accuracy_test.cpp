// The measures of error, by hand.

#include "ops/lab/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "lab/accuracy.hpp"

namespace warpladder::ops {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Element {
  float actual;
  DoubleDouble truth;
  double magnitude;
};
Errors errors_of(std::initializer_list<Element> elements) {
  ErrorMeter meter;
  for (const Element& e : elements) meter.look_at(e.actual, e.truth, e.magnitude);
  return meter.errors();
}

TEST(ErrorMeter, MeasuresByHand) {
  // Errors 3 and -4 beside truths of norm 10 and magnitudes 12 and 8.
  const Errors e = errors_of({{9, {6}, 12}, {4, {8}, 8}});
  EXPECT_DOUBLE_EQ(e.frobenius, 0.5);
  EXPECT_DOUBLE_EQ(e.componentwise, 0.5);
  EXPECT_EQ(e.not_finite, 0u);
  EXPECT_DOUBLE_EQ(errors_of({{9, {6}, 5}, {8, {8}, 8}}).componentwise, 0.6);
}

TEST(ErrorMeter, SeesBelowFloat64) {
  const Errors e = errors_of({{1, {1, 0x1p-60}, 2}});
  EXPECT_EQ(e.componentwise, 0x1p-61);
  EXPECT_EQ(e.frobenius, 0x1p-60);
}

TEST(ErrorMeter, ExactIsZero) {
  const Errors e = errors_of({{0.5f, {0.5}, 1}, {0, {0}, 0}});
  EXPECT_EQ(e.frobenius, 0);
  EXPECT_EQ(e.componentwise, 0);
  EXPECT_EQ(errors_of({}).frobenius, 0);
}

TEST(ErrorMeter, NothingToCompareWith) {
  const Errors zero_truth = errors_of({{1, {0}, 4}});
  EXPECT_TRUE(std::isinf(zero_truth.frobenius));
  EXPECT_EQ(zero_truth.componentwise, 0.25);
  EXPECT_TRUE(std::isinf(errors_of({{1e-40f, {0}, 0}, {1, {1}, 1}}).componentwise));
  EXPECT_EQ(errors_of({{-0.0f, {0}, 0}}).frobenius, 0);
}

TEST(ErrorMeter, WhatIsNoNumberIsInfinitelyWrongAndCounted) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    const Errors e = errors_of({{1, {1}, 1}, {bad, {2}, 2}, {bad, {0}, 0}, {3, {3}, 3}});
    EXPECT_EQ(e.not_finite, 2u);
    EXPECT_TRUE(std::isinf(e.frobenius) && e.frobenius > 0);
    EXPECT_TRUE(std::isinf(e.componentwise) && e.componentwise > 0);
  }
}

TEST(Accuracy, OperatorsWithoutDistributionsRefuse) {
  lab::AccuracyRequest request;
  request.op = &find_operator("transpose");
  request.distributions = {"uniform"};
  request.shapes = {{4, 4}};
  EXPECT_EQ(request.op->accuracy(), nullptr);
  EXPECT_THROW(lab::accuracy(request), Error);
}

}  // namespace
}  // namespace warpladder::ops
