#include "lab/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "bench_tables.hpp"
#include "exchange.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::Change;
using lab::Compared;
using lab::Comparison;

constexpr std::size_t kNamed = 20;

struct CompareFlags {
  std::string old_path, new_path;
  std::string threshold = "3%";
  std::vector<std::string> fail_on;
  std::string csv, junit;
  JsonFlag json;
};

// What --fail-on names.
struct FailOn {
  bool slower = false, unsure = false, missing = false;
};

FailOn fail_on_of(const CompareFlags& flags) {
  FailOn fail_on;
  for (const std::string& word : flags.fail_on) {
    bool* const wanted = word == "slower"    ? &fail_on.slower
                         : word == "unsure"  ? &fail_on.unsure
                         : word == "missing" ? &fail_on.missing
                                             : nullptr;
    if (!wanted) {
      throw_bad_input(fmt::format("--fail-on has {}, but knows slower, unsure and missing",
                                  in_quotes(word, kShownBytes)));
    }
    *wanted = true;
  }
  return fail_on;
}

// 3% or 0.03.
double threshold_of(const std::string& text) {
  const bool percent = text.ends_with('%');
  const std::string number = text.substr(0, text.size() - percent);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end) / (percent ? 100 : 1);
  const bool is_number = !number.empty() && *end == '\0' && std::isfinite(value);
  if (!is_number || !(value > 0) || !(value <= 1)) {
    throw_bad_input(fmt::format("--threshold is {}, but must be above 0 and at most 100%",
                                in_quotes(text, kShownBytes)));
  }
  return value;
}

Recording recording_of(const std::string& path, const char* argument) {
  Recording recording = read_recording(path, argument);
  if (recording.has_samples()) return recording;
  throw_bad_input(fmt::format(
      "{} holds no samples{}; compare takes reports of bench", file_subject(path, argument),
      recording.verb.empty() ? "" : ": it is a report of " + recording.verb));
}

bool fails(Change change, const FailOn& fail_on) {
  return (change == Change::slow && fail_on.slower) || (change == Change::unsure && fail_on.unsure);
}

std::string interval_text(const lab::Ratio& ratio) {
  if (!std::isfinite(ratio.high)) return "-";
  return fmt::format("{:.3f} to {:.3f}", ratio.low, ratio.high);
}

Emphasis emphasis_of(Change change) {
  if (change == Change::slow) return Emphasis::bad;
  if (change == Change::fast) return Emphasis::good;
  return change == Change::unsure ? Emphasis::none : Emphasis::dim;
}

void print_differences(const Comparison& comparison) {
  if (!comparison.differences.empty()) print_line("The recordings differ:\n");
  TextTable table({{"in"}, {"what"}, {"OLD"}, {"NEW"}});
  std::string commands;  // too long for a table
  bool any_row = false;
  for (const lab::Difference& d : comparison.differences) {
    if (d.name == "command") {
      commands = "OLD's command: " + d.old_value + "\nNEW's command: " + d.new_value + "\n";
    } else {
      table.add_row({d.what, d.name, d.old_value, d.new_value});
      any_row = true;
    }
  }
  if (any_row) print(table);
  if (any_row) print_line("");
  if (!commands.empty()) print_line(commands);
  for (const std::string& sentence : comparison.lacks) print_line(sentence);
  if (!comparison.lacks.empty()) print_line("");
}

void print_rows(const Comparison& comparison) {
  if (comparison.rows.empty()) return;
  TextTable table({{"rung and problem"},
                   {"caches"},
                   {"OLD", Align::right},
                   {"NEW", Align::right},
                   {"NEW ÷ OLD", Align::right},
                   {"95 % interval", Align::right},
                   {""},
                   {"remark"}});
  for (const Compared& row : comparison.rows) {
    table.add_row({lab::title_of(*row.new_row),
                   row.kind->name,
                   median_text(row.old_row->*row.kind->samples),
                   median_text(row.new_row->*row.kind->samples),
                   fmt::format("{:.3f}", row.ratio.value),
                   interval_text(row.ratio),
                   {lab::name(row.change), emphasis_of(row.change)},
                   row.remark});
  }
  print(table);
  print_line("");
}

