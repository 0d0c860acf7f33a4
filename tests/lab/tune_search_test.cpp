#include "lab/tune_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace warpladder::lab {
namespace {

// Times that are made up: of each candidate a median, and a noise that swings around it.
class MadeUpRacer : public Racer {
 public:
  explicit MadeUpRacer(std::vector<double> times_s, double noise = 0.001)
      : times_s_(std::move(times_s)), noise_(noise) {}

  std::string judge(std::size_t candidate, double& worst_error_over_bound) override {
    judged.push_back(candidate);
    clock_s += judge_s;
    worst_error_over_bound = wrong.contains(candidate) ? 2 : 0.5;
    return wrong.contains(candidate) ? "element (0, 0) is 1, but must be 2" : "";
  }
  double sample(std::size_t candidate) override {
    if (sampled.size() == killed_at) throw std::runtime_error("killed");
    sampled.push_back(candidate);
    constexpr double kSwing[] = {0, 1, -1, 0.5, -0.5};
    const double taken = times_s_[candidate] * (1 + noise_ * kSwing[sampled.size() % 5]);
    clock_s += taken;
    return taken;
  }
  double now_s() override { return clock_s; }
  std::size_t samples_of(std::size_t candidate) const {
    return static_cast<std::size_t>(std::ranges::count(sampled, candidate));
  }

  std::set<std::size_t> wrong;
  std::size_t killed_at = ~std::size_t{0};
  double clock_s = 0, judge_s = 0;
  std::vector<std::size_t> judged, sampled;

