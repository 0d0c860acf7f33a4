// Who judges the judges: rungs with a planted fault, each of which verify must catch, and their
// clean twin, which must pass.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "lab/verify.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder {
namespace {

using sgemm::Call;

const float& a_of(const Call& call, std::int64_t i, std::int64_t k) {
  const bool by_rows = (call.problem.layout == sgemm::Layout::row_major) != call.problem.trans_a;
  return call.a[by_rows ? i * call.problem.lda + k : i + k * call.problem.lda];
}
const float& b_of(const Call& call, std::int64_t k, std::int64_t j) {
  const bool by_rows = (call.problem.layout == sgemm::Layout::row_major) != call.problem.trans_b;
  return call.b[by_rows ? k * call.problem.ldb + j : k + j * call.problem.ldb];
}
float& c_of(const Call& call, std::int64_t i, std::int64_t j) {
  const bool by_rows = call.problem.layout == sgemm::Layout::row_major;
  return call.c[by_rows ? i * call.problem.ldc + j : i + j * call.problem.ldc];
}
bool empty(const Call& call) { return call.problem.m == 0 || call.problem.n == 0; }

// A correct product, written independently of the rungs and of the reference.
void correct(const Call& call, runtime::StreamView&) {
  const sgemm::Problem& p = call.problem;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0.0f;
      for (std::int64_t k = 0; p.alpha != 0.0f && k < p.k; ++k)
        sum += a_of(call, i, k) * b_of(call, k, j);
      float& c = c_of(call, i, j);
      c = p.alpha * sum + (p.beta == 0.0f ? 0.0f : p.beta * c);
    }
  }
}

void one_wrong_element(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  if (empty(call)) return;
  float& c = c_of(call, call.problem.m - 1, call.problem.n / 2);
  c = std::isfinite(c) ? c + 1.0f + std::abs(c) : 0.0f;  // beyond rounding, whatever its size
}
void a_nan(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  if (!empty(call)) c_of(call, 0, 0) = std::numeric_limits<float>::quiet_NaN();
}
void never_written(const Call& call, runtime::StreamView& stream) {
  if (empty(call)) return;
  const float before = c_of(call, call.problem.m / 2, 0);
  correct(call, stream);
  c_of(call, call.problem.m / 2, 0) = before;
}
void nothing_written(const Call&, runtime::StreamView&) {}
void all_zeros(const Call& call, runtime::StreamView&) {
  for (std::int64_t i = 0; i < call.problem.m; ++i) {
    for (std::int64_t j = 0; j < call.problem.n; ++j) c_of(call, i, j) = 0.0f;
  }
}
void write_behind(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  if (!empty(call)) (&c_of(call, call.problem.m - 1, call.problem.n - 1))[1] = 1.0f;
}
void write_in_front(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  call.c[-1] = 1.0f;
}
void write_into_a_gap(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  const bool by_rows = call.problem.layout == sgemm::Layout::row_major;
  const std::int64_t line = by_rows ? call.problem.n : call.problem.m;
  if (!empty(call) && call.problem.ldc > line) call.c[line] = 7.0f;
}
void change_an_input(const Call& call, runtime::StreamView& stream) {
  correct(call, stream);
  if (call.problem.m && call.problem.k) const_cast<float*>(call.a)[0] += 1.0f;
}
// beta == 0 must not read C: 0 · NaN is NaN.
void reads_c_with_beta_zero(const Call& call, runtime::StreamView&) {
  const sgemm::Problem& p = call.problem;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0.0f;
      for (std::int64_t k = 0; k < p.k; ++k) sum += a_of(call, i, k) * b_of(call, k, j);
      c_of(call, i, j) = p.alpha * sum + p.beta * c_of(call, i, j);
    }
  }
}
// The precision of TF32, which a generous tolerance would let pass.
void ten_bits_of_mantissa(const Call& call, runtime::StreamView&) {
  const sgemm::Problem& p = call.problem;
  const auto rounded = [](float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
  };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0.0f;
      for (std::int64_t k = 0; p.alpha != 0.0f && k < p.k; ++k) {
        sum += rounded(a_of(call, i, k)) * rounded(b_of(call, k, j));
      }
      float& c = c_of(call, i, j);
      c = p.alpha * sum + (p.beta == 0.0f ? 0.0f : p.beta * c);
    }
  }
}

