// tune on the CPU side, with spaces that are made up of other rungs' launches; its journal; the
// file that keeps the winners; the model.

#include "lab/tune.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "lab/tune_journal.hpp"
#include "lab/tune_model.hpp"
#include "lab/tuning_file.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;
using sgemm::Call;

void launch_nothing(const Call&, runtime::StreamView&) {}

ladder::Demand demand(const Call&) {
  return {.ctas = 4, .threads = 256, .registers = 64, .shared_bytes = 1024, .flops = 1e3};
}
ladder::Demand too_large(const Call& call) {
  ladder::Demand d = demand(call);
  d.shared_bytes = 300 << 10;
  return d;
}
ladder::Demand too_long(const Call& call) {
  ladder::Demand d = demand(call);
  d.flops = 1e15;
  return d;
}

// The configurations are rungs, of which each needs less than the one before. Then come one that
// computes nothing, one that is too large, and one whose bound is too high.
ladder::AnySpace made_up_space() {
  ladder::AnySpace space{.op = "sgemm", .rung = "row_01_naive", .accepts = "every problem"};
  space.parameters = {"number"};
  space.today = [](const Call&, const runtime::Machine&) { return 0; };
  space.own = [](const Call&, const runtime::Machine&) { return 1; };
  int number = 0;
  const auto add = [&](const ladder::Launcher& launch, ladder::Erased<ladder::Demand> of) {
    ladder::AnyConfiguration& configuration = space.configurations.emplace_back();
    configuration.values = {number++};
    configuration.launch[static_cast<int>(runtime::Flavour::counted)] = launch;
    configuration.demand = of;
  };
  for (const char* id : {"row_01_naive", "row_02_block_tile", "row_04_vector_load"}) {
    add(ladder::find_rung("sgemm", id).launcher(runtime::Flavour::counted), demand);
  }
  add(launch_nothing, demand);
  const ladder::Launcher naive =
      ladder::find_rung("sgemm", "row_01_naive").launcher(runtime::Flavour::counted);
  add(naive, too_large);
  add(naive, too_long);
  return space;
}

TuneRequest request_of(const ladder::AnySpace& space,
                       const std::vector<std::vector<std::int64_t>>& shapes) {
  TuneRequest request;
  for (const auto& shape : shapes) {
    request.problems.push_back({&space, &ops::find_operator("sgemm"), "row_nn", shape});
  }
  return request;
}

TEST(Tune, RanksByCountsAndJudgesFirst) {
  const ladder::AnySpace space = made_up_space();
  const TuneReport report = tune(request_of(space, {{128, 128, 16}, {128, 256, 8}}));
  ASSERT_EQ(report.problems.size(), 2u);
  for (const TunedProblem& tuned : report.problems) {
    const auto& candidates = tuned.search.candidates;
    EXPECT_EQ(tuned.search.best, 2u) << "tiles in registers ask for least";
    EXPECT_GT(tuned.search.over_today.value, 1);
    EXPECT_EQ(candidates[3].fate, Fate::wrong);
    EXPECT_NE(candidates[3].why, "");
    EXPECT_EQ(candidates[4].fate, Fate::cannot_run);
    EXPECT_NE(candidates[4].why.find("shared memory run out"), std::string::npos);
    EXPECT_EQ(candidates[5].fate, Fate::pruned);
    EXPECT_LE(candidates[2].worst_error_over_bound, 1);
    EXPECT_TRUE(tuned.search.is_complete);
  }
}

