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

using lab::BenchReport;
using lab::BenchRow;
using lab::Statistics;

struct Flags {
  std::vector<std::string> names, axes, matrices;
  std::optional<std::string> shape, variant;
  std::string csv, md;
  DeviceFlags device;
  JsonFlag json;
};

// A table and the line that introduces it.
struct Section {
  std::string title;
  TextTable table;
};

constexpr const char* kWhatCpuTimesAre =
    "Counts are the executor's: what a GPU would be asked for. Times are those of the plain "
    "flavour\n"
    "on this CPU (threads: {}; operands hot): they are not GPU times and rank nothing.";

constexpr const char* kWhatGpuTimesAre =
    "Times are medians of single launches between two events, queued behind a spinning kernel so\n"
    "that the host's time is not in them; rivals took turns with the rungs. hot: caches as "
    "earlier\n"
    "launches left them; cold: the L2 cache holds nothing of the operands; in a graph: hot, one "
    "of\n"
    "20 launches in a captured graph.";

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

bool computes(const BenchRow& row) { return row.measure == ops::Measure::flops; }

bool same_group(const BenchRow& a, const BenchRow& b) {
  return a.op == b.op && a.shape == b.shape && a.variant == b.variant;
}

std::string shape_text(const BenchRow& row) { return fmt::format("{}", fmt::join(row.shape, "x")); }

// "sgemv row_n at 64x32": the heading of a group.
std::string title_of(const BenchRow& row) {
  const std::string what = row.op + (row.variant.empty() ? "" : " " + row.variant);
  return row.shape.empty() ? what : fmt::format("{} at {}", what, shape_text(row));
}

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
  return {title_of(group.front()), std::move(table)};
}

std::string share_text(double share, int digits) {
  return rounded(100 * share, std::min(digits, 3)) + " %";
}

// The first rival that was timed, or the first probe; null if there is none.
const BenchRow* timed_rival(std::span<const BenchRow> group, bool probe) {
  const auto at = std::ranges::find_if(group, [&](const BenchRow& row) {
    return row.rival && row.probe == probe && !row.samples_s.empty();
  });
  return at == group.end() ? nullptr : &*at;
}

Section cpu_times_section(std::span<const BenchRow> group) {
  const bool in_flops = computes(group.front());
  const BenchRow* rival = timed_rival(group, false);
  std::vector<Column> columns{{"on this CPU"},
                              {"median", Align::right},
                              {"quartiles apart", Align::right},
                              {"samples", Align::right},
                              {in_flops ? "GFLOP/s" : "GB/s", Align::right}};
  if (rival) columns.push_back({"of " + rival->rung, Align::right});
  TextTable table(std::move(columns));
  for (const BenchRow& row : group) {
    if (row.samples_s.empty()) continue;
    const Statistics s = lab::statistics(row.samples_s);
    const int digits = digits_of(s);
    std::vector<Cell> cells{row.rung + (row.rival ? " (rival)" : ""), time_text(s.median, digits),
                            rounded(100 * s.spread(), 2) + " %",
                            std::to_string(row.samples_s.size()),
                            rounded((in_flops ? row.flops : row.bytes) / s.median * 1e-9, digits)};
    if (rival) {
      const double share = lab::statistics(rival->samples_s).median / s.median;
      cells.emplace_back(share_text(share, digits));
    }
    table.add_row(std::move(cells));
  }
  return {"", std::move(table)};
}

const lab::Baseline* baseline_of(const BenchReport& report, const std::string& op) {
  const auto at = std::ranges::find(report.baselines, op, &lab::Baseline::op);
  return at == report.baselines.end() ? nullptr : &*at;
}

// What the rate is made from: an operator that computes is timed hot, one that moves bytes cold.
const std::vector<double>& samples_that_count(const BenchRow& row) {
  return computes(row) ? row.samples_s : row.cold_samples_s;
}