 private:
  std::vector<double> times_s_;
  double noise_;
};

std::vector<Candidate> candidates_of(std::size_t count) {
  Candidate candidate;
  candidate.estimate_s = 1;
  return std::vector<Candidate>(count, candidate);
}
constexpr SearchRule kRule{.most_samples = 10};

TEST(TuneSearch, FindsTheFastestAndBeginsWithTodays) {
  MadeUpRacer racer({3, 1, 2, 4});
  const SearchResult found = search(candidates_of(4), 2, racer, kRule);
  EXPECT_EQ(found.best, 1u);
  EXPECT_TRUE(found.is_complete);
  EXPECT_EQ(racer.judged.front(), 2u) << "the first bound is that of today's configuration";
  EXPECT_NEAR(found.over_today.value, 2, 0.01);
  EXPECT_GT(found.over_today.low, 1.9);
}

TEST(TuneSearch, TakesTheModelsFavouritesFirst) {
  std::vector<Candidate> candidates = candidates_of(4);
  for (std::size_t i = 0; i < 4; ++i) candidates[i].estimate_s = 4.0 - static_cast<double>(i);
  MadeUpRacer racer({1, 1, 1, 1});
  search(candidates, 1, racer, kRule);
  EXPECT_EQ(racer.judged, (std::vector<std::size_t>{1, 3, 2, 0}));
}

TEST(TuneSearch, StopsHopelessOnesTheEarlierTheSlowerTheyAre) {
  MadeUpRacer racer({1, 2, 1.2, 1.08, 1.02});
  const SearchResult found = search(candidates_of(5), 0, racer, kRule);
  const auto fate = [&](std::size_t i) { return found.candidates[i].fate; };
  EXPECT_EQ(fate(1), Fate::stopped);
  EXPECT_EQ(found.candidates[1].samples_s.size(), 1u);
  EXPECT_EQ(fate(2), Fate::stopped);
  EXPECT_EQ(found.candidates[2].samples_s.size(), 3u);
  EXPECT_EQ(fate(3), Fate::stopped);
  EXPECT_EQ(found.candidates[3].samples_s.size(), 5u);
  EXPECT_EQ(fate(4), Fate::timed);
  EXPECT_GT(found.saved_s, 0);
  EXPECT_EQ(found.best, 0u);
}

TEST(TuneSearch, PrunesWhatCannotWinAndSaysWhatThatSaved) {
  std::vector<Candidate> candidates = candidates_of(3);
  candidates[1].bound_s = 1.5;
  candidates[2].bound_s = 0.5;
  MadeUpRacer racer({1, 0.1, 0.7});  // the second would break its bound: it is not even judged
  const SearchResult found = search(candidates, 0, racer, kRule);
  EXPECT_EQ(found.candidates[1].fate, Fate::pruned);
  EXPECT_EQ(racer.samples_of(1), 0u);
  EXPECT_EQ(racer.judged, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(found.best, 2u);
  EXPECT_GE(found.saved_s, 5 * 1.5) << "as many samples as the others, at its bound";
}

TEST(TuneSearch, NeverTimesAWrongResult) {
  MadeUpRacer racer({1, 0.1, 0.9});
  racer.wrong = {1};
  const SearchResult found = search(candidates_of(3), 0, racer, kRule);
  EXPECT_EQ(found.candidates[1].fate, Fate::wrong);
  EXPECT_EQ(found.candidates[1].why, "element (0, 0) is 1, but must be 2");
  EXPECT_EQ(found.candidates[1].worst_error_over_bound, 2);
  EXPECT_EQ(racer.samples_of(1), 0u);
  EXPECT_EQ(found.best, 2u);
  racer.wrong = {0, 1, 2};
  const SearchResult none = search(candidates_of(3), 0, racer, kRule);
  EXPECT_FALSE(none.any_timed || none.is_complete);
}

TEST(TuneSearch, LeavesOutWhatTheMachineCannotRun) {
  std::vector<Candidate> candidates = candidates_of(2);
  candidates[1].cannot_run = "registers run out";
  MadeUpRacer racer({1, 0.1});
  const SearchResult found = search(candidates, 0, racer, kRule);
  EXPECT_EQ(found.candidates[1].fate, Fate::cannot_run);
  EXPECT_EQ(found.candidates[1].why, "registers run out");
  EXPECT_EQ(racer.judged, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(found.is_complete);
}

TEST(TuneSearch, RacesTiesInTurns) {
  MadeUpRacer racer({1, 0.98, 0.985, 1.5});
  const SearchResult found = search(candidates_of(4), 0, racer, kRule);
  const std::size_t turns = kRule.race_samples;
  for (std::size_t i : {0u, 1u, 2u}) {
    EXPECT_EQ(found.candidates[i].race_samples_s.size(), turns) << i;
  }
  EXPECT_TRUE(found.candidates[3].race_samples_s.empty());
  const std::vector<std::size_t> last(racer.sampled.end() - 6, racer.sampled.end());
  EXPECT_EQ(last, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(found.best, 1u);
  EXPECT_NEAR(found.over_today.value, 1 / 0.98, 0.003);
}

TEST(TuneSearch, LeavesATieWithTodays) {
  MadeUpRacer racer({1, 0.999, 1.001}, 0.02);
  const SearchResult found = search(candidates_of(3), 0, racer, kRule);
  EXPECT_EQ(found.best, 0u) << "a thousandth is less than the noise";
  EXPECT_EQ(found.over_today.value, 1);
}

TEST(TuneSearch, GoesOnAfterItWasKilled) {
  const std::vector<double> times{1, 1.3, 0.8, 0.9, 2};
  MadeUpRacer whole(times);
  const std::size_t expected = search(candidates_of(5), 0, whole, kRule).best;
  for (std::size_t killed_at = 0; killed_at < whole.sampled.size(); ++killed_at) {
    std::map<std::size_t, CandidateResult> known;
    const auto keep = [&](std::size_t i, const CandidateResult& result) { known[i] = result; };
    MadeUpRacer first(times);
    first.killed_at = killed_at;
    EXPECT_THROW(search(candidates_of(5), 0, first, kRule, {}, keep), std::runtime_error);
    MadeUpRacer second(times);
    const auto before = known;
    const SearchResult found = search(candidates_of(5), 0, second, kRule, known, keep);
    EXPECT_EQ(found.best, expected) << killed_at;
    EXPECT_TRUE(found.is_complete);
    for (const auto& [i, result] : before) {
      EXPECT_EQ(std::ranges::count(second.judged, i), 0) << i << " was known";
      EXPECT_EQ(found.candidates[i].samples_s, result.samples_s);
    }
    EXPECT_EQ(known.size(), 5u);
  }
}

TEST(TuneSearch, KeepsItsBudgetButTimesTodaysInAnyCase) {
  MadeUpRacer racer({1, 0.9, 0.8});
  racer.judge_s = 100;
  SearchRule rule = kRule;
  rule.budget_s = 150;
  const SearchResult found = search(candidates_of(3), 0, racer, rule);
  EXPECT_FALSE(found.is_complete);
  EXPECT_EQ(found.candidates[1].fate, Fate::timed);
  EXPECT_EQ(found.candidates[2].fate, Fate::not_reached);
  EXPECT_EQ(found.best, 1u) << "of those that it lasted for";
  rule.budget_s = 1e-9;
  MadeUpRacer hurried({1, 0.9, 0.8});
  const SearchResult one = search(candidates_of(3), 0, hurried, rule);
  EXPECT_TRUE(one.any_timed);
  EXPECT_EQ(one.best, 0u);
}

TEST(TuneSearch, TakesOneSampleWhereSamplesRepeatExactly) {
  const SearchRule exact{.least_samples = 1, .most_samples = 1, .warm_ups = 0, .race_samples = 0};
  MadeUpRacer racer({1, 0.5, 0.5, 1}, 0);
  const SearchResult found = search(candidates_of(4), 0, racer, exact);
  EXPECT_EQ(racer.sampled.size(), 4u);
  EXPECT_EQ(found.best, 1u) << "of equal ones the first";
  EXPECT_EQ(found.over_today.value, 2);
}

TEST(TuneSearch, HopelessIsJudgedByTheFastestSample) {
  EXPECT_FALSE(is_hopeless({1.4}, 1));
  EXPECT_TRUE(is_hopeless({1.6}, 1));
  EXPECT_FALSE(is_hopeless({1.6, 1.6, 1.1}, 1));
  EXPECT_TRUE(is_hopeless({1.2, 1.3, 1.2}, 1));
  EXPECT_FALSE(is_hopeless({1.04, 1.06, 1.07, 1.1, 1.2}, 1));
  EXPECT_TRUE(is_hopeless({1.06, 1.06, 1.07, 1.1, 1.2}, 1));
}

}  // namespace
}  // namespace warpladder::lab
