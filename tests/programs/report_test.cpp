// The report that a program writes, and its forms for people and machines.

#include "programs/report.hpp"

#include <gtest/gtest.h>

namespace warpladder::programs {
namespace {

const std::string kReport =
    "finding\tshared-memory race\ta.cu\t7\tk<int>\t0,1,0\t3,0,0\treads what thread 4 wrote\n"
    "finding\tshared-memory race\ta.cu\t7\tk<int>\t0,2,0\t5,0,0\treads what thread 6 wrote\n"
    "finding\tdouble free\tb.cu\t9\t\t\t\tcudaFree of 8 bytes\n"
    "note\tb.cu\t3\t4 bytes are never freed\n"
    "kernel\tk<int>\t   5\t   2\t   3\t0\t   0.250\n"
    "launch\tk<int>\t2,1,1\t32,1,1\t128\n"
    "access\ta.cu\t7\t1\t0\t4\t10\t320\t0\t0\t20\t10\t2\t0:0 3:132 \n"
    "event\ta.cu\t8\t64\t2\t1\t0\t0\n";

TEST(Report, OneFaultIsOneFinding) {
  const Outcome o = parse_report(kReport);
  ASSERT_EQ(o.findings.size(), 2u);
  EXPECT_EQ(o.findings[0].times, 2u);
  EXPECT_EQ(text_of(o.findings[0]),
            "block (0,1,0) thread (3,0,0) of k<int>: reads what thread 4 wrote");
  EXPECT_EQ(text_of(o.findings[1]), "cudaFree of 8 bytes");
  ASSERT_EQ(o.notes.size(), 1u);
  EXPECT_EQ(o.notes[0].line, 3);
}

TEST(Report, CountsComeThrough) {
  const Outcome o = parse_report(kReport);
  ASSERT_EQ(o.kernels.size(), 1u);
  EXPECT_EQ(o.kernels[0].launched, 5u);
  EXPECT_EQ(o.kernels[0].looked_at, 2u);
  EXPECT_EQ(o.kernels[0].left_out, 3u);
  ASSERT_EQ(o.counts.size(), 1u);
  EXPECT_EQ(o.counts[0].grid, (runtime::Dim3{2, 1, 1}));
  ASSERT_EQ(o.counts[0].accesses.size(), 1u);
  EXPECT_EQ(o.counts[0].accesses[0].space, executor::MemorySpace::shared);
  EXPECT_EQ(o.counts[0].accesses[0].bank_conflicts(), 10u);
  ASSERT_EQ(o.counts[0].events.size(), 1u);
  EXPECT_EQ(o.counts[0].events[0].fmas, 64u);
}

TEST(Report, CutOffOrDamagedRowsAreLeftOut) {
  const Outcome o = parse_report("finding\tx\nnote\nkernel\tk\t1\nlaunch\naccess\t\n\n\t\n");
  EXPECT_TRUE(o.findings.empty() && o.notes.empty() && o.kernels.empty() && o.counts.empty());
}

TEST(Report, GccRowsNameThePlaceFirst) {
  const std::string text = as_gcc(parse_report(kReport));
  EXPECT_EQ(text.find("a.cu:7:1: error: block (0,1,0) thread (3,0,0) of k<int>: "), 0u);
  EXPECT_NE(text.find("[shared-memory-race]\n"), std::string::npos);
  EXPECT_NE(text.find("b.cu:3:1: note: 4 bytes are never freed\n"), std::string::npos);
}

TEST(Report, SarifHasARuleForEachKindAndAResultForEachFinding) {
  const nlohmann::json sarif = as_sarif(parse_report(kReport), "1.2");
  EXPECT_EQ(sarif["version"], "2.1.0");
  const nlohmann::json& run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 2u);
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][1]["ruleId"], "double-free");
  const nlohmann::json& place = run["results"][1]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "b.cu");
  EXPECT_EQ(place["region"]["startLine"], 9);
}

TEST(Report, TextSaysHowMuchWasLookedAt) {
  Outcome clean = parse_report("kernel\tk\t5\t2\t3\t1\t0.1\n");
  EXPECT_EQ(as_text(clean).find("Nothing found in 2 of 5 launches"), 0u);
  clean.signal = 11;
  clean.status = 139;
  EXPECT_NE(as_text(clean).find("ended by signal 11"), std::string::npos);
  EXPECT_NE(as_text(clean).find(" while launch 5 of k ran.\n"), std::string::npos);
  EXPECT_EQ(as_text(Outcome()), "No kernel was launched.\n");
}

}  // namespace
}  // namespace warpladder::programs