Section gpu_section(std::span<const BenchRow> group, const BenchReport& report) {
  const bool in_flops = computes(group.front());
  const BenchRow *rival = timed_rival(group, false), *probe = timed_rival(group, true);
  const lab::Baseline* baseline = baseline_of(report, group.front().op);
  const double ceiling =
      in_flops ? report.ceilings.fp32_flops_per_s : report.ceilings.memory_bytes_per_s;
  std::vector<Column> columns{{"rung"}, {"hot", Align::right}, {"cold", Align::right}};
  const bool in_graphs =
      std::ranges::any_of(group, [](const BenchRow& row) { return !row.graph_samples_s.empty(); });
  if (in_graphs) columns.push_back({"in a graph", Align::right});
  columns.insert(columns.end(),
                 {{"spread", Align::right}, {in_flops ? "TFLOP/s" : "GB/s", Align::right}});
  if (rival) columns.push_back({"of " + rival->rung, Align::right});
  if (probe) columns.push_back({"of " + probe->rung, Align::right});
  if (ceiling > 0) columns.push_back({in_flops ? "of FP32" : "of memory", Align::right});
  if (baseline) columns.push_back({"× serial", Align::right});
  TextTable table(std::move(columns));
  for (const BenchRow& row : group) {
    if (row.samples_s.empty()) continue;
    const Statistics hot = lab::statistics(row.samples_s),
                     cold = lab::statistics(row.cold_samples_s),
                     counts = lab::statistics(samples_that_count(row));
    const int digits = digits_of(counts);
    const double rate = (in_flops ? row.flops : row.bytes) / counts.median;
    std::vector<Cell> cells{row.rung + (row.probe   ? " (probe)"
                                        : row.rival ? " (rival)"
                                                    : ""),
                            time_text(hot.median, digits_of(hot)),
                            time_text(cold.median, digits_of(cold))};
    if (in_graphs) {
      const bool there = !row.graph_samples_s.empty();
      const Statistics s = lab::statistics(there ? row.graph_samples_s : row.samples_s);
      cells.emplace_back(there ? time_text(s.median, digits_of(s)) : "");
    }
    cells.emplace_back(rounded(100 * counts.spread(), 2) + " %");
    cells.push_back(row.invalid.empty() ? Cell(rounded(rate * (in_flops ? 1e-12 : 1e-9), digits))
                                        : Cell("invalid", Emphasis::bad));
    for (const BenchRow* other : {rival, probe}) {
      if (!other) continue;
      const double share = lab::statistics(samples_that_count(*other)).median / counts.median;
      cells.emplace_back(share_text(share, digits), share >= 1 ? Emphasis::good : Emphasis::none);
    }
    if (ceiling > 0) cells.emplace_back(share_text(rate / ceiling, digits));
    if (baseline) {
      const double serial_s =
          lab::statistics(baseline->samples_s).median / baseline->flops * row.flops;
      cells.emplace_back(with_commas(static_cast<std::uint64_t>(serial_s / counts.median)));
    }
    table.add_row(std::move(cells));
  }
  return {title_of(group.front()), std::move(table)};
}

std::vector<Section> sections_of(const BenchReport& report, device::Target target) {
  const std::vector<BenchRow>& rows = report.rows;
  std::vector<Section> sections;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(),
                                   [&](const BenchRow& row) { return !same_group(row, *first); });
    const std::span<const BenchRow> group(first, last);
    const bool timed =
        std::ranges::any_of(group, [](const BenchRow& row) { return !row.samples_s.empty(); });
    if (target == device::Target::gpu) {
      sections.push_back(gpu_section(group, report));
    } else {
      sections.push_back(counts_section(group));
      if (timed) sections.push_back(cpu_times_section(group));
    }
    first = last;
  }
  return sections;
}