// The clock jumps when the first problem's first configuration is done, beyond that problem's
// share.
TEST(Tune, GivesWhatIsLeftOfTheBudgetToWhatWasCutShort) {
  const ladder::AnySpace space = made_up_space();
  TuneRequest request = request_of(space, {{128, 128, 16}, {128, 256, 8}});
  const TuneReport expected = tune(request);
  double now_s = 0;
  request.budget_s = 10;
  request.clock_s = [&] { return now_s; };
  std::vector<std::pair<std::size_t, std::size_t>> met;
  std::vector<std::size_t> done;
  TuneListener listener;
  listener.candidate = [&](std::size_t p, std::size_t i, const CandidateResult&) {
    if (met.empty()) now_s = 6;
    met.emplace_back(p, i);
  };
  listener.problem = [&](std::size_t p, const TunedProblem&) { done.push_back(p); };
  const TuneReport report = tune(request, nullptr, listener);
  EXPECT_EQ(done, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(met.size(), 2 * space.configurations.size()) << "each once";
  EXPECT_EQ(met[1].first, 1u);
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    EXPECT_TRUE(report.problems[p].search.is_complete);
    EXPECT_EQ(report.problems[p].search.best, expected.problems[p].search.best);
  }
  EXPECT_EQ(report.problems[0].search.spent_s, 6);

  now_s = 0, met.clear(), done.clear();
  listener.candidate = [&](std::size_t p, std::size_t i, const CandidateResult&) {
    now_s += 6;
    met.emplace_back(p, i);
  };
  EXPECT_FALSE(tune(request, nullptr, listener).problems[0].search.is_complete);
  EXPECT_EQ(met.size(), 2u) << "today's of each, and no more: nothing is left";
}

TEST(Tune, BeginsWithTheRungsOwnIfAsked) {
  const ladder::AnySpace space = made_up_space();
  TuneRequest request = request_of(space, {{64, 64, 8}});
  std::vector<std::size_t> met;
  TuneListener listener;
  listener.candidate = [&](std::size_t, std::size_t i, const CandidateResult&) {
    met.push_back(i);
  };
  EXPECT_EQ(tune(request, nullptr, listener).problems[0].today, 0u);
  EXPECT_EQ(met.front(), 0u);
  met.clear();
  request.from_own = true;
  EXPECT_EQ(tune(request, nullptr, listener).problems[0].today, 1u);
  EXPECT_EQ(met.front(), 1u);
}

TEST(Tune, SaysWhyAProblemIsNotTuned) {
  ladder::AnySpace space = made_up_space();
  space.accepts = "nothing";
  space.takes = [](const Call&) { return false; };
  const TuneReport report = tune(request_of(space, {{8, 8, 8}}));
  EXPECT_EQ(report.problems[0].skipped, "its space accepts only nothing");
}

