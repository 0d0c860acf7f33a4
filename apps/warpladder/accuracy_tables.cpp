#include "accuracy_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/axes.hpp"

namespace warpladder::app {
namespace {

using lab::AccuracyPoint;
using lab::AccuracyReport;
using lab::AccuracyRow;

constexpr std::size_t kMostColumns = 7;  // beside the name, within 100 columns

std::string error_text(double error) {
  if (error == 0) return "0";
  return std::isfinite(error) ? fmt::format("{:.1e}", error) : "∞";
}

Cell cell_of(const AccuracyPoint& point, const lab::ErrorMeasure& measure) {
  if (!point.skipped.empty()) return {"–", Emphasis::dim};
  const double error = point.errors.*measure.value;
  return {error_text(error), std::isfinite(error) ? Emphasis::none : Emphasis::bad};
}

std::string shape_text(const std::vector<std::int64_t>& shape, const std::string& variant) {
  return fmt::format("{}{}{}", fmt::join(shape, "x"), variant.empty() ? "" : " ", variant);
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3g}", ratio) : "∞";
}

std::vector<std::string> size_names_of(const AccuracyReport& report) {
  return lab::size_names(ops::find_operator(report.op).shape_form());
}

std::string problem_text(const AccuracyReport& report, std::size_t problem) {
  const ops::AccuracyProblem& p = report.problems[problem];
  return fmt::format("{} {}", p.distribution, shape_text(p.shape, p.variant));
}

TextTable table_of(const AccuracyReport& report, const lab::ErrorMeasure& measure,
                   const std::vector<std::size_t>& problems) {
  const std::string last_size = size_names_of(report).back();
  std::vector<Column> columns{{measure.formula}};
  for (const std::size_t problem : problems) {
    columns.push_back(
        {fmt::format("{}={}", last_size, report.problems[problem].shape.back()), Align::right});
  }
  TextTable table(columns);
  for (const AccuracyRow& row : report.rows) {
    if (row.points.empty()) continue;
    if (row.rival) table.add_rule();
    std::vector<Cell> cells{row.rung};
    for (const std::size_t problem : problems) {
      cells.push_back(cell_of(row.points[problem], measure));
    }
    table.add_row(cells);
  }
  return table;
}

}  // namespace

std::vector<AccuracySection> sections_of(const AccuracyReport& report) {
  std::vector<AccuracySection> sections;
  const std::vector<std::string> names = size_names_of(report);
  for (const lab::AccuracyGroup& group : groups_of(report)) {
    AccuracySection section;
    section.title = report.op;
    for (std::size_t i = 0; i < group.other_sizes.size(); ++i) {
      section.title += fmt::format("{}{}={}", i ? ", " : " at ", names[i], group.other_sizes[i]);
    }
    const std::string& variant = report.problems[group.problems.front()].variant;
    if (!variant.empty()) section.title += ", " + variant;
    section.title += fmt::format(", {}: {}", group.distribution->name, group.distribution->what);
    for (const lab::ErrorMeasure& measure : lab::kErrorMeasures) {
      for (std::size_t at = 0; at < group.problems.size(); at += kMostColumns) {
        const auto first = group.problems.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::min(kMostColumns, group.problems.size() - at);
        section.tables.push_back(
            table_of(report, measure, {first, first + static_cast<std::ptrdiff_t>(count)}));
      }
    }
    sections.push_back(std::move(section));
  }
  return sections;
}

std::vector<std::string> remarks_on(const AccuracyReport& report) {
  std::vector<std::string> lines;
  for (const AccuracyRow& row : report.rows) {
    if (!row.skipped.empty()) {
      lines.push_back(fmt::format("- {} skipped: {}", row.rung, row.skipped));
      continue;
    }
    std::size_t not_taken = 0;
    std::string reason;
    for (std::size_t i = 0; i < row.points.size(); ++i) {
      const AccuracyPoint& point = row.points[i];
      if (!point.skipped.empty()) {
        ++not_taken;
        reason = point.skipped;
      } else if (!point.failure.empty()) {
        lines.push_back(
            fmt::format("- {} on {}: {}", row.rung, problem_text(report, i), point.failure));
      } else if (point.errors.not_finite > 0) {
        lines.push_back(fmt::format("- {} on {}: elements that are infinite or NaN: {}", row.rung,
                                    problem_text(report, i), point.errors.not_finite));
      }
    }
    if (not_taken > 0) {
      lines.push_back(fmt::format("- {} skipped {} of {} problems (–): {}", row.rung, not_taken,
                                  row.points.size(), reason));
    }
  }
  return lines;
}

std::string notes_on(const AccuracyReport& report) {
  std::string text =
      "R is the exact product, summed in twice float64's precision; norms are Frobenius's. An "
      "element with |A||B| = 0, or a product with ‖R‖ = 0, counts 0 if it is exact, else ∞. "
      "Judged: ";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < report.judged_in_part.size(); ++i) {
    if (report.judged_in_part[i].empty()) continue;
    const std::string part =
        fmt::format("{} at {}", report.judged_in_part[i],
                    shape_text(report.problems[i].shape, report.problems[i].variant));
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  }
  if (parts.empty()) return text + "every element.";
  return fmt::format("{}{}; elsewhere every element.", text, fmt::join(parts, ", "));
}

TextTable table_of(const std::vector<lab::Excess>& excesses, const AccuracyReport& report) {
  TextTable table({{"worse"},
                   {"distribution"},
                   {"shape"},
                   {"measure"},
                   {"error", Align::right},
                   {"of the rival", Align::right},
                   {"ratio", Align::right}});
  for (const lab::Excess& e : excesses) {
    const ops::AccuracyProblem& problem = report.problems[e.problem];
    table.add_row({e.rung,
                   problem.distribution,
                   shape_text(problem.shape, problem.variant),
                   e.measure->key,
                   {error_text(e.error), Emphasis::bad},
                   error_text(e.of_rival),
                   ratio_text(e.ratio())});
  }
  return table;
}

TextTable table_of(const std::vector<lab::ShapeErrors>& shapes, const AccuracyReport& report) {
  std::vector<Column> columns{{"rung"}, {"problem"}};
  for (const lab::ErrorMeasure& measure : lab::kErrorMeasures) {
    columns.push_back({fmt::format("{} ÷ the rival's", measure.key), Align::right});
    columns.push_back({"on"});
  }
  TextTable table(std::move(columns));
  for (const lab::ShapeErrors& errors : shapes) {
    std::vector<Cell> cells{errors.rung, shape_text(errors.shape, errors.variant)};
    for (const lab::Excess& e : errors.largest) {
      cells.push_back({ratio_text(e.ratio()), e.ratio() <= 1 ? Emphasis::none : Emphasis::bad});
      cells.emplace_back(report.problems[e.problem].distribution);
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace warpladder::app
