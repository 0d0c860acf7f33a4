#include "lab/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::lab {
namespace {

TEST(Statistics, MedianAndQuartilesByHand) {
  const Statistics odd = statistics({5, 1, 3, 2, 4});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.q1, 2);
  EXPECT_EQ(odd.q3, 4);
  EXPECT_DOUBLE_EQ(odd.spread(), 2.0 / 3);
  const Statistics even = statistics({10, 20, 30, 40});
  EXPECT_EQ(even.median, 25);
  EXPECT_EQ(even.q1, 17.5);
  EXPECT_EQ(even.q3, 32.5);
  const Statistics one = statistics({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.q1, 7);
  EXPECT_EQ(one.q3, 7);
}

// The tables of the sign test: with n samples the interval runs from the d-th to the d-th from
// above.
TEST(Statistics, IntervalOfTheMedianByHand) {
  const auto interval = [](int n) {
    std::vector<double> samples;
    for (int i = n; i > 0; --i) samples.push_back(i);
    const Statistics s = statistics(samples);
    return std::pair(s.low, s.high);
  };
  EXPECT_EQ(interval(6), std::pair(1.0, 6.0));  // 2 / 64 lie outside
  EXPECT_EQ(interval(8), std::pair(1.0, 8.0));
  EXPECT_EQ(interval(9), std::pair(2.0, 8.0));  // 2 · 10 / 512
  EXPECT_EQ(interval(20), std::pair(6.0, 15.0));
  EXPECT_EQ(interval(100), std::pair(40.0, 61.0));
  EXPECT_EQ(interval(1000), std::pair(469.0, 532.0));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(interval(5), std::pair(-infinity, infinity));
}

TEST(StoppingRule, TakesFiveSamplesAtLeast) {
  const StoppingRule rule;
  EXPECT_FALSE(rule.is_enough({}));
  EXPECT_FALSE(rule.is_enough({1, 1, 1, 1}));          // 4 s, but only 4
  EXPECT_TRUE(rule.is_enough({1, 1, 1, 1, 1}));        // 5 s
  EXPECT_FALSE(rule.is_enough({.1, .1, .1, .1, .1}));  // too few for an interval
  EXPECT_TRUE(rule.is_enough({.1, .1, .1, .1, .1, .1}));
}

TEST(StoppingRule, StopsWhenTheMedianIsKnown) {
  const StoppingRule rule;
  EXPECT_TRUE(rule.is_enough({1e-3, 1e-3, 1.001e-3, 1.001e-3, 1.002e-3, 1.019e-3}));
  EXPECT_FALSE(rule.is_enough({1e-3, 1e-3, 1.001e-3, 1.001e-3, 1.002e-3, 1.03e-3}));
}

TEST(StoppingRule, ALongSampleIsEnough) {
  EXPECT_TRUE(StoppingRule().is_enough({5.1}));
  EXPECT_FALSE(StoppingRule().is_enough({4.9}));
}

TEST(StoppingRule, HasAnEnd) {
  std::vector<double> wild;
  for (int i = 0; i < 1000; ++i) wild.push_back(i % 2 ? 1e-6 : 2e-6);
  EXPECT_TRUE(StoppingRule().is_enough(wild));
  wild.pop_back();
  EXPECT_FALSE(StoppingRule().is_enough(wild));
}

BenchRequest request_of(const std::string& name, std::vector<std::int64_t> shape) {
  BenchRequest request;
  BenchGroup& group = request.groups.emplace_back();
  for (const Selected& selected : select({name})) {
    group.op = selected.op;
    group.rungs.push_back(selected.rung);
  }
  group.shape = std::move(shape);
  request.executor_threads = 2;
  request.rule.budget_s = 0.02;
  return request;
}

TEST(Bench, VerifiesCountsAndTimesEveryRungAndTheRival) {
  const BenchReport report = bench(request_of("sgemm", {48, 32, 16}));
  const std::vector<BenchRow>& rows = report.rows;
  ASSERT_EQ(rows.size(), ladder::rungs_of("sgemm").size() + 1);
  for (const BenchRow& row : rows) {
    EXPECT_EQ(row.op, "sgemm");
    EXPECT_EQ(row.shape, (std::vector<std::int64_t>{48, 32, 16}));
    EXPECT_EQ(row.flops, 2.0 * 48 * 32 * 16);
    EXPECT_EQ(row.bytes, 4.0 * (48 * 16 + 16 * 32 + 48 * 32));
    if (!row.skipped.empty()) continue;
    EXPECT_TRUE(row.verified) << row.rung << ": " << row.failure;
    EXPECT_LE(row.worst_error_over_bound, 1);
    EXPECT_GE(row.samples_s.size(), 5) << row.rung;
    EXPECT_GT(std::ranges::min(row.samples_s), 0) << row.rung;
  }
  for (const BenchRow& row : rows) {
    const bool on_host = row.rung == "row_00_serial" || row.rival;
    const bool is_taken = row.skipped.find("accepts only") == std::string::npos;
    ASSERT_EQ(row.counts.has_value(), !on_host && is_taken) << row.rung << ' ' << row.skipped;
    if (row.counts) {
      EXPECT_GE(row.counts->fmas + row.counts->tensor_fmas, 48 * 32 * 16) << row.rung;
    }
  }
  EXPECT_TRUE(rows.back().rival);
  EXPECT_EQ(rows.back().rung, "openblas");
  EXPECT_EQ(report.libraries.count("OpenBLAS"), 1);
  EXPECT_TRUE(report.baselines.empty()) << "the serial rung is a row here";
}

void write_zeros(const sgemm::Call& call, runtime::StreamView&) {
  std::fill_n(call.c, call.problem.m * call.problem.n, 0.0f);
}

TEST(Bench, DoesNotTimeWhatIsWrong) {
  ladder::AnyRung zeros;
  zeros.op = "sgemm";
  zeros.id = "zeros";
  zeros.launch[static_cast<int>(runtime::Flavour::plain)] = write_zeros;
  // And one that is wrong in the counted flavour alone.
  ladder::AnyRung half = *select_one("sgemm/row_01_naive").rung;
  half.id = "half";
  half.launch[static_cast<int>(runtime::Flavour::counted)] = write_zeros;
  BenchRequest request = request_of("sgemm/row_01_naive", {20, 20, 20});
  request.groups[0].rungs = {&zeros, &half, request.groups[0].rungs[0]};
  const std::vector<BenchRow> rows = bench(request).rows;
  ASSERT_EQ(rows.size(), 4);
  for (const std::size_t wrong : {0, 1}) {
    EXPECT_FALSE(rows[wrong].verified);
    EXPECT_NE(rows[wrong].failure, "");
    EXPECT_TRUE(rows[wrong].samples_s.empty());
    EXPECT_FALSE(rows[wrong].worst_error_over_bound <= 1);
  }
  EXPECT_TRUE(rows[2].verified);
  EXPECT_FALSE(rows[2].samples_s.empty());
}

// A matrix has no shape; its text stands in the variant's place.
TEST(Bench, TimesWhatIsPreparedApart) {
  BenchRequest request = request_of("spmv", {});
  request.groups[0].variant = "rmat:scale=6,edge=4";
  const std::vector<BenchRow> rows = bench(request).rows;
  ASSERT_EQ(rows.size(), ladder::rungs_of("spmv").size());
  for (const BenchRow& row : rows) {
    EXPECT_TRUE(row.verified) << row.rung << ": " << row.failure;
    EXPECT_TRUE(row.shape.empty());
    EXPECT_EQ(row.variant, "rmat:scale=6,edge=4");
    EXPECT_TRUE(row.remark.starts_with("64 rows, 64 columns, ")) << row.remark;
    EXPECT_FALSE(row.samples_s.empty()) << row.rung;
    const bool prepares{ladder::find_rung("spmv", row.rung).preparation(runtime::Flavour::plain)};
    EXPECT_EQ(row.preparation_samples_s.size(), prepares ? 9u : 0u) << row.rung;
    for (const double seconds : row.preparation_samples_s) EXPECT_GT(seconds, 0) << row.rung;
  }
  EXPECT_TRUE(std::ranges::any_of(
      rows, [](const BenchRow& row) { return !row.preparation_samples_s.empty(); }));
}

TEST(Bench, SaysWhyARungCannotRun) {
  ladder::AnyRung gpu_only;
  gpu_only.op = "sgemm";
  gpu_only.id = "gpu_only";
  BenchRequest request = request_of("sgemm/row_00_serial", {8, 8, 8});
  request.groups[0].rungs = {&gpu_only};
  const std::vector<BenchRow> rows = bench(request).rows;
  EXPECT_EQ(rows[0].skipped, "a GPU kernel only");
  EXPECT_FALSE(rows[0].verified);
  EXPECT_TRUE(rows[0].samples_s.empty());
}

TEST(Bench, TimesRungsAndAllWaysOfCublasOnAGpu) {
  if (const auto there = device::availability(runtime::Target::gpu); !there.available)
    GTEST_SKIP() << there.why_not;
  BenchRequest request = request_of("sgemm", {160, 96, 72});
  request.target = runtime::Target::gpu;
  request.rule = stopping_rule_for(request.target);
  const BenchReport report = bench(request);
  ASSERT_EQ(report.baselines.size(), 1);
  EXPECT_EQ(report.baselines[0].rung, "row_00_serial");
  EXPECT_EQ(report.baselines[0].flops, 2.0 * 512 * 512 * 512);
  EXPECT_GT(report.ceilings.fp32_flops_per_s, 1e13);
  // The read probe is for few rows or columns.
  const std::size_t rivals = ops::rivals_of("sgemm", request.target).size() - 1;
  EXPECT_EQ(rivals, 3);
  ASSERT_EQ(report.rows.size(), ladder::rungs_of("sgemm").size() - 1 + rivals);
  EXPECT_EQ(report.rows.back().rung, "cublas_transposed");
  for (const BenchRow& row : report.rows) {
    if (row.skipped.starts_with("it accepts only")) continue;  // tiny products, or few lines
    EXPECT_TRUE(row.verified) << row.rung << ": " << row.failure << row.skipped;
    EXPECT_EQ(row.invalid, "");
    EXPECT_FALSE(row.counts);
    for (const auto* samples : {&row.samples_s, &row.cold_samples_s}) {
      ASSERT_GE(samples->size(), request.rule.least_samples) << row.rung;
      EXPECT_GT(std::ranges::min(*samples), 0) << row.rung;
      EXPECT_LT(std::ranges::max(*samples), 0.1) << row.rung;
    }
  }
}

TEST(Bench, FlagsWhatNoDeviceCanDo) {
  const device::Ceilings ceilings{1e12, 1e9};
  BenchRow row;
  row.flops = 1e9;
  row.bytes = 1e6;
  EXPECT_EQ(above_ceiling(row, ceilings), "") << "not timed";
  row.samples_s = row.cold_samples_s = {1.1e-3, 1.1e-3, 1.1e-3};
  EXPECT_EQ(above_ceiling(row, ceilings), "");
  row.samples_s = {0.5e-3, 0.5e-3, 1.1e-3};
  EXPECT_EQ(above_ceiling(row, ceilings), "2 TFLOP/s is more than the 1 that this device can do");
  row.samples_s = {1.1e-3};
  row.cold_samples_s = {0.5e-3};
  EXPECT_EQ(above_ceiling(row, ceilings), "2 GB/s is more than the 1 that this device can do");
  row.flops = 0;
  row.cold_samples_s = {1.1e-3};
  row.samples_s = {1e-6};
  EXPECT_EQ(above_ceiling(row, ceilings), "") << "hot bytes may come from a cache";
  EXPECT_EQ(above_ceiling(row, {}), "") << "a ceiling that is not known is none";
}

// Rivals are held to the same truth as the rungs, on the same cases. These are all layouts,
// transposes and leading dimensions, with NaN where BLAS forbids to read.
TEST(Rivals, AreRightOnEveryCaseOfTheirOperator) {
  std::size_t tried = 0;
  for (const auto target : {runtime::Target::cpu, runtime::Target::gpu}) {
    if (!device::availability(target).available) continue;
    device::Stream stream(target);
    for (const auto& op : ops::all_operators()) {
      for (const ops::Rival* rival : ops::rivals_of(op->name(), target)) {
        if (rival->is_probe || (rival->why_not && !rival->why_not().empty())) continue;
        EXPECT_NE(rival->version(), "") << rival->name;
        ++tried;
        for (const ops::Case& c : op->cases()) {
          const auto trial = c.prepare(target);
          if (rival->takes && !rival->takes(trial->call())) continue;
          // CUB's minima and maxima compare, and a NaN gets lost.
          if (rival->name == "cub" && c.name.find("NaN") != c.name.npos) continue;
          trial->expect(rival->arithmetic);
          trial->reset();
          rival->launch(trial->call(), stream);
          stream.synchronize();
          EXPECT_EQ(trial->judge().failure, "") << rival->name << " on " << c.name;
        }
      }
    }
  }
  EXPECT_GE(tried, 1);
}

TEST(OpenBlas, RefusesWhatItsIntegersCannotHold) {
  sgemm::Problem p = sgemm::compact(1, 1, 1);
  p.lda = std::int64_t{1} << 31;
  const float a = 2, b = 3;
  float c = 0;
  const sgemm::Call call{p, &a, &b, &c};
  device::Stream stream(runtime::Target::cpu);
  try {
    ops::rivals_of("sgemm", runtime::Target::cpu)[0]->launch(call, stream);
    FAIL() << "called";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_STREQ(error.what(), "openblas: lda is 2147483648, but it takes at most 2147483647");
  }
}

}  // namespace
}  // namespace warpladder::lab
