#include "lab/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace warpladder::lab {
namespace {

// Samples around `median`, `noise` of it to either side at most.
std::vector<double> samples_of(double median, double noise, std::size_t count, std::uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(bits()) / 4294967295.0 * 2 - 1;
    samples.push_back(median * (1 + noise * unit));
  }
  return samples;
}

Recording recording_of(std::size_t shapes, double factor, double noise, std::uint32_t seed) {
  Recording recording;
  recording.head = {{"target", "gpu"},
                    {"commit", "abc"},
                    {"argv", {"warpladder", "bench", "sgemm", "--json", "a.json"}},
                    {"device", {{"gpu", {{"GPU", "H100"}, {"SM clock, at most", "1980 MHz"}}}}}};
  for (std::size_t i = 0; i < shapes; ++i) {
    for (const char* rung : {"row_01_naive", "row_02_block_tile"}) {
      RecordedRow& row = recording.rows.emplace_back();
      row.op = "sgemm";
      row.rung = rung;
      row.variant = "row_nn";
      row.names_variant = true;
      row.shape = {static_cast<std::int64_t>(64 * (i + 1)), 64, 64};
      row.samples_s = samples_of(factor * 1e-5 * (1.0 + static_cast<double>(i)), noise, 25,
                                 seed + static_cast<std::uint32_t>(recording.rows.size()));
      row.clocks = {1980, 1980};
    }
  }
  return recording;
}

// The binomial's tails. With 7 samples the interval of a median runs from the least to the largest
// (2 / 128 of all orders lie outside). With 6 it has no bounds at 97.47 %.
TEST(RatioOfMedians, ByHand) {
  const std::vector<double> seven{1, 2, 3, 4, 5, 6, 7}, ten(7, 10.0);
  const Ratio ratio = ratio_of_medians(ten, seven);
  EXPECT_EQ(ratio.value, 2.5);
  EXPECT_EQ(ratio.low, 10.0 / 7);
  EXPECT_EQ(ratio.high, 10.0);
  const Ratio open = ratio_of_medians(ten, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(open.value, 10 / 3.5);
  EXPECT_EQ(open.low, 0);
  EXPECT_TRUE(std::isinf(open.high));
}

// Whatever the samples' distributions: here one is wide and skewed, and the other narrow.
TEST(RatioOfMedians, HoldsTheTrueRatioInAtLeast95Of100Cases) {
  std::mt19937 bits(7);
  const auto unit = [&] { return (static_cast<double>(bits()) + 0.5) / 4294967296.0; };
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> narrow, skewed;
    for (int i = 0; i < 30; ++i) narrow.push_back(1 + 0.01 * unit());
    for (int i = 0; i < 9; ++i) skewed.push_back(1 - 0.05 * std::log(unit()));
    const Ratio ratio = ratio_of_medians(skewed, narrow);
    const double truth = (1 + 0.05 * std::log(2.0)) / 1.005;
    held += ratio.low <= truth && truth <= ratio.high;
  }
  EXPECT_GE(held, kTrials * 95 / 100);
}

TEST(Change, IsWhereTheIntervalLies) {
  EXPECT_EQ(change_of({1.05, 1.04, 1.06}, 0.03), Change::slow);
  EXPECT_EQ(change_of({1.05, 1.02, 1.06}, 0.03), Change::unsure);
  EXPECT_EQ(change_of({1.00, 0.98, 1.02}, 0.03), Change::same);
  EXPECT_EQ(change_of({0.95, 0.94, 0.96}, 0.03), Change::fast);
  EXPECT_EQ(change_of({0.95, 0.94, 0.98}, 0.03), Change::unsure);
  EXPECT_EQ(change_of({1.5, 0, HUGE_VAL}, 0.03), Change::unsure);
  EXPECT_EQ(change_of({NAN, NAN, NAN}, 0.03), Change::unsure);
}

TEST(Compare, FindsPlantedChanges) {
  const Recording before = recording_of(6, 1, 0.01, 1);
  const auto with = [&](double factor) {
    return compare(before, recording_of(6, factor, 0.01, 1000), 0.03);
  };
  EXPECT_EQ(with(1.05).count(Change::slow), 12u);
  EXPECT_EQ(with(1 / 1.05).count(Change::fast), 12u);
  const Comparison little = with(1.01);
  EXPECT_EQ(little.count(Change::slow) + little.count(Change::fast), 0u);
  EXPECT_EQ(little.rows.size(), 12u);
  EXPECT_EQ(with(1).count(Change::same), 12u);
}