// What is missing from the tables, and why.
std::vector<std::string> remarks_on(const std::vector<BenchRow>& rows) {
  std::vector<std::string> remarks;
  std::string judged_in_part;
  for (const BenchRow& row : rows) {
    const std::string who = fmt::format("{} of {}", row.rung, title_of(row));
    if (!row.failure.empty())
      remarks.push_back(fmt::format("- {} is wrong and was not timed: {}", who, row.failure));
    if (!row.skipped.empty())
      remarks.push_back(fmt::format("- {} was skipped: {}", who, row.skipped));
    if (!row.invalid.empty())
      remarks.push_back(fmt::format("- {} is invalid: {}", who, row.invalid));
    if (row.judged_in_part != judged_in_part) {
      judged_in_part = row.judged_in_part;
      if (!judged_in_part.empty())
        remarks.push_back(fmt::format("- {}: judged were {}", title_of(row), judged_in_part));
    }
  }
  return remarks;
}

// What the times mean, and what they were taken with.
std::string notes_on(const BenchReport& report, device::Target target, unsigned threads) {
  if (target == device::Target::cpu) return fmt::format(kWhatCpuTimesAre, threads);
  std::string text = kWhatGpuTimesAre;
  for (const lab::Baseline& baseline : report.baselines) {
    const Statistics s = lab::statistics(baseline.samples_s);
    text += fmt::format(
        "\n× serial: {}/{} took {} at {} on one core of this machine's CPU; scaled by operations.",
        baseline.op, baseline.rung, time_text(s.median, digits_of(s)),
        fmt::join(baseline.shape, "x"));
  }
  device::ClockRange clocks;
  for (const BenchRow& row : report.rows) clocks.include(row.clocks);
  const auto [least, most] = clocks;
  text += most == 0       ? "\nSM clock: unknown."
          : least == most ? fmt::format("\nSM clock: {} MHz throughout.", most)
                          : fmt::format("\nSM clock: {} to {} MHz.", least, most);
  for (const auto& [library, version] : report.libraries) {
    text += fmt::format(" {} {}.", library, version);
  }
  return text;
}

std::string markdown(const BenchReport& report, device::Target target, const std::string& notes) {
  std::string text;
  for (const Section& section : sections_of(report, target)) {
    if (!section.title.empty()) text += fmt::format("## {}\n\n", section.title);
    text += section.table.render({.style = Style::markdown}) + "\n";
  }
  for (const std::string& remark : remarks_on(report.rows)) text += remark + "\n";
  return text + notes + "\n";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv(const std::vector<BenchRow>& rows) {
  std::string text =
      "op,variant,rung,rival,shape,verified,worst_error_over_bound,why_not_timed,global_sectors,"
      "shared_wavefronts,fmas,flops,bytes,samples,median_s,q1_s,q3_s,cold_samples,cold_median_s,"
      "cold_q1_s,cold_q3_s,invalid\n";
  const auto times = [](const std::vector<double>& samples) -> std::string {
    if (samples.empty()) return ",0,,,";
    const Statistics s = lab::statistics(samples);
    return fmt::format(",{},{:.6g},{:.6g},{:.6g}", samples.size(), s.median, s.q1, s.q3);
  };
  for (const BenchRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{:.6g},{},", row.op, row.variant, row.rung, row.rival,
                        shape_text(row), row.verified, row.worst_error_over_bound,
                        csv_field(row.skipped.empty() ? row.failure : row.skipped));
    if (row.counts) {
      text += fmt::format("{},{},{}", global_sectors(*row.counts), shared_wavefronts(*row.counts),
                          row.counts->fmas);
    } else {
      text += ",,";
    }
    text += fmt::format(",{:.17g},{:.17g}{}{},{}\n", row.flops, row.bytes, times(row.samples_s),
                        times(row.cold_samples_s), csv_field(row.invalid));
  }
  return text;
}

nlohmann::json as_json(const Statistics& s) {
  // An interval without bounds is null.
  return {{"median", s.median}, {"q1", s.q1}, {"q3", s.q3}, {"low", s.low}, {"high", s.high}};
}

