#include "bench_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/with_commas.hpp"

namespace warpladder::app {
namespace {

using lab::BenchReport;
using lab::BenchRow;
using lab::Statistics;

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

// With as many digits as the samples support.
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

// "sgemv row_n at 64x32": the heading of a group.
std::string title_of(const BenchRow& row) {
  const std::string what = row.op + (row.variant.empty() ? "" : " " + row.variant);
  return row.shape.empty() ? what : fmt::format("{} at {}", what, shape_text(row));
}

std::string counts_text(const BenchRow& row, std::uint64_t count) {
  return row.counts ? with_commas(count) : "";
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
  return {title_of(group.front()), group.front().remark, std::move(table), {}};
}

std::string share_text(double share, int digits) {
  return rounded(100 * share, std::min(digits, 3)) + " %";
}

// The time behind the rate: on a GPU hot for operators that compute, cold for those that only move
// bytes.
const std::vector<double>& samples_that_count(const BenchRow& row) {
  return computes(row) || row.cold_samples_s.empty() ? row.samples_s : row.cold_samples_s;
}

double time_that_counts(const BenchRow& row) {
  return lab::statistics(samples_that_count(row)).median;
}

// The reference of the shares: the fastest rival that was timed, else the fastest probe.
struct Opponent {
  const BenchRow* row = nullptr;  // null: there is none
  bool is_best_of_several = false;
  std::string header;
};
Opponent opponent_in(std::span<const BenchRow> group, bool probe) {
  Opponent fastest;
  for (const BenchRow& row : group) {
    if (!row.rival || row.probe != probe || row.less_accurate || row.samples_s.empty() ||
        !row.invalid.empty()) {
      continue;
    };
    fastest.is_best_of_several = fastest.row != nullptr;
    if (!fastest.row || time_that_counts(row) < time_that_counts(*fastest.row)) fastest.row = &row;
  }
  if (fastest.is_best_of_several) {
    fastest.header = probe ? "of best probe" : "of best rival";
  } else if (fastest.row) {
    fastest.header = "of " + fastest.row->rung;
  }
  return fastest;
}

// What times and shares do not show.
std::vector<std::string> lines_below(std::span<const BenchRow> group, const Opponent& rival) {
  std::vector<std::string> lines;
  if (rival.is_best_of_several) {
    lines.push_back(fmt::format("- the best rival is {}", rival.row->rung));
  }
  for (const BenchRow& row : group) {
    if (row.preparation_samples_s.empty()) continue;
    const Statistics s = lab::statistics(row.preparation_samples_s);
    lines.push_back(
        fmt::format("- {} prepares once: {}", row.rung, time_text(s.median, digits_of(s))));
  }
  return lines;
}

// Sparse products are compared in operations as often as in bytes.
bool shows_flops_too(std::span<const BenchRow> group) {
  const BenchRow& row = group.front();
  return !computes(row) && row.flops > 0 && row.shape.empty();
}

Section cpu_times_section(std::span<const BenchRow> group) {
  const bool in_flops = computes(group.front());
  const Opponent rival = opponent_in(group, false);
  std::vector<Column> columns{{"on this CPU"},
                              {"median", Align::right},
                              {"quartiles apart", Align::right},
                              {"samples", Align::right},
                              {in_flops ? "GFLOP/s" : "GB/s", Align::right}};
  const bool with_flops = shows_flops_too(group);
  if (with_flops) columns.push_back({"GFLOP/s", Align::right});
  if (rival.row) columns.push_back({rival.header, Align::right});
  TextTable table(std::move(columns));
  for (const BenchRow& row : group) {
    if (row.samples_s.empty()) continue;
    const Statistics s = lab::statistics(row.samples_s);
    const int digits = digits_of(s);
    std::vector<Cell> cells{row.rung + (row.rival ? " (rival)" : ""), time_text(s.median, digits),
                            rounded(100 * s.spread(), 2) + " %",
                            std::to_string(row.samples_s.size()),
                            rounded((in_flops ? row.flops : row.bytes) / s.median * 1e-9, digits)};
    if (with_flops) cells.emplace_back(rounded(row.flops / s.median * 1e-9, digits));
    if (rival.row) {
      const double share = time_that_counts(*rival.row) / s.median;
      cells.emplace_back(share_text(share, digits));
    }
    table.add_row(std::move(cells));
  }
  return {"", "", std::move(table), lines_below(group, rival)};
}

const lab::Baseline* baseline_of(const BenchReport& report, const std::string& op) {
  const auto at = std::ranges::find(report.baselines, op, &lab::Baseline::op);
  return at == report.baselines.end() ? nullptr : &*at;
}

Section gpu_section(std::span<const BenchRow> group, const BenchReport& report) {
  const bool in_flops = computes(group.front());
  const Opponent rival = opponent_in(group, false), probe = opponent_in(group, true);
  const lab::Baseline* baseline = baseline_of(report, group.front().op);
  // Several rivals have long names, and 100 columns are not enough.
  const bool crowded = rival.is_best_of_several && !in_flops;
  const double ceiling = crowded && probe.row ? 0
                         : in_flops           ? report.ceilings.fp32_flops_per_s
                                              : report.ceilings.memory_bytes_per_s;
  std::vector<Column> columns{{"rung"}, {"hot", Align::right}, {"cold", Align::right}};
  const bool in_graphs =
      std::ranges::any_of(group, [](const BenchRow& row) { return !row.graph_samples_s.empty(); });
  if (in_graphs) columns.push_back({"in a graph", Align::right});
  columns.insert(columns.end(),
                 {{"spread", Align::right}, {in_flops ? "TFLOP/s" : "GB/s", Align::right}});
  const bool with_flops = shows_flops_too(group) && !(crowded && in_graphs);
  if (with_flops) columns.push_back({"GFLOP/s", Align::right});
  for (const Opponent* other : {&rival, &probe}) {
    if (other->row) columns.push_back({other->header, Align::right});
  }
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
    if (with_flops) {
      cells.emplace_back(row.probe ? "" : rounded(row.flops / counts.median * 1e-9, digits));
    }
    for (const Opponent* other : {&rival, &probe}) {
      if (!other->row) continue;
      const double share = time_that_counts(*other->row) / counts.median;
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
  return {title_of(group.front()), group.front().remark, std::move(table),
          lines_below(group, rival)};
}

}  // namespace

std::string shape_text(const BenchRow& row) { return fmt::format("{}", fmt::join(row.shape, "x")); }

std::string median_text(const std::vector<double>& samples_s) {
  const Statistics s = lab::statistics(samples_s);
  return time_text(s.median, digits_of(s));
}

std::uint64_t global_sectors(const ladder::Totals& t) {
  return t.global_load_sectors + t.global_store_sectors;
}
std::uint64_t shared_wavefronts(const ladder::Totals& t) {
  return t.shared_load_wavefronts + t.shared_store_wavefronts;
}

std::vector<Section> sections_of(const BenchReport& report, runtime::Target target) {
  const std::vector<BenchRow>& rows = report.rows;
  std::vector<Section> sections;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(),
                                   [&](const BenchRow& row) { return !same_group(row, *first); });
    const std::span<const BenchRow> group(first, last);
    const bool timed =
        std::ranges::any_of(group, [](const BenchRow& row) { return !row.samples_s.empty(); });
    if (target == runtime::Target::gpu) {
      sections.push_back(gpu_section(group, report));
    } else {
      sections.push_back(counts_section(group));
      if (timed) sections.push_back(cpu_times_section(group));
    }
    first = last;
  }
  return sections;
}

// Rows that the tables leave out, and why.
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

// Explains the times, and names the libraries.
std::string notes_on(const BenchReport& report, runtime::Target target, unsigned threads) {
  if (target == runtime::Target::cpu) return fmt::format(kWhatCpuTimesAre, threads);
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

}  // namespace warpladder::app
