#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/html.hpp"
#include "lab/report.hpp"
#include "lab/report_figures.hpp"
#include "lab/shapes_picture.hpp"
#include "lab/shapes_view.hpp"
#include "lab/svg.hpp"

namespace warpladder::lab {
namespace {

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} µs", seconds * 1e6);
}

HtmlCell time_cell(const std::vector<double>& samples) {
  if (samples.empty()) return text_cell("", "n");
  const double median = statistics(samples).median;
  return number_cell(median, time_text(median));
}

std::string html_of(const std::vector<Choice>& choices, const char* id) {
  std::string out;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    out += html_of(choices[c], fmt::format("{}{}", id, c));
  }
  return out;
}

std::string scatters(const Report& report) {
  std::string out;
  std::size_t number = 0;
  for (const ReportedBench& bench : report.benches) {
    const bool has_classes = std::ranges::any_of(
        bench.report.rows, [](const BenchRow& row) { return !row.shape_class.empty(); });
    if (!has_classes) continue;
    for (const ContestantView& view : views_of(bench.report)) {
      const bool has_places = std::ranges::all_of(view.shapes, [](const ShapeResult& result) {
        const double x = result.intensity(), y = result.hot;
        return x > 1e-9 && x < 1e9 && y > 1e-9 && y < 1e9 &&
               (result.cold == 0 || result.cold > 1e-9);
      });
      if (view.shapes.empty() || !has_places) continue;
      const std::string op = view.shapes.front().row->op;
      out += html_of(Figure{svg(view, op, fmt::format("-{}", number++)),
                            fmt::format("{}, {}. A dot is one shape; its title names it.",
                                        label_of(bench.recording), bench.chip)});
    }
  }
  return out;
}

std::string note_on(const BenchRow& row) {
  if (!row.failure.empty()) return "wrong: " + row.failure;
  if (!row.invalid.empty()) return "invalid: " + row.invalid;
  if (!row.skipped.empty()) return "skipped: " + row.skipped;
  return row.judged_in_part.empty() ? "" : "judged in part";
}

void add_row(HtmlTable& table, const BenchRow& row, const ReportedBench& bench) {
  const double speedup = row.rival ? 0 : speedup_of(row, bench.report);
  const bool is_wrong = !row.failure.empty() || !row.invalid.empty();
  std::string spread;
  double uncertainty = HUGE_VAL;
  if (!row.samples_s.empty()) {
    uncertainty = statistics(row.samples_s).uncertainty() / 2;
    if (std::isfinite(uncertainty)) spread = fmt::format("±{:.2g} %", 100 * uncertainty);
  }
  table.add({text_cell(row.op), text_cell(row.rung), text_cell(row.variant),
             text_cell(shape_text(row.shape)), text_cell(row.shape_class), time_cell(row.samples_s),
             number_cell(uncertainty, spread), time_cell(row.cold_samples_s),
             number_cell(rate_of(row), rate_text(row)),
             number_cell(speedup, speedup > 0 ? fmt::format("{:.3f}×", speedup) : ""),
             number_cell(row.worst_error_over_bound,
                         row.verified ? fmt::format("{:.2g}", row.worst_error_over_bound) : ""),
             text_cell(note_on(row), is_wrong ? "bad long" : "long")},
            row.rival ? "rival" : "");
}

std::string all_rows(const Report& report) {
  std::string out;
  for (const ReportedBench& bench : report.benches) {
    HtmlTable table(fmt::format("rows{}", bench.recording),
                    {"operator", "rung", "variant", "shape", "class", "hot", "interval", "cold",
                     "rate", "over rival", "error ÷ bound", "note"},
                    {false, false, false, false, false, true, true, true, true, true, true, false});
    for (const BenchRow& row : bench.report.rows) add_row(table, row, bench);
    out += table.html(fmt::format(
        "{}: {} on {}", label_of(bench.recording), report.recordings[bench.recording].name,
        bench.on_gpu ? bench.chip : "the CPU side, whose times rank nothing"));
  }
  return out;
}

// The largest error of each rung on each distribution, in units of FP32's round-off.
std::string accuracy_table(const Recording& recording, std::size_t place) {
  std::vector<std::string> distributions;
  for (const RecordedAccuracy& row : recording.accuracy) {
    for (const RecordedErrors& point : row.points) {
      if (std::ranges::find(distributions, point.distribution) == distributions.end()) {
        distributions.push_back(point.distribution);
      }
    }
  }
  if (distributions.empty()) return "";
  std::vector<std::string> heads{"rung"};
  heads.insert(heads.end(), distributions.begin(), distributions.end());
  std::vector<bool> numbers(heads.size(), true);
  numbers[0] = false;
  HtmlTable table(fmt::format("errors{}", place), heads, numbers);
  for (const RecordedAccuracy& row : recording.accuracy) {
    std::vector<HtmlCell> cells{text_cell(row.rung)};
    for (const std::string& distribution : distributions) {
      double largest = -1;
      for (const RecordedErrors& point : row.points) {
        if (point.distribution != distribution || !point.skipped.empty()) continue;
        largest = std::max(largest, point.componentwise * 16777216.0);
      }
      cells.push_back(largest < 0 ? text_cell("", "n")
                                  : number_cell(largest, fmt::format("{:.3g}", largest)));
    }
    table.add(cells, row.rival ? "rival" : "");
  }
  return fmt::format("<p>{}: the largest error of any size, in units of 2<sup>−24</sup>.</p>\n",
                     label_of(place)) +
         table.html("");
}

std::string accuracy(const Report& report) {
  std::string out = html_of(accuracy_of(report), "accuracy");
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    out += accuracy_table(report.recordings[i], i);
  }
  return out;
}

