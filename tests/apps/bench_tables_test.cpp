// What bench prints of a report that no machine here could measure: several rivals, of which some
// prepare, beside rungs on a GPU.

#include "bench_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace warpladder::app {
namespace {

lab::BenchRow row_of(const char* rung, double seconds) {
  lab::BenchRow row;
  row.op = "spmv";
  row.rung = rung;
  row.variant = "uniform:rows=1000000,per_row=16";
  row.remark = "1,000,000 rows";
  row.verified = true;
  row.flops = 32e6;
  row.bytes = 140e6;
  row.measure = ops::Measure::bytes;
  for (int i = 0; i < 11; ++i) {
    row.samples_s.push_back(0.9 * seconds * (1 + 1e-4 * i));
    row.cold_samples_s.push_back(seconds * (1 + 1e-4 * i));
  }
  return row;
}

lab::BenchRow rival_of(const char* name, double seconds) {
  lab::BenchRow row = row_of(name, seconds);
  row.rival = true;
  return row;
}

lab::BenchReport report() {
  lab::BenchReport r;
  r.ceilings = {6e13, 4.8e12};
  r.rows = {row_of("06_merge", 50e-6),        row_of("08_prepared", 40e-6),
            rival_of("cusparse", 64e-6),      rival_of("cusparse_alg1_prepared", 48e-6),
            rival_of("cusparse_alg2", 90e-6), rival_of("read", 36e-6)};
  r.rows[1].preparation_samples_s = {9e-6, 9.5e-6, 9.9e-6};
  r.rows[3].preparation_samples_s = {2e-3, 2e-3, 2e-3};
  r.rows[5].probe = true;
  return r;
}

std::string rendered(const Section& section, Style style = Style::markdown) {
  return section.table.render({.style = style});
}

// The line of a table that begins with `rung`.
std::string line_of(const std::string& table, const std::string& rung) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| " + rung + " ")) return line;
  }
  return "";
}

TEST(BenchTables, ComparesWithTheFastestRival) {
  const std::vector<Section> sections = sections_of(report(), runtime::Target::gpu);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].title, "spmv uniform:rows=1000000,per_row=16");
  EXPECT_EQ(sections[0].remark, "1,000,000 rows");
  const std::string table = rendered(sections[0]);
  EXPECT_NE(table.find("of best rival"), table.npos) << table;
  EXPECT_NE(table.find("of read"), table.npos) << table;
  EXPECT_NE(line_of(table, "08_prepared").find(" 120 % |"), std::string::npos) << table;
  EXPECT_NE(line_of(table, "06_merge").find(" 96.0 % |"), std::string::npos) << table;
  EXPECT_NE(line_of(table, "cusparse_alg1_prepared (rival)").find(" 100 % |"), std::string::npos)
      << table;
  EXPECT_EQ(sections[0].lines_below,
            (std::vector<std::string>{"- the best rival is cusparse_alg1_prepared",
                                      "- 08_prepared prepares once: 9.5 µs",
                                      "- cusparse_alg1_prepared prepares once: 2.0 ms"}));
}

TEST(BenchTables, RatesInBothUnits) {
  const std::string table = rendered(sections_of(report(), runtime::Target::gpu)[0]);
  EXPECT_NE(table.find("GFLOP/s"), table.npos);
  const std::string line = line_of(table, "08_prepared");
  EXPECT_NE(line.find(" 3498 |   799.6 |"), std::string::npos) << table;
}

TEST(BenchTables, FitAHundredColumns) {
  lab::BenchReport r = report();
  const auto widest = [&] {
    const std::string table = rendered(sections_of(r, runtime::Target::gpu)[0], Style::boxed);
    EXPECT_NE(table.find("cusparse_alg1_prepared"), table.npos) << "a name is cut:\n" << table;
    std::istringstream lines(table);
    std::size_t columns = 0;
    for (std::string line; std::getline(lines, line);) {
      columns = std::max(columns, display_width(line));
    }
    return columns;
  };
  EXPECT_LE(widest(), 100u);
  for (lab::BenchRow& row : r.rows) row.graph_samples_s = row.samples_s;
  EXPECT_LE(widest(), 100u);
}

TEST(BenchTables, OneRivalIsNamed) {
  lab::BenchReport r = report();
  r.rows.erase(r.rows.begin() + 3, r.rows.begin() + 5);
  const Section section = sections_of(r, runtime::Target::gpu)[0];
  EXPECT_NE(rendered(section).find("of cusparse"), std::string::npos);
  EXPECT_EQ(section.lines_below, (std::vector<std::string>{"- 08_prepared prepares once: 9.5 µs"}));
}

// What cannot be true is no yardstick.
TEST(BenchTables, AnInvalidRivalIsNotTheBest) {
  lab::BenchReport r = report();
  r.rows[3].invalid = "above the ceiling";
  const Section section = sections_of(r, runtime::Target::gpu)[0];
  EXPECT_EQ(section.lines_below[0], "- the best rival is cusparse");
}

}  // namespace
}  // namespace warpladder::app
