#include "lab/accuracy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "executor/fault.hpp"

namespace warpladder::lab {
namespace {

struct Contestant {
  std::size_t row;
  const ladder::AnyRung* rung;  // null of a rival
  const ops::Rival* rival;      // null of a rung
  ladder::Launcher prepare, launch;

  std::string why_not(ladder::AnyCall call) const {
    if (rung) return ladder::why_not(*rung, call);
    return !rival->takes || rival->takes(call) ? "" : "it does not take this problem";
  }
};

AccuracyPoint measure(const Contestant& contestant, ops::AccuracyTrial& trial,
                      device::Stream& stream) {
  AccuracyPoint point;
  point.skipped = contestant.why_not(trial.call());
  if (!point.skipped.empty()) return point;
  trial.reset();
  try {
    if (contestant.prepare) contestant.prepare(trial.call(), stream);
    contestant.launch(trial.call(), stream);
    stream.synchronize();
  } catch (const executor::KernelFault& fault) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    point.failure = fault.what();
    point.errors = {kInfinity, kInfinity, 0};
    return point;
  }
  point.errors = trial.measure();
  return point;
}

std::vector<ops::Distribution> find_distributions(const ops::Operator& op,
                                                  const std::vector<std::string>& names) {
  if (!op.accuracy()) {
    throw_bad_input(fmt::format("{} has no distributions to measure errors on", op.name()));
  }
  const std::vector<ops::Distribution> known = op.accuracy()->distributions();
  std::vector<ops::Distribution> found;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(known, name, &ops::Distribution::name);
    if (at == known.end()) {
      std::vector<std::string> all;
      for (const ops::Distribution& d : known) all.push_back(d.name);
      throw_bad_input(fmt::format("{} has no distribution {}; its distributions are: {}", op.name(),
                                  in_quotes(name, kShownBytes), fmt::join(all, ", ")));
    }
    found.push_back(*at);
  }
  return found;
}

}  // namespace

const ops::Rival* accuracy_rival(const ops::Operator& op, runtime::Target target) {
  const std::vector<const ops::Rival*> rivals = ops::rivals_of(op.name(), target);
  const auto at = std::ranges::find(rivals, false, &ops::Rival::is_probe);
  return at == rivals.end() ? nullptr : *at;
}

AccuracyReport accuracy(const AccuracyRequest& request, const Progress& progress) {
  AccuracyReport report;
  report.op = request.op->name();
  report.distributions = find_distributions(*request.op, request.distributions);
  for (const auto& shape : request.shapes) {
    if (std::ranges::count(shape, 0) == 0) continue;
    throw_bad_input(fmt::format("accuracy of {} at {}: a size of 0 leaves nothing to measure",
                                report.op, fmt::join(shape, "x")));
  }
  for (const ops::Distribution& distribution : report.distributions) {
    for (const auto& shape : request.shapes) {
      report.problems.push_back({distribution.name, shape, request.seed});
    }
  }

  std::vector<Contestant> contestants;
  const auto enter = [&](const Contestant& contestant, const std::string& name,
                         const std::string& why_not) {
    report.rows.push_back({name, contestant.rival != nullptr, why_not, {}});
    if (!why_not.empty()) return;
    contestants.push_back(contestant);
    contestants.back().row = report.rows.size() - 1;
  };
  const runtime::Flavour flavour = flavours_on(request.target, false).front();
  for (const ladder::AnyRung* rung : request.rungs) {
    enter({0, rung, nullptr, rung->preparation(flavour), rung->launcher(flavour)}, rung->id,
          ladder::why_not(*rung, flavour));
  }
  if (const ops::Rival* rival = accuracy_rival(*request.op, request.target)) {
    const std::string why_not = rival->why_not ? rival->why_not() : "";
    enter({0, nullptr, rival, rival->prepare, rival->launch}, rival->name, why_not);
    if (why_not.empty() && rival->version) report.libraries[rival->library] = rival->version();
  }
  if (contestants.empty() || !contestants.front().rung)
    return report;  // a rival alone says nothing

  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;
  for (std::size_t i = 0; i < report.problems.size(); ++i) {
    const ops::AccuracyProblem& problem = report.problems[i];
    const auto tell = [&](const std::string& what, double in_problem) {
      if (!progress) return;
      progress(fmt::format("{} {} {}", what, problem.distribution, fmt::join(problem.shape, "x")),
               (static_cast<double>(i) + in_problem) / static_cast<double>(report.problems.size()));
    };
    tell("the truth about", 0);
    const auto trial = request.op->accuracy()->trial(problem, request.target);
    report.judged_in_part.push_back(trial->judged_in_part());
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      AccuracyRow& row = report.rows[contestants[c].row];
      tell(row.rung, (static_cast<double>(c) + 1) / (static_cast<double>(contestants.size()) + 1));
      row.points.push_back(measure(contestants[c], *trial, stream));
    }
  }
  return report;
}

std::vector<AccuracyGroup> groups_of(const AccuracyReport& report) {
  std::vector<AccuracyGroup> groups;
  for (const ops::Distribution& distribution : report.distributions) {
    const std::size_t first = groups.size();
    for (std::size_t i = 0; i < report.problems.size(); ++i) {
      const ops::AccuracyProblem& problem = report.problems[i];
      if (problem.distribution != distribution.name) continue;
      const std::vector<std::int64_t> others(problem.shape.begin(), problem.shape.end() - 1);
      const auto same = [&](const AccuracyGroup& g) { return g.other_sizes == others; };
      auto group =
          std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(), same);
      if (group == groups.end()) group = groups.insert(group, {&distribution, others, {}});
      group->problems.push_back(i);
    }
  }
  for (AccuracyGroup& group : groups) {
    std::ranges::stable_sort(group.problems, {},
                             [&](std::size_t i) { return report.problems[i].shape.back(); });
  }
  return groups;
}

std::vector<Excess> worse_than_rival(const AccuracyReport& report, double factor) {
  const auto rival = std::ranges::find(report.rows, true, &AccuracyRow::rival);
  if (rival == report.rows.end() || !rival->skipped.empty()) return {};
  std::vector<Excess> list;
  for (const AccuracyRow& row : report.rows) {
    if (row.rival) continue;
    for (std::size_t i = 0; i < row.points.size(); ++i) {
      const AccuracyPoint &own = row.points[i], &other = rival->points[i];
      if (!own.skipped.empty() || !other.skipped.empty()) continue;
      for (const ErrorMeasure& measure : kErrorMeasures) {
        const double error = own.errors.*measure.value, of_rival = other.errors.*measure.value;
        if (!(error <= factor * of_rival)) list.push_back({row.rung, i, &measure, error, of_rival});
      }
    }
  }
  return list;
}

}  // namespace warpladder::lab