std::string verdicts(const Report& report) {
  std::string out;
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    const Recording& recording = report.recordings[i];
    if (recording.verdicts.empty()) continue;
    HtmlTable table(
        fmt::format("verdicts{}", i),
        {"operator", "rung", "flavour", "cases", "passed", "worst error ÷ bound", "note"},
        {false, false, false, true, true, true, false});
    for (const RecordedVerdict& verdict : recording.verdicts) {
      std::size_t failed = 0;
      double worst = 0;
      std::string note = verdict.skipped;
      for (const RecordedCase& each : verdict.cases) {
        failed += !each.failure.empty();
        worst = std::max(worst, each.worst_error_over_bound);
        if (failed == 1 && !each.failure.empty()) note = each.name + ": " + each.failure;
      }
      const double count = static_cast<double>(verdict.cases.size()),
                   passed = count - static_cast<double>(failed);
      table.add({text_cell(verdict.op), text_cell(verdict.rung), text_cell(verdict.flavour),
                 number_cell(count, fmt::format("{}", count)),
                 number_cell(passed, fmt::format("{}", passed),
                             failed      ? "n bad"
                             : count > 0 ? "n good"
                                         : "n"),
                 number_cell(worst, fmt::format("{:.2g}", worst)),
                 text_cell(note, failed ? "long bad" : "long")});
    }
    out += table.html(fmt::format("{}: {}", label_of(i), recording.name));
  }
  return out;
}

std::string whole_command_of(const Recording& recording) {
  std::vector<std::string> words;
  const auto argv = recording.head.find("argv");
  if (argv == recording.head.end() || !argv->is_array()) return "";
  for (const nlohmann::json& word : *argv) {
    if (word.is_string()) words.push_back(printable(word.get_ref<const std::string&>()));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string libraries_of(const Recording& recording) {
  std::vector<std::string> names;
  const auto libraries = recording.head.find("libraries");
  if (libraries == recording.head.end() || !libraries->is_object()) return "";
  for (const auto& [name, version] : libraries->items()) {
    names.push_back(printable(name) + " " + recording.text({"libraries", name}));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Processor, system and compiler.
std::string host_of(const Recording& recording) {
  std::vector<std::string> words;
  for (const std::string& word :
       {recording.text({"cpu"}), recording.text({"os"}), recording.text({"compiler", "name"})}) {
    if (!word.empty()) words.push_back(word);
  }
  return fmt::format("{} {}", fmt::join(words, ", "), recording.text({"compiler", "version"}));
}

// The folder of all recordings, with a slash at its end; empty where they share none.
std::string common_folder(const std::vector<Recording>& recordings) {
  std::string folder = recordings.front().name;
  for (const Recording& recording : recordings) {
    const auto end = std::ranges::mismatch(folder, recording.name).in1;
    folder.erase(end, folder.end());
  }
  folder.resize(folder.find_last_of('/') + 1);
  return folder;
}

std::string provenance_table(const Report& report) {
  const std::string folder = common_folder(report.recordings);
  HtmlTable table("origins",
                  {"", "file", "verb", "date", "commit", "chip", "clocks at most", "CUDA",
                   "libraries", "host and compiler", "command"},
                  std::vector<bool>(11, false));
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    const Recording& r = report.recordings[i];
    const std::string clocks = r.text({"device", "gpu", "SM clock, at most"});
    table.add({text_cell(label_of(i)), text_cell(r.name.substr(folder.size()), "long"),
               text_cell(r.verb), text_cell(r.text({"date"})), text_cell(r.text({"commit"})),
               text_cell(r.text({"device", "gpu", "GPU"})),
               text_cell(clocks.empty() ? ""
                                        : fmt::format("SM {}, memory {}", clocks,
                                                      r.text({"device", "gpu", "memory clock"}))),
               text_cell(r.text({"device", "gpu", "CUDA runtime"})), text_cell(libraries_of(r)),
               text_cell(host_of(r)), text_cell(whole_command_of(r), "long")});
  }
  const std::string where =
      folder.empty() ? "" : fmt::format("Files are below <code>{}</code>. ", xml_text(folder));
  return fmt::format("<p>{}An empty cell is what the recording does not say.</p>\n", where) +
         table.html("");
}

std::string summary_of(const Report& report) {
  std::size_t rows = 0, wrong = 0, skipped = 0;
  for (const ReportedBench& bench : report.benches) {
    for (const BenchRow& row : bench.report.rows) {
      ++rows;
      wrong += !row.failure.empty() || !row.invalid.empty();
      skipped += !row.skipped.empty();
    }
  }
  return fmt::format(
      "<p class=\"dim\">{} recordings, {} rows of bench: {} skipped, {} wrong.</p>\n",
      report.recordings.size(), rows, skipped, wrong);
}

}  // namespace

std::string html(const Report& report) {
  struct Part {
    const char *id, *title;
    std::string content;
  };
  std::string roofs;
  for (const Figure& figure : rooflines_of(report)) roofs += html_of(figure);
  const Part parts[] = {{"climbs", "Climbs", html_of(climbs_of(report), "climb")},
                        {"shapes", "Every shape beside its rival", scatters(report)},
                        {"roofline", "Roofline", roofs},
                        {"accuracy", "Accuracy", accuracy(report)},
                        {"verdicts", "Verdicts", verdicts(report)},
                        {"rows", "All rows", all_rows(report)},
                        {"provenance", "Provenance", provenance_table(report)}};
  std::string links, sections;
  for (const Part& part : parts) {
    if (part.content.empty()) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", part.id, part.title);
    sections += section(part.id, part.title, part.content);
  }
  return page_of("warpladder report", summary_of(report) + "<nav>" + links + "</nav>\n" + sections);
}

}  // namespace warpladder::lab
