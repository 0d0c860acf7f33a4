#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/parse.hpp"
#include "lab/axes.hpp"
#include "lab/explain.hpp"
#include "verb.hpp"
#include "writable.hpp"

namespace warpladder::app {
namespace {

using lab::BenchRow;
using lab::Statistics;

struct Flags {
  std::vector<std::string> names, axes;
  std::optional<std::string> shape;
  std::string csv, md;
  DeviceFlags device;
  JsonFlag json;
};

// A table and the line that introduces it.
struct Section {
  std::string title;
  TextTable table;
};

constexpr const char* kWhatTimesAre =
    "Counts are the executor's: what a GPU would be asked for. Times are those of the plain "
    "flavour\n"
    "on this CPU (threads: {}; operands hot): they are not GPU times and rank nothing.";

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// As many digits as the samples support.
int digits_of(const Statistics& s) {
  const double doubt = std::isfinite(s.uncertainty()) ? s.uncertainty() : s.spread();
  return doubt > 0 ? std::clamp(1 + static_cast<int>(std::floor(-std::log10(doubt))), 2, 4) : 2;
}

std::string rounded(double value, int digits) {
  if (!(value > 0)) return "0";
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(value)));
  const double unit = std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", std::round(value / unit) * unit, std::max(0, decimals));
}

std::string time_text(double seconds, int digits) {
  struct Unit {
    double seconds;
    const char* name;
  };
  for (const Unit unit : {Unit{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}) {
    if (seconds >= unit.seconds) return rounded(seconds / unit.seconds, digits) + " " + unit.name;
  }
  return rounded(seconds * 1e9, digits) + " ns";
}

bool same_group(const BenchRow& a, const BenchRow& b) { return a.op == b.op && a.shape == b.shape; }

std::string shape_text(const BenchRow& row) { return fmt::format("{}", fmt::join(row.shape, "x")); }

std::string counts_text(const BenchRow& row, std::uint64_t count) {
  return row.counts ? with_commas(count) : "";
}

std::uint64_t global_sectors(const ladder::Totals& t) {
  return t.global_load_sectors + t.global_store_sectors;
}
std::uint64_t shared_wavefronts(const ladder::Totals& t) {
  return t.shared_load_wavefronts + t.shared_store_wavefronts;
}

Section counts_section(std::span<const BenchRow> group) {
  TextTable table({{"rung"},
                   {"worst error ÷ bound", Align::right},
                   {"global sectors", Align::right},
                   {"shared wavefronts", Align::right},
                   {"FMAs", Align::right},
                   {"sectors per FMA", Align::right}});
  for (const BenchRow& row : group) {
    const ladder::Totals t = row.counts.value_or(ladder::Totals{});
    const Emphasis emphasis = row.verified ? Emphasis::good : Emphasis::bad;
    table.add_row(
        {row.rung,
         row.skipped.empty() ? Cell(fmt::format("{:.2g}", row.worst_error_over_bound), emphasis)
                             : Cell("skipped", Emphasis::dim),
         counts_text(row, global_sectors(t)), counts_text(row, shared_wavefronts(t)),
         counts_text(row, t.fmas),
         t.fmas ? fmt::format("{:.3g}",
                              static_cast<double>(global_sectors(t)) / static_cast<double>(t.fmas))
                : ""});
  }
  return {fmt::format("{} at {}", group.front().op, shape_text(group.front())), std::move(table)};
}

Section times_section(std::span<const BenchRow> group) {
  const bool computes = group.front().flops > 0;
  const auto rival = std::ranges::find_if(
      group, [](const BenchRow& row) { return row.rival && !row.samples_s.empty(); });
  std::vector<Column> columns{{"on this CPU"},
                              {"median", Align::right},
                              {"quartiles apart", Align::right},
                              {"samples", Align::right},
                              {computes ? "GFLOP/s" : "GB/s", Align::right}};
  if (rival != group.end()) columns.push_back({"of " + rival->rung, Align::right});
  TextTable table(std::move(columns));
  for (const BenchRow& row : group) {
    if (row.samples_s.empty()) continue;
    const Statistics s = lab::statistics(row.samples_s);
    const int digits = digits_of(s);
    std::vector<Cell> cells{row.rung + (row.rival ? " (rival)" : ""), time_text(s.median, digits),
                            rounded(100 * s.spread(), 2) + " %",
                            std::to_string(row.samples_s.size()),
                            rounded((computes ? row.flops : row.bytes) / s.median * 1e-9, digits)};
    if (rival != group.end()) {
      const double share = lab::statistics(rival->samples_s).median / s.median;
      cells.emplace_back(rounded(100 * share, std::min(digits, 3)) + " %");
    }
    table.add_row(std::move(cells));
  }
  return {"", std::move(table)};
}

std::vector<Section> sections_of(const std::vector<BenchRow>& rows) {
  std::vector<Section> sections;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(),
                                   [&](const BenchRow& row) { return !same_group(row, *first); });
    const std::span<const BenchRow> group(first, last);
    sections.push_back(counts_section(group));
    if (std::ranges::any_of(group, [](const BenchRow& row) { return !row.samples_s.empty(); })) {
      sections.push_back(times_section(group));
    }
    first = last;
  }
  return sections;
}

