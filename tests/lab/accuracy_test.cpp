#include "lab/accuracy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "lab/accuracy_picture.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::lab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

AccuracyPoint point(double frobenius, double componentwise, std::uint64_t not_finite = 0) {
  return {"", "", {frobenius, componentwise, not_finite}};
}

// Two distributions at k = 64 and 16; a good rung, one alike, a bad one, and a rival.
AccuracyReport report() {
  AccuracyReport r;
  r.op = "sgemm";
  r.distributions = {{"uniform", "in [-1, 1]"}, {"identity", "exact"}};
  for (const ops::Distribution& d : r.distributions) {
    for (const std::int64_t k : {64, 16}) r.problems.push_back({d.name, {8, 4, k}});
  }
  r.judged_in_part.resize(4);
  const std::vector<AccuracyPoint> good{point(2e-7, 1e-7), point(1e-7, 1e-7), point(0, 0),
                                        point(0, 0)};
  r.rows = {{"good", false, "", good},
            {"alike", false, "", good},
            {"bad",
             false,
             "",
             {point(4e-7, 1e-7),
              {"only others", "", {}},
              point(kInfinity, kInfinity, 3),
              point(1e-9, 0)}},
            {"absent", false, "a GPU kernel only", {}},
            {"rival", true, "", good}};
  return r;
}

TEST(AccuracyGroups, RunAlongTheLastSize) {
  AccuracyReport r = report();
  r.problems.push_back({"uniform", {9, 4, 16}});
  const std::vector<AccuracyGroup> groups = groups_of(r);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].distribution->name, "uniform");
  EXPECT_EQ(groups[0].other_sizes, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(groups[0].problems, (std::vector<std::size_t>{1, 0})) << "k = 16 comes first";
  EXPECT_EQ(groups[1].problems, (std::vector<std::size_t>{4}));
  EXPECT_EQ(groups[2].distribution->name, "identity");
}

TEST(WorseThanRival, ListsEachMeasureThatExceeds) {
  std::vector<std::string> found;
  for (const Excess& e : worse_than_rival(report(), 1)) {
    found.push_back(e.rung + " " + std::to_string(e.problem) + " " + e.measure->key);
  }
  EXPECT_EQ(found, (std::vector<std::string>{"bad 0 frobenius", "bad 2 frobenius",
                                             "bad 2 componentwise", "bad 3 frobenius"}));
  EXPECT_EQ(worse_than_rival(report(), 2.5).size(), 3u) << "4e-7 is within 2.5 × 2e-7";
  EXPECT_EQ(worse_than_rival(report(), 1e30).size(), 3u) << "no factor of 0 is enough";
}

TEST(WorseThanRival, SaysNothingWithoutOne) {
  AccuracyReport r = report();
  r.rows.back().points.clear();
  r.rows.back().skipped = "no such library";
  EXPECT_TRUE(worse_than_rival(r, 1).empty());
  r.rows.pop_back();
  EXPECT_TRUE(worse_than_rival(r, 1).empty());
}

TEST(Accuracy, RunsWhatCanRunAndSaysWhatCannot) {
  ladder::AnyRung nowhere, choosy;
  nowhere.id = "nowhere";
  choosy.id = "choosy";
  choosy.accepts = "nothing";
  choosy.takes = [](const sgemm::Call&) { return false; };
  choosy.launch[static_cast<int>(runtime::Flavour::plain)] = [](const sgemm::Call&,
                                                                runtime::StreamView&) {};
  AccuracyRequest request;
  request.op = &ops::find_operator("sgemm");
  request.rungs = {&nowhere, &choosy, &ladder::find_rung("sgemm", "row_01_naive")};
  request.distributions = {"positive", "uniform"};
  request.shapes = {{5, 6, 7}, {8, 9, 10}};
  const AccuracyReport r = accuracy(request);
  ASSERT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.rows[0].skipped, "a GPU kernel only");
  EXPECT_TRUE(r.rows[0].points.empty());
  EXPECT_EQ(r.rows[1].points.at(3).skipped, "it accepts only nothing");
  EXPECT_EQ(r.rows[3].rung, "openblas");
  EXPECT_TRUE(r.libraries.contains("OpenBLAS"));
  EXPECT_EQ(r.problems.at(2).distribution, "uniform");
  for (const std::size_t row : {2, 3}) {
    ASSERT_EQ(r.rows[row].points.size(), 4u);
    for (const AccuracyPoint& p : r.rows[row].points) {
      EXPECT_GT(p.errors.frobenius, 0);
      EXPECT_LT(p.errors.frobenius, 1e-6);
    }
  }
}

TEST(Accuracy, RunsNothingForARivalAlone) {
  ladder::AnyRung nowhere;
  nowhere.id = "nowhere";
  AccuracyRequest request;
  request.op = &ops::find_operator("sgemm");
  request.rungs = {&nowhere};
  request.distributions = {"uniform"};
  request.shapes = {{5, 6, 7}};
  const AccuracyReport r = accuracy(request);
  ASSERT_EQ(r.rows.size(), 2u);
  EXPECT_EQ(r.rows[0].skipped, "a GPU kernel only");
  EXPECT_TRUE(r.rows[1].points.empty());
}

TEST(Accuracy, Refuses) {
  AccuracyRequest request;
  request.op = &ops::find_operator("sgemm");
  request.distributions = {"gamma"};
  EXPECT_THROW(accuracy(request), Error);
  request.distributions = {"uniform"};
  request.shapes = {{4, 4, 0}};
  EXPECT_THROW(accuracy(request), Error);
}

TEST(AccuracyPicture, DrawsALineForEachThatDiffers) {
  const std::string picture = svg(report());
  EXPECT_EQ(picture, svg(report()));
  EXPECT_EQ(count(picture, "<title>good and 1 alike</title>"), 4u) << "in each of four panels";
  EXPECT_EQ(count(picture, "<title>bad</title>"), 4u);
  EXPECT_EQ(count(picture, "<title>rival</title>"), 4u);
  EXPECT_EQ(count(picture, "absent"), 0u);
  EXPECT_EQ(count(picture, ">0</text>"), 2u) << "of identity's panels";
  EXPECT_EQ(count(picture, ">∞</text>"), 2u);
  EXPECT_EQ(count(picture, "nan"), 0u);
  EXPECT_EQ(count(picture, "inf"), 0u);
}

TEST(AccuracyPicture, HoldsASinglePoint) {
  AccuracyReport r = report();
  r.problems.resize(1);
  for (AccuracyRow& row : r.rows) row.points.resize(std::min<std::size_t>(row.points.size(), 1));
  r.distributions.resize(1);
  const std::string picture = svg(r);
  EXPECT_EQ(count(picture, "nan"), 0u);
  EXPECT_EQ(count(picture, "<circle"), 6u);
}

}  // namespace
}  // namespace warpladder::lab
