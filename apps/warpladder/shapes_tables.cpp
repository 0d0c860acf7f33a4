#include "shapes_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpladder::app {
namespace {

using lab::ContestantView;
using lab::ShapeResult;
using lab::Speedups;

Cell ratio_cell(double ratio) {
  if (ratio == 0) return "";
  const std::string text = ratio < 0.095 ? fmt::format("{:.2g}", ratio)
                                         : fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : 1);
  return {text + "×", ratio < 1 ? Emphasis::bad : Emphasis::none};
}

std::string share_text(double share) {
  return share == 0 ? "" : fmt::format("{:.0f} %", 100 * share);
}

// Empty columns are left out.
struct Shown {
  bool cold, probe;
};

std::vector<Column> ratio_columns(Shown shown, const char* probe_header, bool means) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& caches) {
    if (!means) return columns.push_back({caches, Align::right});
    columns.push_back({caches + ", mean", Align::right});
    columns.push_back({caches + ", slowest", Align::right});
  };
  add("hot");
  if (shown.cold) add("cold");
  if (shown.probe) columns.push_back({probe_header, Align::right});
  return columns;
}

std::vector<Cell> cells_of(const std::string& name, const Speedups& s, Shown shown) {
  std::vector<Cell> cells{name, std::to_string(s.shapes), ratio_cell(s.hot_mean),
                          ratio_cell(s.hot_least)};
  if (shown.cold) {
    cells.push_back(ratio_cell(s.cold_mean));
    cells.push_back(ratio_cell(s.cold_least));
  }
  if (shown.probe) cells.emplace_back(share_text(s.of_probe_least));
  return cells;
}

Section classes_section(const ContestantView& view, const std::string& op, Shown shown) {
  std::vector<Column> columns{{"class"}, {"shapes", Align::right}};
  const auto more = ratio_columns(shown, "of a read probe", true);
  columns.insert(columns.end(), more.begin(), more.end());
  TextTable table(std::move(columns));
  for (const lab::ClassSpeedups& of_class : view.classes) {
    table.add_row(cells_of(of_class.name, of_class.speedups, shown));
  }
  table.add_rule();
  table.add_row(cells_of("all", view.all, shown));
  return {fmt::format("{}/{} over its fastest rival", op, view.rung), "", std::move(table), {}};
}

Section worst_section(const ContestantView& view, Shown shown) {
  std::vector<Column> columns{{"slowest shapes"}, {"problem"}};
  const auto more = ratio_columns(shown, "of a read probe", false);
  columns.insert(columns.end(), more.begin(), more.end());
  columns.push_back({"time, hot", Align::right});
  columns.push_back({"of"});
  columns.push_back({"time, hot", Align::right});
  TextTable table(std::move(columns));
  for (const std::size_t i : view.worst) {
    const ShapeResult& result = view.shapes[i];
    std::vector<Cell> cells{result.row->shape_class,
                            shape_text(*result.row) + " " + result.row->variant,
                            ratio_cell(result.hot)};
    if (shown.cold) cells.push_back(ratio_cell(result.cold));
    if (shown.probe) cells.emplace_back(share_text(result.of_probe));
    cells.emplace_back(median_text(result.row->samples_s));
    cells.emplace_back(result.rival->rung);
    cells.emplace_back(median_text(result.rival->samples_s));
    table.add_row(std::move(cells));
  }
  return {"", "", std::move(table), {}};
}

}  // namespace

std::vector<Section> sections_of(const std::vector<ContestantView>& views, const std::string& op) {
  std::vector<Section> sections;
  for (const ContestantView& view : views) {
    if (view.shapes.empty()) continue;
    const auto has_probe = [](const ShapeResult& result) { return result.of_probe > 0; };
    const Shown shown{view.all.cold_mean > 0, std::ranges::any_of(view.shapes, has_probe)};
    sections.push_back(classes_section(view, op, shown));
    sections.push_back(worst_section(view, shown));
  }
  return sections;
}

std::vector<std::string> remarks_on_shapes(const lab::BenchReport& report,
                                           const std::vector<ContestantView>& views) {
  std::vector<lab::BenchRow> rows = report.rows;
  for (lab::BenchRow& row : rows) row.judged_in_part.clear();  // the notes say it once
  std::vector<std::string> remarks = remarks_on(rows);
  for (const ContestantView& view : views) {
    if (view.not_compared == 0) continue;
    remarks.push_back(fmt::format("- {} has no speed-up at {} of {} shapes", view.rung,
                                  view.not_compared, view.not_compared + view.shapes.size()));
  }
  return remarks;
}

std::string notes_on_shapes(const lab::BenchReport& report, runtime::Target target) {
  std::string text =
      "Speed-ups are the fastest rival's median time over the contestant's; means are geometric.\n"
      "Of large results a sample was judged before anything was timed.";
  if (target == runtime::Target::cpu) {
    return text + " Times are those of the plain flavour\non this CPU: they are not GPU times.";
  }
  return text +
         "\nof a read probe: reading as many bytes, over the contestant's time; by class the "
         "least among\noperands beyond the L2 cache.\n" +
         notes_on(report, target, 1);
}

}  // namespace warpladder::app
