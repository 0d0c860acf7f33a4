// Who judges the judge: kernels whose error is known to the last bit, and what accuracy says of
// them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/accuracy.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder {
namespace {

using sgemm::Call;

// On powers_of_two every one of these sums is exact.
void exact(const Call& call, runtime::StreamView&) {
  const sgemm::Problem& p = call.problem;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k) sum += call.a[i * p.lda + k] * call.b[k * p.ldb + j];
      call.c[i * p.ldc + j] = sum;
    }
  }
}
void all_too_large(const Call& call, runtime::StreamView& stream) {
  exact(call, stream);
  for (std::int64_t at = 0; at < call.problem.m * call.problem.n; ++at) call.c[at] *= 1 + 0x1p-9f;
}
void one_off_by_a_quarter(const Call& given, runtime::StreamView& stream) {
  exact(given, stream);
  given.c[7] += 0.25f;
}
void one_nan(const Call& given, runtime::StreamView& stream) {
  exact(given, stream);
  given.c[3] = std::numeric_limits<float>::quiet_NaN();
}
void last_row_never_written(const Call& call, runtime::StreamView& stream) {
  Call shorter = call;
  --shorter.problem.m;
  exact(shorter, stream);
}
void needs_preparation(const Call& call, runtime::StreamView&) {
  if (!(call.c[0] == 5)) return;  // what prepares_it() left
  device::Stream stream(runtime::Target::cpu);
  exact(call, stream);
}
void prepares_it(const Call& given, runtime::StreamView&) { given.c[0] = 5; }

constexpr std::int64_t kM = 6, kN = 10, kK = 48;

ladder::AnyRung planted(ladder::Launcher launch, ladder::Launcher prepare = nullptr) {
  ladder::AnyRung rung;
  rung.op = "sgemm";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch;
  rung.prepare[static_cast<int>(runtime::Flavour::plain)] = prepare;
  return rung;
}
lab::AccuracyReport report_on(const ladder::AnyRung& rung,
                              const std::string& distribution = "powers_of_two") {
  lab::AccuracyRequest request;
  request.op = &ops::find_operator("sgemm");
  request.rungs = {&rung};
  request.distributions = {distribution};
  request.shapes = {{kM, kN, kK}};
  return lab::accuracy(request);
}
ops::Errors errors_of(ladder::Launcher launch, ladder::Launcher prepare = nullptr) {
  return report_on(planted(launch, prepare)).rows.at(0).points.at(0).errors;
}

sgemm::ProductTruth truth() {
  const auto operands = sgemm::draw_operands("powers_of_two", kM, kN, kK, 1);
  const std::int64_t rows[] = {0, 1, 2, 3, 4, 5};
  return sgemm::product_truth(sgemm::compact(kM, kN, kK), operands, rows);
}

TEST(AccuracyFaults, TheCleanTwinIsExact) {
  EXPECT_EQ(errors_of(exact).frobenius, 0);
  EXPECT_EQ(errors_of(exact).componentwise, 0);
}

TEST(AccuracyFaults, AKnownFactorIsTheRelativeError) {
  double worst = 0;
  const sgemm::ProductTruth t = truth();
  for (std::size_t at = 0; at < t.value.size(); ++at) {
    worst = std::max(worst, 0x1p-9 * std::abs(t.value[at].high) / t.magnitude[at]);
  }
  const ops::Errors errors = errors_of(all_too_large);
  EXPECT_DOUBLE_EQ(errors.frobenius, 0x1p-9);
  EXPECT_DOUBLE_EQ(errors.componentwise, worst);
}

TEST(AccuracyFaults, OneWrongElement) {
  const sgemm::ProductTruth t = truth();
  double squares = 0;
  for (const DoubleDouble& r : t.value) squares += r.high * r.high;
  const ops::Errors errors = errors_of(one_off_by_a_quarter);
  EXPECT_DOUBLE_EQ(errors.frobenius, 0.25 / std::sqrt(squares));
  EXPECT_DOUBLE_EQ(errors.componentwise, 0.25 / t.magnitude[7]);
}

TEST(AccuracyFaults, NanIsInfinitelyWrongAndCounted) {
  const ops::Errors errors = errors_of(one_nan);
  EXPECT_TRUE(std::isinf(errors.frobenius) && std::isinf(errors.componentwise));
  EXPECT_EQ(errors.not_finite, 1u);
}

TEST(AccuracyFaults, WhatWasNeverWrittenIsPoison) {
  EXPECT_EQ(errors_of(last_row_never_written).not_finite, static_cast<std::uint64_t>(kN));
}

TEST(AccuracyFaults, PreparationComesFirst) {
  EXPECT_EQ(errors_of(needs_preparation, prepares_it).frobenius, 0);
  EXPECT_GT(errors_of(needs_preparation).not_finite, 0u);
}

TEST(AccuracyFaults, WorseThanTheRivalIsFound) {
  const lab::AccuracyReport good = report_on(planted(exact));
  EXPECT_EQ(good.rows.at(1).rung, "openblas");
  EXPECT_TRUE(lab::worse_than_rival(good, 1).empty()) << "as good as exact is not worse";

  for (const ladder::Launcher launch : {all_too_large, one_off_by_a_quarter, one_nan}) {
    const auto excesses = lab::worse_than_rival(report_on(planted(launch)), 1e6);
    ASSERT_EQ(excesses.size(), 2u) << "any factor of an exact rival";
    EXPECT_EQ(excesses[0].rung, "planted");
    EXPECT_STREQ(excesses[0].measure->key, "frobenius");
    EXPECT_EQ(excesses[0].of_rival, 0);
  }
  // Where the rival rounds too, the factor decides: 2^-9 is some 2^14 of its errors.
  const lab::AccuracyReport rounded = report_on(planted(all_too_large), "uniform");
  EXPECT_EQ(lab::worse_than_rival(rounded, 1).size(), 2u);
  EXPECT_EQ(lab::worse_than_rival(rounded, 0x1p20).size(), 0u);
}

}  // namespace
}  // namespace warpladder
