// What accuracy prints of a report with more sizes than a line holds, and of what went wrong.

#include "accuracy_tables.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace warpladder::app {
namespace {

lab::AccuracyReport report() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  lab::AccuracyReport r;
  r.op = "sgemm";
  r.distributions = {{"positive", "uniform in [0, 1]"}};
  lab::AccuracyRow rung{"row_07_register_parity", false, "", {}}, rival{"cublas", true, "", {}};
  for (std::int64_t k = 16; k <= 65536; k *= 2) {
    r.problems.push_back({"positive", {256, 256, k}});
    r.judged_in_part.emplace_back(k == 65536 ? "130 of 256 rows of C" : "");
    rung.points.push_back({"", "", {1.25e-7, 2e-6, 0}});
    rival.points.push_back({"", "", {0, 0.5e-100, 0}});
  }
  rung.points[1] = {"it accepts only others", "", {}};
  rung.points[2] = {"", "", {kInfinity, kInfinity, 9}};
  rung.points[3] = {"", "a race", {kInfinity, kInfinity, 0}};
  r.rows = {rung, {"row_00_serial", false, "a host function", {}}, rival};
  return r;
}

TEST(AccuracyTables, FitInto100Columns) {
  const std::vector<AccuracySection> sections = sections_of(report());
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].title, "sgemm at m=256, n=256, positive: uniform in [0, 1]");
  ASSERT_EQ(sections[0].tables.size(), 4u) << "two of each measure";
  for (const TextTable& table : sections[0].tables) {
    std::istringstream lines(table.render({.style = Style::boxed}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
  }
  EXPECT_NE(sections[0].tables[1].render({}).find(" k=65536 |"), std::string::npos);
}

TEST(AccuracyTables, ShowWhatIsNoNumber) {
  const std::string table = sections_of(report())[0].tables[0].render({});
  EXPECT_NE(table.find("| row_07_register_parity | 1.2e-07 |    – |    ∞ |     ∞ | 1.2e-07 |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| cublas                 |       0 |"), std::string::npos) << table;
  EXPECT_EQ(table.find("row_00_serial"), std::string::npos) << "it is among the remarks";
}

TEST(AccuracyTables, RemarksSayWhy) {
  EXPECT_EQ(remarks_on(report()),
            (std::vector<std::string>{
                "- row_07_register_parity on positive 256x256x64: elements that are infinite or "
                "NaN: 9",
                "- row_07_register_parity on positive 256x256x128: a race",
                "- row_07_register_parity skipped 1 of 13 problems (–): it accepts only others",
                "- row_00_serial skipped: a host function"}));
  const std::string notes = notes_on(report());
  EXPECT_TRUE(notes.ends_with("130 of 256 rows of C at 256x256x65536; elsewhere every element."));
}

TEST(AccuracyTables, ExcessesBesideTheRival) {
  const std::vector<lab::Excess> excesses = lab::worse_than_rival(report(), 1);
  EXPECT_EQ(excesses.size(), 2 * 12u) << "all but the one that was skipped";
  const std::string table = table_of(excesses, report()).render({});
  EXPECT_NE(table.find("| positive     | 256x256x16    | frobenius     | 1.2e-07 |"),
            std::string::npos)
      << table;
}

}  // namespace
}  // namespace warpladder::app