class TuneJournals : public testing::Test {
 protected:
  void run(TuneRequest& request, bool resume, std::size_t killed_after = 1000) {
    TuneJournal journal = resume ? TuneJournal::resume(path_, request, origin_)
                                 : TuneJournal::begin(path_, request, origin_);
    std::size_t lines = 0;
    TuneListener listener;
    listener.candidate = [&](std::size_t p, std::size_t i, const CandidateResult& result) {
      if (lines++ == killed_after) throw std::runtime_error("killed");
      journal.add(p, i, result);
    };
    listener.problem = [&](std::size_t p, const TunedProblem& tuned) { journal.add(p, tuned); };
    report_ = tune(request, nullptr, listener);
  }
  std::string refusal(TuneRequest request) {
    try {
      TuneJournal::resume(path_, request, origin_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "";
  }
  std::vector<std::string> lines() const {
    std::ifstream in(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

  ScratchFolder folder_;
  std::string path_ = (folder_.path() / "trials.jsonl").string();
  json origin_{{"commit", "abc"}};
  ladder::AnySpace space_ = made_up_space();
  TuneReport report_;
};

TEST_F(TuneJournals, ResumeAfterAKillAtAnyLine) {
  const std::vector<std::vector<std::int64_t>> shapes{{16, 16, 8}, {32, 16, 8}};
  TuneRequest whole = request_of(space_, shapes);
  run(whole, false);
  const TuneReport expected = report_;
  for (std::size_t killed_after : {0u, 3u, 6u, 11u}) {
    TuneRequest first = request_of(space_, shapes);
    EXPECT_THROW(run(first, false, killed_after), std::runtime_error);
    std::ofstream(path_, std::ios::app) << "{\"problem\": 1, \"confi";  // cut off by the kill
    TuneRequest second = request_of(space_, shapes);
    run(second, true);
    std::size_t known = second.finished.size();
    for (const auto& [p, of_problem] : second.known) known += of_problem.size();
    EXPECT_EQ(known > 0, killed_after > 0);
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      EXPECT_EQ(as_json(second.problems[p], report_.problems[p])["configurations"].dump(),
                as_json(whole.problems[p], expected.problems[p])["configurations"].dump());
      EXPECT_EQ(report_.problems[p].search.best, expected.problems[p].search.best);
    }
    EXPECT_EQ(lines().size(), 1 + 2 * (space_.configurations.size() + 1));
  }
}

TEST_F(TuneJournals, OfAnotherRunStayAsTheyAre) {
  TuneRequest request = request_of(space_, {{16, 16, 8}});
  run(request, false);
  const std::vector<std::string> before = lines();
  EXPECT_NE(refusal(request_of(space_, {{16, 16, 16}})).find("other problems"), std::string::npos);
  origin_["commit"] = "def";
  EXPECT_NE(refusal(request_of(space_, {{16, 16, 8}})).find("another commit"), std::string::npos);
  EXPECT_EQ(lines(), before);
}

TEST_F(TuneJournals, BrokenLinesAreNamed) {
  TuneRequest request = request_of(space_, {{16, 16, 8}});
  run(request, false);
  const std::string head = lines().front();
  const std::pair<const char*, const char*> faults[] = {
      {R"({"problem": 7})", "line 2 has no such problem"},
      {R"({"problem": 0, "configuration": 99, "result": {}})", "has no such configuration"},
      {R"({"problem": 0, "configuration": 0})", "has no result"},
      {R"({"problem": 0, "configuration": 0, "result": {"fate": "lost"}})", "an unknown fate"},
      {R"({"problem": 0, "configuration": 0, "result": {"fate": "timed", )"
       R"("worst_error_over_bound": 0, "samples_s": []}})",
       "has no samples"},
      {R"({"problem": 0, "configuration": 0, "result": {"fate": "timed", )"
       R"("worst_error_over_bound": 0, "samples_s": [-1]}})",
       "not all above 0"},
      {R"({"problem": 0, "today": 0, "best": 0, "races": []})", "was not timed"},
      {R"([1])", "has no number problem"}};
  for (const auto& [line, sentence] : faults) {
    std::ofstream(path_) << head << "\n" << line << "\n";
    const std::string said = refusal(request_of(space_, {{16, 16, 8}}));
    EXPECT_NE(said.find(sentence), std::string::npos) << line << "\n" << said;
  }
}

TEST(TuningFile, TakesWinnersAndKeepsTheRest) {
  const ladder::AnySpace space = made_up_space();
  const TuneRequest request = request_of(space, {{16, 16, 8}, {32, 16, 8}});
  const TuneReport report = tune(request);
  const json origin{{"commit", "abc"}, {"os", "left out"}};
  const json fresh = with_winners("", "F", request, report, "sm_90", origin);
  EXPECT_EQ(fresh["architecture"], "sm_90");
  EXPECT_EQ(fresh["operator"], "sgemm");
  const json& of_rung = fresh["configurations"]["row_01_naive"];
  EXPECT_EQ(of_rung["runs"], (json{{{"commit", "abc"}}}));
  ASSERT_EQ(of_rung["shapes"].size(), 2u);
  EXPECT_EQ(of_rung["shapes"][1]["run"], 0u);
  EXPECT_EQ(of_rung["shapes"][0]["shape"], (json{16, 16, 8}));
  EXPECT_EQ(of_rung["shapes"][0]["configuration"], as_json(space, report.problems[0].search.best));

  json before = fresh;
  before["model"] = {{"launch_s", 1e-6}};
  before["configurations"]["row_01_naive"]["shapes"][1]["median_s"] = 1;
  before["configurations"]["other"] = {{"shapes", json::array()}};
  const json after = with_winners(before.dump(), "F", request, report, "sm_90", origin);
  EXPECT_EQ(after["model"], before["model"]);
  EXPECT_EQ(after["configurations"]["other"], before["configurations"]["other"]);
  EXPECT_EQ(after["configurations"]["row_01_naive"], of_rung);
}

TEST(TuningFile, SaysOfWhichRunEachShapeIs) {
  const ladder::AnySpace space = made_up_space();
  const auto with = [&](const json& before, const std::vector<std::vector<std::int64_t>>& shapes,
                        const char* commit) {
    const TuneRequest request = request_of(space, shapes);
    const std::string contents = before.is_null() ? "" : before.dump();
    return with_winners(contents, "F", request, tune(request), "sm_90", {{"commit", commit}});
  };
  const auto commits = [](const json& file) {
    const json& of_rung = file["configurations"]["row_01_naive"];
    std::vector<std::string> found;
    for (const json& entry : of_rung["shapes"]) {
      found.push_back(of_rung["runs"][entry["run"].get<std::size_t>()]["commit"]);
    }
    found.push_back(std::to_string(of_rung["runs"].size()));
    return found;
  };
  using Texts = std::vector<std::string>;
  const json first = with(nullptr, {{16, 16, 8}, {32, 16, 8}}, "abc");
  const json second = with(first, {{32, 16, 8}, {8, 16, 8}}, "def");
  EXPECT_EQ(commits(second), (Texts{"abc", "def", "def", "2"}));
  const json third = with(second, {{16, 16, 8}}, "012");
  EXPECT_EQ(commits(third), (Texts{"012", "def", "def", "2"})) << "abc is of nothing any more";
}

TEST(TuningFile, RefusesWhatIsNoneOrOfAnotherMachine) {
  const ladder::AnySpace space = made_up_space();
  const TuneRequest request = request_of(space, {{16, 16, 8}});
  const auto refusal = [&](const char* contents) -> std::string {
    try {
      with_winners(contents, "F", request, {}, "sm_90", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("{}"), "F is no tuning file: it has no architecture");
  EXPECT_EQ(refusal("[1]"), "F is no tuning file: it has no architecture");
  EXPECT_NE(refusal("nonsense").find("F"), std::string::npos);
  EXPECT_EQ(refusal(R"({"architecture": "sm_80", "operator": "sgemm"})"),
            "F is of the architecture 'sm_80', not sm_90");
  EXPECT_EQ(refusal(R"({"architecture": "sm_90", "operator": "sgemm", "configurations": 1})"),
            "F: configurations is no object");
  EXPECT_EQ(
      refusal(R"({"architecture": "sm_90", "operator": "sgemm", "configurations": {"a": 1}})"),
      "F: 'a' is no object");
}

TEST(TuneModel, CountsWavesBytesAndResidentCtas) {
  const runtime::Machine machine;  // 132 multiprocessors
  ladder::Demand d{.ctas = 133, .threads = 256, .registers = 128, .shared_bytes = 16 << 10};
  d.flops = 1e6;
  const double peak = machine.fp32_flops_per_s;
  const Expectation e = expect(d, peak, machine);
  EXPECT_EQ(e.occupancy.blocks, 2u) << "65,536 registers hold two CTAs";
  EXPECT_EQ(e.ctas_of_busiest, 2);
  EXPECT_DOUBLE_EQ(e.candidate.bound_s, 2 * 1e6 * 132 / peak);
  EXPECT_EQ(e.candidate.cannot_run, "");
  d.ctas = 132;
  EXPECT_DOUBLE_EQ(expect(d, peak, machine).candidate.bound_s, 1e6 * 132 / peak);
  d.threads = 64;  // two warps leave three quarters of the issue slots empty
  EXPECT_DOUBLE_EQ(expect(d, peak, machine).candidate.estimate_s, 4 * 1e6 * 132 / peak);
  d.bytes = 1e9;
  const double clock = peak / (132 * 256);
  EXPECT_DOUBLE_EQ(expect(d, peak, machine).candidate.bound_s, 1e9 / (64 * clock));
  runtime::Machine small = machine;
  small.shared_bytes_per_block = 8 << 10;
  EXPECT_NE(expect(d, peak, small).candidate.cannot_run, "");
}

TEST(TuneModel, CostIsThatOfTheBusiestUnit) {
  const runtime::Machine machine;
  const ladder::Demand whole_wave{.ctas = 132}, half_wave{.ctas = 66};
  ladder::Totals counts{.fmas = 1000000};
  const double multiply_s = cost_of(counts, whole_wave, machine.fp32_flops_per_s, machine);
  EXPECT_DOUBLE_EQ(multiply_s, 2e6 / machine.fp32_flops_per_s);
  EXPECT_DOUBLE_EQ(cost_of(counts, half_wave, machine.fp32_flops_per_s, machine), 2 * multiply_s);
  counts.shared_load_wavefronts = 1000000;
  EXPECT_GT(cost_of(counts, whole_wave, machine.fp32_flops_per_s, machine), multiply_s);
}

}  // namespace
}  // namespace warpladder::lab