// Of a batch, whose matrices lie in strides or where arrays of pointers say.
Call product_of(const Call& call, std::int64_t i) {
  const sgemm::Batch& batch = call.batch;
  Call product = call;
  product.batch = {};
  product.a = batch.arrays ? batch.a[i] : call.a + i * batch.stride_a;
  product.b = batch.arrays ? batch.b[i] : call.b + i * batch.stride_b;
  product.c = batch.arrays ? batch.c[i] : call.c + i * batch.stride_c;
  return product;
}
void every_product(const Call& call, runtime::StreamView& stream) {
  for (std::int64_t i = 0; i < call.batch.count; ++i) correct(product_of(call, i), stream);
}
void no_last_product(const Call& call, runtime::StreamView& stream) {
  for (std::int64_t i = 0; i + 1 < call.batch.count; ++i) correct(product_of(call, i), stream);
}
void the_next_b(const Call& call, runtime::StreamView& stream) {
  for (std::int64_t i = 0; i < call.batch.count; ++i) {
    Call product = product_of(call, i);
    product.b = product_of(call, (i + 1) % call.batch.count).b;
    correct(product, stream);
  }
}
void behind_each_matrix(const Call& call, runtime::StreamView& stream) {
  every_product(call, stream);
  for (std::int64_t i = 0; i + 1 < call.batch.count; ++i) {
    const Call product = product_of(call, i);
    if (!empty(product)) (&c_of(product, product.problem.m - 1, product.problem.n - 1))[1] = 1.0f;
  }
}

lab::VerifyRow verdict_on(ladder::Launcher launch, ladder::Condition takes = sgemm::is_single) {
  ladder::AnyRung rung;
  rung.op = "sgemm";
  rung.id = "planted";
  rung.takes = takes;
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("sgemm"), &rung}};
  return lab::verify(request).at(0);
}

