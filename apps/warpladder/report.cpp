#include "lab/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "exchange.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::BenchRow;
using lab::Report;

struct ReportFlags {
  std::vector<std::string> paths;
  std::string html, csv, junit;
  JsonFlag json;
};

bool is_report(const Recording& recording) {
  return !recording.rows.empty() || !recording.verdicts.empty() || !recording.accuracy.empty();
}

// The recordings of a folder and the folders in it, by name; other files are left out with a
// remark.
void add_folder(const std::string& path, std::vector<Recording>& recordings,
                std::vector<std::string>& left_out) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(path, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) {
    throw_bad_input(fmt::format("{} cannot be read: {}", in_quotes(path), error.message()));
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    try {
      Recording recording = read_recording(file.string());
      if (is_report(recording)) {
        recordings.push_back(std::move(recording));
      } else {
        left_out.push_back(in_quotes(file.string()) + " holds no rows");
      }
    } catch (const Error& fault) {
      left_out.push_back(fault.what());
    }
  }
}

Report report_of(const ReportFlags& flags, std::vector<std::string>& left_out) {
  std::vector<Recording> recordings;
  for (const std::string& path : flags.paths) {
    std::error_code absent;
    if (std::filesystem::is_directory(path, absent)) {
      add_folder(path, recordings, left_out);
      continue;
    }
    recordings.push_back(read_recording(path, "RESULTS"));
    if (!is_report(recordings.back())) {
      throw_bad_input(fmt::format("{} holds no rows of bench, verify or accuracy",
                                  file_subject(path, "RESULTS")));
    }
  }
  if (recordings.empty()) throw_bad_input("RESULTS holds no report of bench, verify or accuracy");
  return lab::report_of(std::move(recordings));
}

std::optional<double> median_of(const std::vector<double>& samples) {
  if (samples.empty()) return std::nullopt;
  return lab::statistics(samples).median;
}

nlohmann::json known(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json();
}

std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : "";
}

std::optional<double> above_zero(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

nlohmann::json as_json(const Report& report, const std::vector<std::string>& left_out) {
  using nlohmann::json;
  json object{{"verb", "report"},
              {"left_out", left_out},
              {"recordings", json::array()},
              {"rows", json::array()}};
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    const Recording& r = report.recordings[i];
    object["recordings"].push_back({{"label", lab::label_of(i)},
                                    {"file", r.name},
                                    {"verb", r.verb},
                                    {"date", r.text({"date"})},
                                    {"commit", r.text({"commit"})},
                                    {"gpu", r.text({"device", "gpu", "GPU"})},
                                    {"verdicts", r.verdicts.size()},
                                    {"accuracy", r.accuracy.size()},
                                    {"rows", r.rows.size()}});
  }
  for (const lab::ReportedBench& bench : report.benches) {
    for (const BenchRow& row : bench.report.rows) {
      object["rows"].push_back(
          {{"recording", lab::label_of(bench.recording)},
           {"op", row.op},
           {"rung", row.rung},
           {"variant", row.variant},
           {"shape", row.shape},
           {"class", row.shape_class},
           {"rival", row.rival},
           {"verified", row.verified},
           {"hot_median_s", known(median_of(row.samples_s))},
           {"cold_median_s", known(median_of(row.cold_samples_s))},
           {"rate_per_s", known(above_zero(lab::rate_of(row)))},
           {"over_rival", known(above_zero(lab::speedup_of(row, bench.report)))},
           {"skipped", row.skipped},
           {"failure", row.failure},
           {"invalid", row.invalid}});
    }
  }
  return object;
}

std::string csv(const Report& report) {
  std::string text =
      "recording,op,rung,variant,shape,class,rival,verified,hot_median_s,cold_median_s,rate_per_s,"
      "over_rival,note\n";
  for (const lab::ReportedBench& bench : report.benches) {
    for (const BenchRow& row : bench.report.rows) {
      const std::string& note = !row.failure.empty()   ? row.failure
                                : !row.invalid.empty() ? row.invalid
                                                       : row.skipped;
      text += csv_line(
          {lab::label_of(bench.recording), row.op, row.rung, row.variant,
           warpladder::shape_text(row.shape), row.shape_class, row.rival ? "true" : "false",
           row.verified ? "true" : "false", csv_number(median_of(row.samples_s)),
           csv_number(median_of(row.cold_samples_s)), csv_number(above_zero(lab::rate_of(row))),
           csv_number(above_zero(lab::speedup_of(row, bench.report))), note});
    }
  }
  return text;
}

// A row fails, as in bench and verify, if its result is wrong or its time is impossible.
std::string junit(const Report& report) {
  std::vector<JunitCase> cases;
  for (const lab::ReportedBench& bench : report.benches) {
    for (const BenchRow& row : bench.report.rows) {
      cases.push_back(
          junit_case(fmt::format("{}.{}.{}", lab::label_of(bench.recording), row.op, row.rung),
                     fmt::format("{} {}", row.variant, warpladder::shape_text(row.shape)),
                     row.failure.empty() ? row.invalid : row.failure, row.skipped));
    }
  }
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    for (const RecordedVerdict& verdict : report.recordings[i].verdicts) {
      const std::string name = fmt::format("{}.{}.{}", lab::label_of(i), verdict.op, verdict.rung);
      if (!verdict.skipped.empty()) {
        cases.push_back(junit_case(name, verdict.flavour, "", verdict.skipped));
      }
      for (const RecordedCase& each : verdict.cases) {
        cases.push_back(
            junit_case(name, fmt::format("{} {}", verdict.flavour, each.name), each.failure));
      }
    }
  }
  return app::junit("warpladder report", cases);
}

void report(const ReportFlags& flags, Context& context) {
  if (flags.html.empty() && flags.csv.empty() && flags.junit.empty() && !flags.json.asked()) {
    throw_bad_input("report needs --html FILE, --json FILE, --csv FILE or --junit FILE");
  }
  std::vector<std::string> left_out;
  const Report report = report_of(flags, left_out);
  if (!flags.html.empty()) write_output(flags.html, lab::html(report), "--html");
  if (!flags.csv.empty()) write_output(flags.csv, csv(report), "--csv");
  if (!flags.junit.empty()) write_output(flags.junit, junit(report), "--junit");
  const std::size_t count = report.recordings.size();
  print_line(fmt::format("{} {}", count, count == 1 ? "recording" : "recordings"));
  for (const std::string& sentence : left_out) print_line("- left out: " + sentence);
  if (flags.json.asked()) flags.json.write(context, as_json(report, left_out));
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("report", "Make one page of earlier reports");
  const auto flags = std::make_shared<ReportFlags>();
  verb->add_option("RESULTS", flags->paths,
                   "Reports of bench, verify and accuracy, or folders of them")
      ->type_name("")
      ->required();
  add_output_file(*verb, "--html", flags->html,
                  "Write a page that needs nothing else: climbs, rooflines, accuracy, tables");
  add_output_file(*verb, "--csv", flags->csv, "Write a line per row as comma-separated values");
  add_output_file(*verb, "--junit", flags->junit, "Write a test case per row as JUnit's XML");
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { report(*flags, context); });
}

}  // namespace warpladder::app
