#include "lab/accuracy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "executor/fault.hpp"

namespace warpladder::lab {
namespace {

struct AccuracyContestant {
  std::size_t row;
  const ladder::AnyRung* rung;  // null of a rival
  const ops::Rival* rival;      // null of a rung
  ladder::Launcher prepare, launch;

  std::string why_not(ladder::AnyCall call) const {
    if (rung) return ladder::why_not(*rung, call);
    return !rival->takes || rival->takes(call) ? "" : "it does not take this problem";
  }
};

AccuracyPoint measure(const AccuracyContestant& contestant, ops::AccuracyTrial& trial,
                      device::Stream& stream) {
  AccuracyPoint point;
  point.skipped = contestant.why_not(trial.call());
  if (!point.skipped.empty()) return point;
  if (contestant.rung) {
    trial.provide_workspace(contestant.rung->workspace_for(trial.call(), *stream.machine));
  }
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

// Null if a problem of a file of shapes exceeds memory; `why_not` then says so.
std::unique_ptr<ops::AccuracyTrial> trial_of(const AccuracyRequest& request,
                                             const ops::AccuracyProblem& problem,
                                             std::string& why_not) {
  try {
    return request.op->accuracy()->trial(problem, request.target);
  } catch (const Error& error) {
    if (request.variants.empty() || error.code() != ErrorCode::resource) throw;
    why_not = error.what();
    return nullptr;
  }
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
      throw_bad_input(fmt::format("{} has no distribution {}; its distributions are: {}", op.name(),
                                  in_quotes(name, kShownBytes),
                                  known_names(name, names_of(known, &ops::Distribution::name))));
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
    for (std::size_t i = 0; i < request.shapes.size(); ++i) {
      report.problems.push_back({distribution.name, request.shapes[i], request.seed,
                                 request.variants.empty() ? "" : request.variants[i]});
    }
  }

  std::vector<AccuracyContestant> contestants;
  const auto enter = [&](const AccuracyContestant& contestant, const std::string& name,
                         const std::string& why_not) {
    report.rows.push_back({name, contestant.rival != nullptr, why_not, {}});
    if (!why_not.empty()) return;
    contestants.push_back(contestant);
    contestants.back().row = report.rows.size() - 1;
  };
  const runtime::Flavour flavour = flavour_on(request.target);
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
    std::string no_memory;
    const auto trial = trial_of(request, problem, no_memory);
    if (!trial) {
      report.judged_in_part.emplace_back();
      for (const AccuracyContestant& c : contestants) {
        report.rows[c.row].points.push_back({.skipped = no_memory, .failure = "", .errors = {}});
      }
      continue;
    }
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
      const auto same = [&](const AccuracyGroup& g) {
        return g.other_sizes == others &&
               report.problems[g.problems.front()].variant == problem.variant;
      };
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

double Excess::ratio() const {
  if (error == 0) return 0;
  return of_rival == 0 ? std::numeric_limits<double>::infinity() : error / of_rival;
}

namespace {

// Null unless it ran.
const AccuracyRow* rival_of(const AccuracyReport& report) {
  const auto rival = std::ranges::find(report.rows, true, &AccuracyRow::rival);
  return rival == report.rows.end() || !rival->skipped.empty() ? nullptr : &*rival;
}

// Whether both ran the problem.
bool are_comparable(const AccuracyRow& row, const AccuracyRow& rival, std::size_t problem) {
  return !row.rival && problem < row.points.size() && problem < rival.points.size() &&
         row.points[problem].skipped.empty() && rival.points[problem].skipped.empty();
}

Excess compared(const AccuracyRow& row, const AccuracyRow& rival, std::size_t problem,
                const ErrorMeasure& measure) {
  return {row.rung, problem, &measure, row.points[problem].errors.*measure.value,
          rival.points[problem].errors.*measure.value};
}

}  // namespace

std::vector<Excess> worse_than_rival(const AccuracyReport& report, double factor) {
  const AccuracyRow* const rival = rival_of(report);
  if (!rival) return {};
  std::vector<Excess> list;
  for (const AccuracyRow& row : report.rows) {
    for (std::size_t i = 0; i < report.problems.size(); ++i) {
      if (!are_comparable(row, *rival, i)) continue;
      for (const ErrorMeasure& measure : kErrorMeasures) {
        const Excess e = compared(row, *rival, i, measure);
        if (!(e.error <= factor * e.of_rival)) list.push_back(e);
      }
    }
  }
  return list;
}

std::vector<ShapeErrors> errors_by_shape(const AccuracyReport& report) {
  const AccuracyRow* const rival = rival_of(report);
  if (!rival) return {};
  std::vector<ShapeErrors> list;
  for (const AccuracyRow& row : report.rows) {
    for (std::size_t i = 0; i < report.problems.size(); ++i) {
      if (!are_comparable(row, *rival, i)) continue;
      const ops::AccuracyProblem& problem = report.problems[i];
      const auto is_same = [&](const ShapeErrors& s) {
        return s.rung == row.rung && s.shape == problem.shape && s.variant == problem.variant;
      };
      auto at = std::ranges::find_if(list, is_same);
      if (at == list.end()) {
        at = list.insert(at, {row.rung, problem.variant, problem.shape, {}});
        for (const ErrorMeasure& measure : kErrorMeasures) {
          at->largest.push_back(compared(row, *rival, i, measure));
        }
      }
      for (Excess& largest : at->largest) {
        const Excess e = compared(row, *rival, i, *largest.measure);
        if (e.ratio() > largest.ratio()) largest = e;
      }
    }
  }
  return list;
}

}  // namespace warpladder::lab