nlohmann::json as_json(const BenchRow& row) {
  nlohmann::json object{{"op", row.op},
                        {"variant", row.variant},
                        {"rung", row.rung},
                        {"rival", row.rival},
                        {"probe", row.probe},
                        {"shape", row.shape},
                        {"skipped", row.skipped},
                        {"failure", row.failure},
                        {"invalid", row.invalid},
                        {"verified", row.verified},
                        {"judged_in_part", row.judged_in_part},
                        {"worst_error_over_bound", row.worst_error_over_bound},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"samples_s", row.samples_s}};
  if (!row.preparation_samples_s.empty()) {
    object["preparation_samples_s"] = row.preparation_samples_s;
    object["preparation_statistics_s"] = as_json(lab::statistics(row.preparation_samples_s));
  }
  if (row.counts) {
    for (const lab::TotalField& field : lab::total_fields()) {
      object["counts"][field.key] = (*row.counts).*field.value;
    }
  }
  if (!row.samples_s.empty()) object["statistics_s"] = as_json(lab::statistics(row.samples_s));
  if (!row.cold_samples_s.empty()) {
    object["cold_samples_s"] = row.cold_samples_s;
    object["cold_statistics_s"] = as_json(lab::statistics(row.cold_samples_s));
  }
  if (!row.graph_samples_s.empty()) {
    object["graph_samples_s"] = row.graph_samples_s;
    object["graph_statistics_s"] = as_json(lab::statistics(row.graph_samples_s));
  }
  if (row.clocks.most_mhz) {
    object["sm_clock_mhz"] = {{"least", row.clocks.least_mhz}, {"most", row.clocks.most_mhz}};
  }
  return object;
}

nlohmann::json as_json(const BenchReport& report, device::Target target, unsigned threads) {
  nlohmann::json object{{"verb", "bench"},
                        {"target", device::name(target)},
                        {"threads", threads},
                        {"libraries", report.libraries},
                        {"baselines", nlohmann::json::array()},
                        {"rows", nlohmann::json::array()}};
  if (report.ceilings.fp32_flops_per_s > 0) {
    object["ceilings"] = {{"fp32_flops_per_s", report.ceilings.fp32_flops_per_s},
                          {"memory_bytes_per_s", report.ceilings.memory_bytes_per_s}};
  }
  for (const lab::Baseline& baseline : report.baselines) {
    object["baselines"].push_back({{"op", baseline.op},
                                   {"rung", baseline.rung},
                                   {"shape", baseline.shape},
                                   {"flops", baseline.flops},
                                   {"samples_s", baseline.samples_s},
                                   {"median_s", lab::statistics(baseline.samples_s).median}});
  }
  for (const BenchRow& row : report.rows) object["rows"].push_back(as_json(row));
  return object;
}

// The rungs of one operator, in the order in which they were named, each once.
std::vector<lab::BenchGroup> rungs_by_operator(const std::vector<std::string>& names) {
  std::vector<lab::BenchGroup> groups;
  for (const lab::Selected& selected : lab::select(names)) {
    auto group = std::ranges::find(groups, selected.op, &lab::BenchGroup::op);
    if (group == groups.end()) group = groups.insert(group, {selected.op, {}, {}, {}});
    if (std::ranges::find(group->rungs, selected.rung) == group->rungs.end()) {
      group->rungs.push_back(selected.rung);
    }
  }
  return groups;
}

// --variant: one, several, or all of them.
std::vector<std::string> variants_of(const ops::Operator& op,
                                     const std::optional<std::string>& text) {
  if (!text) return op.bench_variants();
  return *text == "all" ? op.variants() : lab::parse_list(*text);
}