void print_not_compared(const Comparison& comparison) {
  std::size_t named = 0;
  for (const lab::NotCompared& row : comparison.not_compared) {
    if (named++ == kNamed) break;
    print_line(fmt::format("- not compared: {}: {}", lab::title_of(*row.row), row.reason));
  }
  if (comparison.not_compared.size() > kNamed) {
    print_line(fmt::format("- … and {} more, which --json and --csv name",
                           comparison.not_compared.size() - kNamed));
  }
  if (named) print_line("");
}

std::string verdict_text(const Comparison& comparison, double threshold) {
  std::vector<std::string> counts;
  for (const Change change : lab::kChanges) {
    counts.push_back(fmt::format("{} {}", comparison.count(change), lab::name(change)));
  }
  std::string text =
      fmt::format("{} at a threshold of {:.3g} %", fmt::join(counts, ", "), 100 * threshold);
  if (const std::size_t missing = comparison.missing()) {
    text += fmt::format("; {} of OLD {} no time in NEW", missing, missing == 1 ? "has" : "have");
  }
  if (comparison.differs_in("machine")) text += "; machines differ, so ratios compare them too";
  return text + ".";
}

std::string notes() {
  return "A ratio is NEW's median time over OLD's. Its interval comes from the order of the "
         "samples "
         "alone. It covers the noise within each recording; what changes from run to run is in "
         "neither, and the threshold is for that.";
}

nlohmann::json as_json(const Comparison& comparison, double threshold, const Recording& before,
                       const Recording& after) {
  using nlohmann::json;
  json object{{"verb", "compare"},      {"old", before.name},           {"new", after.name},
              {"threshold", threshold}, {"differences", json::array()}, {"lacks", comparison.lacks},
              {"rows", json::array()},  {"not_compared", json::array()}};
  for (const lab::Difference& d : comparison.differences) {
    object["differences"].push_back(
        {{"what", d.what}, {"name", d.name}, {"old", d.old_value}, {"new", d.new_value}});
  }
  for (const Compared& row : comparison.rows) {
    const auto median = [&](const RecordedRow& side) {
      return lab::statistics(side.*row.kind->samples).median;
    };
    json ratio{{"value", row.ratio.value}, {"low", nullptr}, {"high", nullptr}};
    if (std::isfinite(row.ratio.high)) {
      ratio["low"] = row.ratio.low;
      ratio["high"] = row.ratio.high;
    }
    object["rows"].push_back({{"op", row.new_row->op},
                              {"rung", row.new_row->rung},
                              {"variant", row.new_row->variant},
                              {"shape", row.new_row->shape},
                              {"caches", row.kind->name},
                              {"old_median_s", median(*row.old_row)},
                              {"new_median_s", median(*row.new_row)},
                              {"ratio", std::move(ratio)},
                              {"change", lab::name(row.change)},
                              {"remark", row.remark}});
  }
  for (const lab::NotCompared& row : comparison.not_compared) {
    object["not_compared"].push_back({{"op", row.row->op},
                                      {"rung", row.row->rung},
                                      {"variant", row.row->variant},
                                      {"shape", row.row->shape},
                                      {"missing", row.missing},
                                      {"reason", row.reason}});
  }
  return object;
}

std::string csv(const Comparison& comparison) {
  std::string text =
      "op,rung,variant,shape,caches,old_median_s,new_median_s,ratio,low,high,change,remark\n";
  for (const Compared& row : comparison.rows) {
    const RecordedRow& now = *row.new_row;
    const bool bounded = std::isfinite(row.ratio.high);
    const auto median = [&](const RecordedRow& side) {
      return fmt::format("{:.6g}", lab::statistics(side.*row.kind->samples).median);
    };
    text += csv_line(
        {now.op, now.rung, now.variant, warpladder::shape_text(now.shape), row.kind->name,
         median(*row.old_row), median(now), fmt::format("{:.6g}", row.ratio.value),
         bounded ? fmt::format("{:.6g}", row.ratio.low) : "",
         bounded ? fmt::format("{:.6g}", row.ratio.high) : "", lab::name(row.change), row.remark});
  }
  for (const lab::NotCompared& row : comparison.not_compared) {
    text += csv_line({row.row->op, row.row->rung, row.row->variant,
                      warpladder::shape_text(row.row->shape), "", "", "", "", "", "",
                      row.missing ? "MISSING" : "", row.reason});
  }
  return text;
}

