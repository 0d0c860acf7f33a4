#include "ncu_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/with_commas.hpp"
#include "lab/ncu_compare.hpp"
#include "lab/ncu_metrics.hpp"
#include "lab/ncu_names.hpp"

namespace warpladder::app {
namespace {

std::string number_text(double value) {
  constexpr double kWhole = 1e15;
  if (std::abs(value) < kWhole && value == std::floor(value) && value >= 0) {
    return with_commas(static_cast<std::uint64_t>(value));
  }
  return fmt::format("{:.6g}", value);
}

std::string launches_text(std::size_t count) {
  return fmt::format("{} {}", with_commas(count), count == 1 ? "launch" : "launches");
}

}  // namespace

void print_metric(const std::string& metric) {
  if (metric.empty()) throw_bad_input("--metric needs the name of a metric");
  const std::vector<lab::NamePart> parts = lab::take_apart(metric);
  TextTable table({{"part"}, {"is the"}, {"means"}});
  for (const lab::NamePart& part : parts) {
    const bool is_unknown = part.role == lab::NameRole::unknown;
    table.add_row({part.text,
                   lab::name(part.role),
                   {part.words, is_unknown ? Emphasis::bad : Emphasis::none}});
  }
  print(table);
  print_line(lab::counterpart_of(metric));
}

void NcuFlag::add_to(CLI::App& verb) {
  verb.add_option("--ncu", path, "Set a CSV export of Nsight Compute beside the counts")
      ->type_name("FILE.csv");
}

std::vector<NcuLaunch> NcuFlag::read() const {
  return asked() ? read_ncu_export(path) : std::vector<NcuLaunch>();
}

void print_beside(const lab::Explanation& e, const std::vector<NcuLaunch>& measured) {
  for (const lab::NcuComparison& c : lab::beside(e, measured)) {
    if (!c.problem.empty()) {
      print_line(fmt::format("Nsight Compute on {}: {}.", c.kernel, c.problem));
      continue;
    }
    TextTable table({{c.kernel},
                     {"Nsight Compute", Align::right},
                     {"counted here", Align::right},
                     {"counted ÷ measured", Align::right}});
    for (const lab::NcuRow& row : c.rows) {
      const bool differs = row.measured != row.ours;
      const std::string ratio = row.measured != 0 ? fmt::format("{:.3g}", row.ours / row.measured)
                                : differs         ? "∞"
                                                  : "1";
      table.add_row({row.metric,
                     number_text(row.measured),
                     number_text(row.ours),
                     {ratio, differs ? Emphasis::bad : Emphasis::good}});
    }
    print(table);
    print_line(fmt::format(
        "Means over {} measured and {} counted here. {} other metrics of the export have no "
        "counterpart; explain --metric NAME says why.",
        launches_text(c.measured_launches), launches_text(c.our_launches), c.others));
    if (!c.no_numbers.empty()) {
      print_line(fmt::format("Without a number in the export: {}.", fmt::join(c.no_numbers, ", ")));
    }
  }
  print_line("");
}

nlohmann::json beside_json(const lab::Explanation& e, const std::vector<NcuLaunch>& measured) {
  nlohmann::json list = nlohmann::json::array();
  for (const lab::NcuComparison& c : lab::beside(e, measured)) {
    nlohmann::json rows = nlohmann::json::array();
    for (const lab::NcuRow& row : c.rows) {
      rows.push_back({{"metric", row.metric}, {"measured", row.measured}, {"counted", row.ours}});
    }
    list.push_back({{"kernel", c.kernel},
                    {"measured_launches", c.measured_launches},
                    {"counted_launches", c.our_launches},
                    {"rows", rows},
                    {"without_counterpart", c.others},
                    {"without_number", c.no_numbers},
                    {"problem", c.problem}});
  }
  return list;
}

}  // namespace warpladder::app