std::vector<lab::BenchGroup> groups_of(const Flags& flags) {
  if (flags.shape && !flags.axes.empty()) {
    throw_bad_input("--shape and -a both give the sizes; give one of them");
  }
  std::vector<std::string> listed;  // -a 'shape=[...]'
  std::vector<lab::Axis> axes;
  for (const std::string& text : flags.axes) {
    if (text.starts_with("shape=")) {
      if (flags.axes.size() > 1) throw_bad_input("-a 'shape=...' gives all sizes; give it alone");
      listed = lab::parse_list(text);
    } else {
      axes.push_back(lab::parse_axis(text));
    }
  }
  std::vector<lab::BenchGroup> groups;
  const bool by_shape = flags.shape || !flags.axes.empty();
  for (lab::BenchGroup group : rungs_by_operator(flags.names)) {
    if (!flags.matrices.empty() && !group.op->takes_matrices()) {
      throw_bad_input(fmt::format("--matrix: {} takes no matrix", group.op->name()));
    }
    if (group.op->takes_matrices() && !by_shape) {
      for (const std::string& matrix :
           flags.matrices.empty() ? group.op->bench_matrices() : flags.matrices) {
        group.variant = matrix;
        groups.push_back(group);
      }
      continue;
    }
    const std::vector<std::int64_t> defaults = group.op->default_shape();
    std::vector<std::vector<std::int64_t>> shapes;
    if (flags.shape) listed = {*flags.shape};
    for (const std::string& text : listed) {
      shapes.push_back(parse_shape(text, defaults.size(), flags.shape ? "--shape" : "-a"));
    }
    if (listed.empty() && axes.empty()) {
      shapes = group.op->bench_shapes();
    } else if (listed.empty()) {
      shapes =
          lab::shapes_of(axes, lab::size_names(group.op->shape_form()), defaults, group.op->name());
    }
    for (const std::string& variant : variants_of(*group.op, flags.variant)) {
      group.op->require_variant(variant);
      for (const auto& shape : shapes) {
        group.shape = shape;
        group.variant = variant;
        groups.push_back(group);
      }
    }
  }
  return groups;
}

void print_report(const BenchReport& report, device::Target target, const std::string& notes) {
  for (const Section& section : sections_of(report, target)) {
    if (!section.title.empty()) print_line(section.title);
    print(section.table);
    print_line("");
  }
  for (const std::string& remark : remarks_on(report.rows)) print_line(remark);
  print_line(notes);
}

void bench(const Flags& flags, Context& context) {
  lab::BenchRequest request;
  request.groups = groups_of(flags);
  request.target = flags.device.target();
  request.executor_threads = flags.device.threads;
  request.rule = lab::stopping_rule_for(request.target);
  const BenchReport report = lab::bench(request, progress_on_stderr());
  end_progress();

  const unsigned threads = flags.device.threads ? flags.device.threads
                                                : std::max(1u, std::thread::hardware_concurrency());
  const std::string notes = notes_on(report, request.target, threads);
  if (!flags.json.to_stdout()) print_report(report, request.target, notes);
  if (!flags.md.empty()) write_file(flags.md, markdown(report, request.target, notes), "--md");
  if (!flags.csv.empty()) write_file(flags.csv, csv(report.rows), "--csv");
  if (flags.json.asked()) flags.json.write(context, as_json(report, request.target, threads));
  const auto cannot_run = [](const BenchRow& row) { return row.rival || !row.skipped.empty(); };
  if (std::ranges::all_of(report.rows, cannot_run)) {
    throw_resource(fmt::format("nothing was timed: no selected rung can run on the {}",
                               device::name(request.target)));
  }
  const auto is_wrong = [](const BenchRow& row) {
    return !row.failure.empty() || !row.invalid.empty();
  };
  if (std::ranges::any_of(report.rows, is_wrong)) {
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
          "their product. Or whole shapes: 'shape=[64x32,100x7]'")
      ->type_name("NAMES=VALUES")
      ->allow_extra_args(false);
  verb->add_option("--shape", flags->shape, "One problem")->type_name("MxNxK");
  verb->add_option("--variant", flags->variant,
                   "Of the operator, as list shows them: one, several with commas, or all")
      ->type_name("NAMES");
  verb->add_option("--matrix", flags->matrices,
                   "Of spmv: a Matrix Market file or a generator's text (see inspect); may be "
                   "repeated")
      ->type_name("FILE|TEXT")
      ->allow_extra_args(false);
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