// A case fails where --fail-on makes the command fail.
std::string junit(const Comparison& comparison, const FailOn& fail_on) {
  std::vector<JunitCase> cases;
  for (const Compared& row : comparison.rows) {
    JunitCase& each = cases.emplace_back();
    each.class_name = row.new_row->op + "." + row.new_row->rung;
    each.name = fmt::format("{} {}", lab::title_of(*row.new_row), row.kind->name);
    each.message = fmt::format("{}: NEW ÷ OLD is {:.3f}, interval {}", lab::name(row.change),
                               row.ratio.value, interval_text(row.ratio));
    if (!row.remark.empty()) each.message += "; " + row.remark;
    if (fails(row.change, fail_on)) {
      each.outcome = Outcome::failed;
    } else if (row.change == Change::unsure) {
      each.outcome = Outcome::skipped;
    }
  }
  for (const lab::NotCompared& row : comparison.not_compared) {
    cases.push_back({row.row->op + "." + row.row->rung, lab::title_of(*row.row),
                     row.missing && fail_on.missing ? Outcome::failed : Outcome::skipped,
                     row.reason});
  }
  return app::junit("warpladder compare", cases);
}

void compare(const CompareFlags& flags, Context& context) {
  const FailOn fail_on = fail_on_of(flags);
  const double threshold = threshold_of(flags.threshold);
  const Recording before = recording_of(flags.old_path, "OLD"),
                  after = recording_of(flags.new_path, "NEW");
  const Comparison comparison = lab::compare(before, after, threshold);
  print_differences(comparison);
  print_rows(comparison);
  print_not_compared(comparison);
  print_line(verdict_text(comparison, threshold));
  if (!comparison.rows.empty()) print_line(notes());
  if (!flags.csv.empty()) write_output(flags.csv, csv(comparison), "--csv");
  if (!flags.junit.empty()) write_output(flags.junit, junit(comparison, fail_on), "--junit");
  if (flags.json.asked()) flags.json.write(context, as_json(comparison, threshold, before, after));
  if (comparison.rows.empty()) throw_bad_input("OLD and NEW have no timed row in common");
  const bool is_bad = std::ranges::any_of(
      comparison.rows, [&](const Compared& row) { return fails(row.change, fail_on); });
  if (is_bad || (fail_on.missing && comparison.missing() > 0)) {
    context.exit_code = static_cast<int>(ErrorCode::check_failed);
  }
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  auto* verb =
      app.add_subcommand("compare", "Say what became faster or slower between two reports");
  const auto flags = std::make_shared<CompareFlags>();
  verb->add_option("OLD", flags->old_path, "A report of bench")->type_name("")->required();
  verb->add_option("NEW", flags->new_path, "A later one")->type_name("")->required();
  verb->add_option("--threshold", flags->threshold,
                   "How much longer counts as slower (default: 3%)")
      ->type_name("X%");
  verb->add_option(
          "--fail-on", flags->fail_on,
          "Exit with 1 on one, or several with commas: slower; unsure; missing, a row that "
          "NEW does not time")
      ->type_name("WHAT")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_output_file(*verb, "--csv", flags->csv, "Write a line per row as comma-separated values");
  add_output_file(*verb, "--junit", flags->junit, "Write a test case per row as JUnit's XML");
  flags->json.add_to(*verb);
  verb->footer(
      "SLOW: the whole interval of the ratio lies above 1 + threshold. FAST: below 1 / (1 + "
      "threshold).\nSAME: between the two. UNSURE: across one of them, or too few samples.");
  verb->callback([flags, &context] { compare(*flags, context); });
}

}  // namespace warpladder::app