bool some_failure_says(const lab::VerifyRow& row, const std::string& words) {
  for (const lab::CaseResult& result : row.cases) {
    if (result.failure.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(PlantedFaults, TheCleanTwinPasses) {
  const lab::VerifyRow row = verdict_on(correct);
  EXPECT_GT(row.cases.size(), 40u);
  for (const auto& result : row.cases) EXPECT_EQ(result.failure, "") << result.name;
}

// On every case with an element to get wrong.
TEST(PlantedFaults, OneWrongElement) {
  const lab::VerifyRow row = verdict_on(one_wrong_element);
  for (const auto& result : row.cases) {
    const bool nothing_to_write = result.name.starts_with("0x") || result.name.starts_with("5x0");
    EXPECT_EQ(result.failure.empty(), nothing_to_write) << result.name;
  }
  EXPECT_TRUE(some_failure_says(row, "(1 of "));
}
TEST(PlantedFaults, Nan) { EXPECT_TRUE(some_failure_says(verdict_on(a_nan), "C(0,0) is nan")); }
TEST(PlantedFaults, AnElementNeverWritten) {
  EXPECT_TRUE(some_failure_says(verdict_on(never_written), "was never written (1 of"));
}
TEST(PlantedFaults, NothingWritten) {
  EXPECT_TRUE(some_failure_says(verdict_on(nothing_written), "never written"));
}
TEST(PlantedFaults, AllZeros) { EXPECT_GT(verdict_on(all_zeros).failures(), 30u); }
TEST(PlantedFaults, WriteBehindC) {
  EXPECT_TRUE(some_failure_says(verdict_on(write_behind), "outside C"));
}
TEST(PlantedFaults, WriteInFrontOfC) {
  EXPECT_TRUE(some_failure_says(verdict_on(write_in_front), "outside C"));
}
TEST(PlantedFaults, WriteIntoAGap) {
  EXPECT_TRUE(
      some_failure_says(verdict_on(write_into_a_gap), "a gap between two lines of C changed"));
}
TEST(PlantedFaults, ChangedInput) {
  EXPECT_TRUE(some_failure_says(verdict_on(change_an_input), "the input A changed"));
}
TEST(PlantedFaults, ReadingCWithBetaZero) {
  // The poison itself may come through the arithmetic: either sentence will do.
  EXPECT_GT(verdict_on(reads_c_with_beta_zero).failures(), 20u);
}
TEST(PlantedFaults, TooFewBits) { EXPECT_GT(verdict_on(ten_bits_of_mantissa).failures(), 30u); }

bool has_several_products(const Call& call) { return call.batch.count > 1; }
bool writes_several_products(const Call& call) {
  return has_several_products(call) && !empty(call);
}
bool has_several_b(const Call& call) {
  const bool shared =
      call.batch.arrays ? call.batch.b[0] == call.batch.b[1] : call.batch.stride_b == 0;
  return !shared && call.problem.k > 0;
}

TEST(PlantedFaults, TheCleanTwinOfABatchPasses) {
  const lab::VerifyRow row = verdict_on(every_product, has_several_products);
  EXPECT_GE(row.cases.size(), 20u);
  for (const auto& result : row.cases) EXPECT_EQ(result.failure, "") << result.name;
}
TEST(PlantedFaults, ALastProductNeverWritten) {
  const lab::VerifyRow row = verdict_on(no_last_product, writes_several_products);
  EXPECT_EQ(row.failures(), row.cases.size());
  EXPECT_TRUE(some_failure_says(row, " of product 2 "));
}
TEST(PlantedFaults, TheBOfAnotherProduct) {
  const ladder::Condition takes = [](const Call& call) {
    return writes_several_products(call) && has_several_b(call);
  };
  const lab::VerifyRow row = verdict_on(the_next_b, takes);
  EXPECT_GE(row.cases.size(), 10u);
  EXPECT_EQ(row.failures(), row.cases.size());
}
TEST(PlantedFaults, WriteBetweenTwoMatrices) {
  EXPECT_TRUE(some_failure_says(verdict_on(behind_each_matrix, writes_several_products),
                                "a gap between two lines of C changed"));
}

TEST(ElementJudge, CountsInUnitsOfTheBound) {
  ops::ElementJudge judge([](std::size_t i) { return std::to_string(i); });
  judge.look_at(0, 1.5f, {1.0, 1.0});
  judge.look_at(1, 2.0f, {2.0, 0.0});
  EXPECT_TRUE(judge.verdict().passed());
  EXPECT_DOUBLE_EQ(judge.verdict().worst_error_over_bound, 0.5);
  judge.look_at(2, 2.0f, {2.25, 0.0});  // no error is allowed where the bound is 0
  EXPECT_FALSE(judge.verdict().passed());
}
TEST(ElementJudge, ComparesSpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto passes = [](float actual, double value, double bound) {
    ops::ElementJudge judge([](std::size_t) { return std::string(); });
    judge.look_at(0, actual, {value, bound});
    return judge.verdict().passed();
  };
  EXPECT_TRUE(passes(static_cast<float>(inf), inf, nan));
  EXPECT_FALSE(passes(static_cast<float>(-inf), inf, nan));
  EXPECT_FALSE(passes(3.0f, inf, inf));
  EXPECT_TRUE(passes(static_cast<float>(nan), nan, nan));
  EXPECT_FALSE(passes(1.0f, nan, nan));
  EXPECT_FALSE(passes(static_cast<float>(nan), 1.0, 1.0));
  EXPECT_FALSE(passes(static_cast<float>(inf), 1.0, 1.0));
  EXPECT_TRUE(passes(static_cast<float>(inf), 1e43, 1e38));  // rounds to it
  EXPECT_TRUE(passes(static_cast<float>(-inf), -3.4e38, 1e36));
  EXPECT_FALSE(passes(static_cast<float>(-inf), 1e43, 1e38));
  EXPECT_FALSE(passes(static_cast<float>(inf), 3.4e38, 1e34));
  EXPECT_FALSE(passes(std::numeric_limits<float>::max(), 1e43, 1e38));
  EXPECT_FALSE(passes(ops::poison(), nan, nan));  // NaN is right, but nobody wrote it
}

}  // namespace
}  // namespace warpladder