TEST(Compare, PairsShuffledRows) {
  const Recording before = recording_of(6, 1, 0.001, 1);
  Recording after = recording_of(6, 1, 0.001, 50);
  after.rows[3].samples_s = samples_of(1.1 * 2e-5, 0.001, 25, 9);
  const std::string slow = title_of(after.rows[3]);
  std::shuffle(after.rows.begin(), after.rows.end(), std::mt19937(3));
  const Comparison comparison = compare(before, after, 0.03);
  EXPECT_EQ(comparison.count(Change::same), 11u);
  EXPECT_EQ(comparison.rows[0].change, Change::slow) << "the slowest is the first";
  EXPECT_EQ(title_of(*comparison.rows[0].new_row), slow);
  for (const Compared& row : comparison.rows) {
    EXPECT_EQ(title_of(*row.old_row), title_of(*row.new_row));
  }
}

TEST(Compare, NamesWhatItCannotCompare) {
  const Recording before = recording_of(3, 1, 0.001, 1);
  Recording after = recording_of(3, 1, 0.001, 2);
  after.rows[0].rung = "row_77_other";  // one is missing, another is new
  after.rows[1].samples_s.clear();
  after.rows[1].failure = "C(0, 0) is 3";
  after.rows.push_back(after.rows[4]);  // twice
  const Comparison comparison = compare(before, after, 0.03);
  EXPECT_EQ(comparison.rows.size(), 3u);
  EXPECT_EQ(comparison.missing(), 3u);
  std::vector<std::string> reasons;
  for (const NotCompared& row : comparison.not_compared) {
    reasons.push_back(title_of(*row.row) + ": " + row.reason);
  }
  std::ranges::sort(reasons);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{
                "sgemm/row_01_naive row_nn 192x64x64: NEW has 2 rows of it, which cannot be told "
                "apart",
                "sgemm/row_01_naive row_nn 64x64x64: NEW does not have it",
                "sgemm/row_02_block_tile row_nn 64x64x64: wrong in NEW: C(0, 0) is 3",
                "sgemm/row_77_other row_nn 64x64x64: OLD does not have it"}));
}

TEST(Compare, FewSamplesAreUnsure) {
  Recording before = recording_of(1, 1, 0.001, 1), after = recording_of(1, 2, 0.001, 2);
  before.rows[0].samples_s.resize(6);
  const Comparison comparison = compare(before, after, 0.03);
  EXPECT_EQ(comparison.count(Change::slow), 1u);
  EXPECT_EQ(comparison.count(Change::unsure), 1u);
  EXPECT_EQ(comparison.rows[1].remark, "6 samples, an interval takes 7");
}

TEST(Compare, NamesWhatDiffersBetweenTheRecordings) {
  const Recording before = recording_of(1, 1, 0.001, 1);
  Recording after = recording_of(1, 1, 0.001, 2);
  EXPECT_TRUE(compare(before, after, 0.03).differences.empty());
  after.head["device"]["gpu"]["GPU"] = "H200";
  after.head["device"]["gpu"]["SM clock, at most"] = "1755 MHz";
  after.head["commit"] = "def";
  after.head["argv"] = {"warpladder", "bench", "sgemm", "--json=b.json", "--shape", "8x8x8"};
  after.head["libraries"] = {{"cuBLAS", "13.1.0"}};
  after.rows[0].clocks = {1500, 1755};
  const Comparison comparison = compare(before, after, 0.03);
  std::vector<std::string> differences;
  for (const Difference& d : comparison.differences) {
    differences.push_back(d.what + ": " + d.name + ": " + d.old_value + " → " + d.new_value);
  }
  EXPECT_EQ(differences,
            (std::vector<std::string>{
                "versions: commit: abc → def", "machine: GPU: H100 → H200",
                "clocks: SM clock, at most: 1980 MHz → 1755 MHz",
                "command: command: warpladder bench sgemm → warpladder bench sgemm --shape 8x8x8",
                "clocks: SM clock while timed, 1 of 2 rows: 1980 MHz → 1500 to 1755 MHz"}));
  EXPECT_EQ(comparison.lacks, std::vector<std::string>{"OLD does not record: cuBLAS."});
  EXPECT_TRUE(std::ranges::any_of(comparison.rows, [](const Compared& row) {
    return row.remark == "SM clock 1980 → 1500 to 1755 MHz";
  }));
}

// The first recordings of bench named no variants.
TEST(Compare, PairsWithARecordingThatNamesNoVariants) {
  Recording before = recording_of(2, 1, 0.001, 1);
  for (RecordedRow& row : before.rows) {
    row.variant.clear();
    row.names_variant = false;
  }
  const Comparison comparison = compare(before, recording_of(2, 1, 0.001, 2), 0.03);
  EXPECT_EQ(comparison.count(Change::same), 4u);
  EXPECT_EQ(comparison.lacks, std::vector<std::string>{"OLD does not record: variant."});
}

}  // namespace
}  // namespace warpladder::lab