// What is missing from the tables, and why.
std::vector<std::string> remarks_on(const std::vector<BenchRow>& rows) {
  std::vector<std::string> remarks;
  for (const BenchRow& row : rows) {
    const std::string who = fmt::format("{}/{} at {}", row.op, row.rung, shape_text(row));
    if (!row.failure.empty())
      remarks.push_back(fmt::format("- {} is wrong and was not timed: {}", who, row.failure));
    if (!row.skipped.empty())
      remarks.push_back(fmt::format("- {} was skipped: {}", who, row.skipped));
  }
  return remarks;
}

std::string markdown(const std::vector<BenchRow>& rows, const std::string& what_times_are) {
  std::string text;
  for (const Section& section : sections_of(rows)) {
    if (!section.title.empty()) text += fmt::format("## {}\n\n", section.title);
    text += section.table.render({.style = Style::markdown}) + "\n";
  }
  for (const std::string& remark : remarks_on(rows)) text += remark + "\n";
  return text + what_times_are + "\n";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv(const std::vector<BenchRow>& rows) {
  std::string text =
      "op,rung,rival,shape,verified,worst_error_over_bound,why_not_timed,global_sectors,"
      "shared_wavefronts,fmas,flops,bytes,samples,median_s,q1_s,q3_s\n";
  for (const BenchRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{:.6g},{},", row.op, row.rung, row.rival, shape_text(row),
                        row.verified, row.worst_error_over_bound,
                        csv_field(row.skipped.empty() ? row.failure : row.skipped));
    if (row.counts) {
      text += fmt::format("{},{},{}", global_sectors(*row.counts), shared_wavefronts(*row.counts),
                          row.counts->fmas);
    } else {
      text += ",,";
    }
    text += fmt::format(",{:.17g},{:.17g},{}", row.flops, row.bytes, row.samples_s.size());
    if (row.samples_s.empty()) {
      text += ",,,\n";
    } else {
      const Statistics s = lab::statistics(row.samples_s);
      text += fmt::format(",{:.6g},{:.6g},{:.6g}\n", s.median, s.q1, s.q3);
    }
  }
  return text;
}

nlohmann::json as_json(const BenchRow& row) {
  nlohmann::json object{{"op", row.op},
                        {"rung", row.rung},
                        {"rival", row.rival},
                        {"shape", row.shape},
                        {"skipped", row.skipped},
                        {"failure", row.failure},
                        {"verified", row.verified},
                        {"worst_error_over_bound", row.worst_error_over_bound},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"samples_s", row.samples_s}};
  if (row.counts) {
    for (const lab::TotalField& field : lab::total_fields()) {
      object["counts"][field.key] = (*row.counts).*field.value;
    }
  }
  if (!row.samples_s.empty()) {
    const Statistics s = lab::statistics(row.samples_s);
    // An interval without bounds is null.
    object["statistics_s"] = {
        {"median", s.median}, {"q1", s.q1}, {"q3", s.q3}, {"low", s.low}, {"high", s.high}};
  }
  return object;
}

