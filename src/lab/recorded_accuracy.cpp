#include "lab/recorded_accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "ops/lab/operator.hpp"

namespace warpladder::lab {
namespace {

// A hostile recording must not reach code that counts on the operator's sizes.
void require_shape(const RecordedErrors& point, const ops::Operator& op, const std::string& name) {
  const bool is_whole =
      point.shape.size() == op.default_shape().size() &&
      std::ranges::all_of(point.shape, [](std::int64_t size) { return size > 0; });
  if (is_whole) return;
  throw_bad_input(fmt::format("{} holds the shape '{}', which is none of {} with sizes above 0",
                              name, shape_text(point.shape), op.name()));
}

bool is_same(const RecordedErrors& point, const ops::AccuracyProblem& problem) {
  return point.distribution == problem.distribution && point.variant == problem.variant &&
         point.shape == problem.shape;
}

AccuracyRow row_of(const RecordedAccuracy& recorded, const AccuracyReport& report) {
  AccuracyRow row{recorded.rung, recorded.rival, recorded.skipped, {}};
  if (!row.skipped.empty()) return row;
  for (const ops::AccuracyProblem& problem : report.problems) {
    const auto point = std::ranges::find_if(
        recorded.points, [&](const RecordedErrors& p) { return is_same(p, problem); });
    if (point == recorded.points.end()) {
      row.points.push_back({"not recorded", "", {}});
      continue;
    }
    row.points.push_back({point->skipped,
                          point->failure,
                          {point->frobenius, point->componentwise, point->not_finite}});
  }
  return row;
}

// As the operator describes them, in the order given.
std::vector<ops::Distribution> described(const ops::Operator& op,
                                         const std::vector<std::string>& names) {
  std::vector<ops::Distribution> found;
  const std::vector<ops::Distribution> known = op.accuracy()->distributions();
  for (const std::string& name : names) {
    const auto one = std::ranges::find(known, name, &ops::Distribution::name);
    if (one == known.end()) {
      throw_bad_input(fmt::format("--distribution has {}, which is none of {}{}",
                                  in_quotes(name, kShownBytes), op.name(),
                                  did_you_mean(name, names_of(known, &ops::Distribution::name))));
    }
    found.push_back(*one);
  }
  return found;
}

void add_problems(AccuracyReport& report, const Recording& recording, const ops::Operator& op) {
  for (const ops::Distribution& distribution : report.distributions) {
    const std::size_t before = report.problems.size();
    for (const RecordedAccuracy& row : recording.accuracy) {
      for (const RecordedErrors& point : row.points) {
        if (point.distribution != distribution.name) continue;
        require_shape(point, op, recording.name);
        const auto same = [&](const ops::AccuracyProblem& p) { return is_same(point, p); };
        if (std::ranges::any_of(report.problems, same)) continue;
        report.problems.push_back({distribution.name, point.shape, 1, point.variant});
      }
    }
    if (report.problems.size() == before) {
      throw_bad_input(fmt::format("{} holds no errors on the distribution {}", recording.name,
                                  distribution.name));
    }
  }
}

}  // namespace

std::vector<std::string> distributions_in(const Recording& recording) {
  std::vector<std::string> names;
  for (const RecordedAccuracy& row : recording.accuracy) {
    for (const RecordedErrors& point : row.points) {
      if (std::ranges::find(names, point.distribution) == names.end()) {
        names.push_back(point.distribution);
      }
    }
  }
  return names;
}

AccuracyReport accuracy_of(const Recording& recording, const std::vector<std::string>& names,
                           const std::vector<std::string>& distributions) {
  AccuracyReport report;
  report.op = recording.text({"op"});
  if (recording.verb != "accuracy" || report.op.empty()) {
    throw_bad_input(fmt::format("{} is no report of accuracy", recording.name));
  }
  const ops::Operator& op = ops::find_operator(report.op);
  if (!op.accuracy()) throw_bad_input(fmt::format("accuracy does not measure {}", report.op));
  report.distributions = described(op, distributions);
  add_problems(report, recording, op);
  report.judged_in_part.resize(report.problems.size());
  const auto is_named = [&](const std::string& rung) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return name == report.op || name == report.op + "/" + rung;
    });
  };
  for (const std::string& name : names) {
    const bool is_held = std::ranges::any_of(recording.accuracy, [&](const RecordedAccuracy& row) {
      return !row.rival && (name == report.op || name == report.op + "/" + row.rung);
    });
    if (!is_held) {
      throw_bad_input(
          fmt::format("{} holds no errors of {}", recording.name, in_quotes(name, kShownBytes)));
    }
  }
  for (const RecordedAccuracy& row : recording.accuracy) {
    if (row.rival || is_named(row.rung)) report.rows.push_back(row_of(row, report));
  }
  return report;
}

}  // namespace warpladder::lab
