#include "lab/bench_rows.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace warpladder::lab {
namespace {

TEST(BenchRows, AreTheSameReadBack) {
  BenchRow row;
  row.op = "transpose";
  row.rung = "01_naive";
  row.rival = row.probe = row.tensor_cores = row.less_accurate = row.verified = true;
  row.shape = {64, 1};
  row.variant = "plain batch=3";
  row.shape_class = "few";
  row.remark = "remark";
  row.skipped = "skipped";
  row.failure = "failure";
  row.invalid = "invalid";
  row.judged_in_part = "a part";
  row.worst_error_over_bound = std::numeric_limits<double>::infinity();
  row.counts = ladder::Totals{.global_load_sectors = 5, .fmas = 7};
  row.samples_s = {1e-6, 2e-6};
  row.cold_samples_s = {3e-6};
  row.graph_samples_s = {4e-6};
  row.preparation_samples_s = {5e-6};
  row.clocks = {1755, 1980};
  row.flops = 0;
  row.bytes = 512;
  row.measure = ops::Measure::bytes;
  const nlohmann::json written = nlohmann::json::parse(as_json(row).dump());
  const BenchRow back = bench_row_of(parse_bench_row(written, "row"));
  EXPECT_EQ(as_json(back), as_json(row));
  EXPECT_EQ(back.measure, row.measure);
  EXPECT_EQ(back.counts, row.counts);
  EXPECT_EQ(back.worst_error_over_bound, row.worst_error_over_bound);
}

TEST(BenchRows, OfEarlierVersionsKnowTheRivalWithFewerBits) {
  const auto is_less_accurate = [](const char* text) {
    return parse_bench_row(nlohmann::json::parse(text), "row").less_accurate;
  };
  EXPECT_TRUE(is_less_accurate(R"({"op": "sgemm", "rung": "cublas_tf32", "rival": true})"));
  EXPECT_FALSE(is_less_accurate(R"({"op": "sgemm", "rung": "cublas", "rival": true})"));
}

}  // namespace
}  // namespace warpladder::lab