// The rungs of one operator, in the order in which they were named, each once.
std::vector<lab::BenchGroup> rungs_by_operator(const std::vector<std::string>& names) {
  std::vector<lab::BenchGroup> groups;
  for (const lab::Selected& selected : lab::select(names)) {
    auto group = std::ranges::find(groups, selected.op, &lab::BenchGroup::op);
    if (group == groups.end()) group = groups.insert(group, {selected.op, {}, {}});
    if (std::ranges::find(group->rungs, selected.rung) == group->rungs.end()) {
      group->rungs.push_back(selected.rung);
    }
  }
  return groups;
}

std::vector<lab::BenchGroup> groups_of(const Flags& flags) {
  if (flags.shape && !flags.axes.empty()) {
    throw_bad_input("--shape and -a both give the sizes; give one of them");
  }
  std::vector<lab::Axis> axes;
  for (const std::string& text : flags.axes) axes.push_back(lab::parse_axis(text));
  std::vector<lab::BenchGroup> groups;
  for (lab::BenchGroup group : rungs_by_operator(flags.names)) {
    const std::vector<std::int64_t> defaults = group.op->default_shape();
    const auto shapes = flags.shape ? std::vector<std::vector<std::int64_t>>{parse_shape(
                                          *flags.shape, defaults.size(), "--shape")}
                                    : lab::shapes_of(axes, lab::size_names(group.op->shape_form()),
                                                     defaults, group.op->name());
    for (const auto& shape : shapes) {
      group.shape = shape;
      groups.push_back(group);
    }
  }
  return groups;
}

void print_report(const std::vector<BenchRow>& rows, const std::string& what_times_are) {
  for (const Section& section : sections_of(rows)) {
    if (!section.title.empty()) print_line(section.title);
    print(section.table);
    print_line("");
  }
  for (const std::string& remark : remarks_on(rows)) print_line(remark);
  print_line(what_times_are);
}

void bench(const Flags& flags, Context& context) {
  lab::BenchRequest request;
  request.groups = groups_of(flags);
  request.target = flags.device.target();
  request.executor_threads = flags.device.threads;
  const std::vector<BenchRow> rows = lab::bench(request, progress_on_stderr());
  end_progress();

  const unsigned threads = flags.device.threads ? flags.device.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  const std::string what_times_are = fmt::format(kWhatTimesAre, threads);
  if (!flags.json.to_stdout()) print_report(rows, what_times_are);
  if (!flags.md.empty()) write_file(flags.md, markdown(rows, what_times_are), "--md");
  if (!flags.csv.empty()) write_file(flags.csv, csv(rows), "--csv");
  if (flags.json.asked()) {
    nlohmann::json report{{"verb", "bench"},
                          {"target", device::name(request.target)},
                          {"threads", threads},
                          {"rows", nlohmann::json::array()}};
    for (const BenchRow& row : rows) report["rows"].push_back(as_json(row));
    flags.json.write(context, std::move(report));
  }
  const auto cannot_run = [](const BenchRow& row) { return row.rival || !row.skipped.empty(); };
  if (std::ranges::all_of(rows, cannot_run)) {
    throw_resource(fmt::format("nothing was timed: no selected rung can run on the {}",
                               device::name(request.target)));
  }
  if (std::ranges::any_of(rows, [](const BenchRow& row) { return !row.failure.empty(); })) {
    context.exit_code = static_cast<int>(ErrorCode::check_failed);
  }
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("bench", "Verify rungs, count what they ask for, and time them");
  const auto flags = std::make_shared<Flags>();
  verb->add_option("OP[/RUNG]", flags->names, "Operators or single rungs")
      ->type_name("")
      ->required();
  verb->add_option(
          "-a,--axis", flags->axes,
          "Values of sizes: 'm,n,k=[pow2:5:8]', 'm=[16,32]', 'm=[64:256:64]'; several make "
          "their product")
      ->type_name("NAMES=VALUES")
      ->allow_extra_args(false);
  verb->add_option("--shape", flags->shape, "One problem")->type_name("MxNxK");
  const auto add_file = [&](const std::string& name, std::string& path, const char* what) {
    const auto set = [name, &path](const std::string& text) {
      require_writable(text, name);
      path = text;
    };
    verb->add_option_function<std::string>(name, set, what)->type_name("FILE");
  };
  add_file("--csv", flags->csv, "Write a line per row as comma-separated values");
  add_file("--md", flags->md, "Write the tables as Markdown");
  flags->device.add_to(*verb);
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { bench(*flags, context); });
}

}  // namespace warpladder::app
