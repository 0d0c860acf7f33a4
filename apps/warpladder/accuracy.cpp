#include "lab/accuracy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>

#include "accuracy_tables.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "exchange.hpp"
#include "lab/accuracy_picture.hpp"
#include "lab/axes.hpp"
#include "lab/recorded_accuracy.hpp"
#include "lab/shapes.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::AccuracyReport;

struct AccuracyFlags {
  std::vector<std::string> names, axes;
  std::string distributions = "all", seed = "1", svg, csv;
  std::optional<std::string> rival, factor, shapes, recorded;
  DeviceFlags device;
  JsonFlag json;
};

// The operator of the named rungs, and these rungs, each once.
const ops::Operator* select_rungs(const AccuracyFlags& flags,
                                  std::vector<const ladder::AnyRung*>& rungs) {
  const ops::Operator* op = nullptr;
  for (const lab::Selected& selected : lab::select_once(flags.names)) {
    if (!selected.op->accuracy()) {
      std::vector<std::string> measured;
      for (const auto& each : ops::all_operators()) {
        if (each->accuracy()) measured.push_back(each->name());
      }
      throw_bad_input(fmt::format("accuracy does not measure {}; it measures: {}",
                                  selected.op->name(), fmt::join(measured, ", ")));
    }
    if (op && op != selected.op) {
      throw_bad_input(fmt::format("accuracy measures one operator at a time, not {} and {}",
                                  op->name(), selected.op->name()));
    }
    op = selected.op;
    rungs.push_back(selected.rung);
  }
  return op;
}

// A size without an axis takes the operator's values for the target.
std::vector<std::vector<std::int64_t>> shapes_for(const ops::Operator& op, runtime::Target target,
                                                  const std::vector<std::string>& texts) {
  std::vector<lab::Axis> axes;
  for (const std::string& text : texts) axes.push_back(lab::parse_axis(text));
  const std::vector<std::string> names = lab::size_names(op.shape_form());
  const std::vector<std::vector<std::int64_t>> values = op.accuracy()->sizes(target);
  const std::size_t given = axes.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto names_it = [&](const lab::Axis& axis) {
      return std::ranges::find(axis.names, names[i]) != axis.names.end();
    };
    if (std::none_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(given), names_it)) {
      axes.push_back({{names[i]}, values[i]});
    }
  }
  return lab::shapes_of(axes, names, op.default_shape(), op.name());
}

std::vector<std::string> distributions_of(const ops::Operator& op, const std::string& text) {
  if (text != "all") return lab::parse_list(text);
  std::vector<std::string> all;
  for (const ops::Distribution& d : op.accuracy()->distributions()) all.push_back(d.name);
  return all;
}

// Checked before anything runs: this must be the operator's rival, and it must be able to run.
void require_rival(const ops::Operator& op, runtime::Target target, const std::string& name) {
  const ops::Rival* rival = lab::accuracy_rival(op, target);
  const std::string quoted = in_quotes(name, kShownBytes);
  if (!rival || rival->name != name) {
    throw_bad_input(fmt::format("--no-worse-than {} is not the rival of {} on the {}, which is {}",
                                quoted, op.name(), device::name(target),
                                rival ? rival->name : "none"));
  }
  const std::string why_not = rival->why_not ? rival->why_not() : "";
  if (!why_not.empty()) {
    throw_resource(fmt::format("--no-worse-than {} cannot run: {}", quoted, why_not));
  }
}

double factor_of(const AccuracyFlags& flags) {
  if (!flags.factor) return 1;
  if (!flags.rival) throw_bad_input("--factor is for --no-worse-than; give both");
  const float factor = parse_float(*flags.factor, "--factor");
  if (!(std::isfinite(factor) && factor > 0)) {
    throw_bad_input(fmt::format("--factor is {}, but must be a number above 0",
                                in_quotes(*flags.factor, kShownBytes)));
  }
  return static_cast<double>(factor);
}

nlohmann::json as_json(const lab::AccuracyPoint& point, const ops::AccuracyProblem& problem,
                       const std::string& judged_in_part) {
  // An infinite error is null: JSON has no word for it.
  nlohmann::json object{{"distribution", problem.distribution},
                        {"shape", problem.shape},
                        {"skipped", point.skipped},
                        {"failure", point.failure},
                        {"judged_in_part", judged_in_part}};
  if (!problem.variant.empty()) object["variant"] = problem.variant;
  if (point.skipped.empty()) {
    for (const lab::ErrorMeasure& measure : lab::kErrorMeasures) {
      object[measure.key] = point.errors.*measure.value;
    }
    object["not_finite"] = point.errors.not_finite;
  }
  return object;
}

// A line for each rung and problem.
std::string csv(const AccuracyReport& report) {
  std::vector<std::string> heads{"op", "rung", "rival", "variant", "shape", "distribution"};
  for (const lab::ErrorMeasure& measure : lab::kErrorMeasures) heads.emplace_back(measure.key);
  heads.insert(heads.end(), {"not_finite", "failure", "skipped"});
  std::string text = csv_line(heads);
  for (const lab::AccuracyRow& row : report.rows) {
    for (std::size_t i = 0; i < row.points.size(); ++i) {
      const lab::AccuracyPoint& point = row.points[i];
      const ops::AccuracyProblem& problem = report.problems[i];
      std::vector<std::string> fields{report.op,
                                      row.rung,
                                      row.rival ? "true" : "false",
                                      problem.variant,
                                      fmt::format("{}", fmt::join(problem.shape, "x")),
                                      problem.distribution};
      const bool is_measured = point.skipped.empty();
      for (const lab::ErrorMeasure& measure : lab::kErrorMeasures) {
        fields.push_back(is_measured ? fmt::format("{:.6g}", point.errors.*measure.value) : "");
      }
      fields.push_back(is_measured ? std::to_string(point.errors.not_finite) : "");
      fields.insert(fields.end(), {point.failure, point.skipped});
      text += csv_line(fields);
    }
  }
  return text;
}

nlohmann::json as_json(const AccuracyReport& report, const std::vector<lab::Excess>& excesses) {
  nlohmann::json object{{"verb", "accuracy"},
                        {"op", report.op},
                        {"libraries", report.libraries},
                        {"distributions", nlohmann::json::array()},
                        {"rows", nlohmann::json::array()},
                        {"worse", nlohmann::json::array()}};
  for (const ops::Distribution& d : report.distributions) {
    object["distributions"].push_back({{"name", d.name}, {"what", d.what}});
  }
  for (const lab::AccuracyRow& row : report.rows) {
    nlohmann::json points = nlohmann::json::array();
    for (std::size_t i = 0; i < row.points.size(); ++i) {
      points.push_back(as_json(row.points[i], report.problems[i], report.judged_in_part[i]));
    }
    object["rows"].push_back(
        {{"rung", row.rung}, {"rival", row.rival}, {"skipped", row.skipped}, {"points", points}});
  }
  for (const lab::Excess& e : excesses) {
    object["worse"].push_back({{"rung", e.rung},
                               {"distribution", report.problems[e.problem].distribution},
                               {"shape", report.problems[e.problem].shape},
                               {"variant", report.problems[e.problem].variant},
                               {"measure", e.measure->key},
                               {"error", e.error},
                               {"of_rival", e.of_rival}});
  }
  return object;
}

void print_sections(const AccuracyReport& report) {
  for (const AccuracySection& section : sections_of(report)) {
    print_line(section.title + "\n");
    for (const TextTable& table : section.tables) {
      print(table);
      print_line("");
    }
  }
}

// Of a file of shapes the largest ratios; all errors are in the JSON.
void print_report(const AccuracyReport& report, bool by_shape) {
  const std::vector<lab::ShapeErrors> shapes = lab::errors_by_shape(report);
  if (by_shape && !shapes.empty()) {
    print(table_of(shapes, report));
    print_line("");
  } else {
    print_sections(report);
  }
  for (const std::string& remark : remarks_on(report)) print_line(remark);
}

// No rung ran, or none accepted a problem.
bool nothing_measured(const AccuracyReport& report) {
  const auto was_measured = [](const lab::AccuracyPoint& point) { return point.skipped.empty(); };
  return std::ranges::none_of(report.rows, [&](const lab::AccuracyRow& row) {
    return !row.rival && std::ranges::any_of(row.points, was_measured);
  });
}

bool is_wrong(const lab::AccuracyPoint& point) {
  return !point.failure.empty() || point.errors.not_finite > 0;
}

void set_shapes(lab::AccuracyRequest& request, const AccuracyFlags& flags) {
  if (!flags.shapes) {
    request.shapes = shapes_for(*request.op, request.target, flags.axes);
    return;
  }
  require_alone("--shapes", {{"-a", !flags.axes.empty()}});
  if (!flags.svg.empty()) throw_bad_input("--svg draws errors against k, not those of --shapes");
  for (const lab::ShapeLine& line : lab::read_shapes(*request.op, *flags.shapes, "--shapes")) {
    request.shapes.push_back(line.shape);
    request.variants.push_back(line.variant);
  }
}

// Nothing runs: the errors are those of an earlier report.
void show_recorded(const AccuracyFlags& flags) {
  for (const auto& [flag, is_given] : {std::pair{"-a", !flags.axes.empty()},
                                       {"--shapes", flags.shapes.has_value()},
                                       {"--no-worse-than", flags.rival.has_value()},
                                       {"--json", flags.json.asked()}}) {
    if (is_given)
      throw_bad_input(fmt::format("--recorded measures nothing, so {} is not for it", flag));
  }
  const Recording recording = read_recording(*flags.recorded, "--recorded");
  std::vector<std::string> distributions = lab::parse_list(flags.distributions);
  if (flags.distributions == "all") distributions = lab::distributions_in(recording);
  const AccuracyReport report = lab::accuracy_of(recording, flags.names, distributions);
  print_report(report, false);
  print_line(notes_on(report));
  if (!flags.svg.empty()) write_output(flags.svg, lab::svg(report), "--svg");
  if (!flags.csv.empty()) write_output(flags.csv, csv(report), "--csv");
}

void accuracy(const AccuracyFlags& flags, Context& context) {
  if (flags.recorded) return show_recorded(flags);
  lab::AccuracyRequest request;
  request.op = select_rungs(flags, request.rungs);
  request.seed = static_cast<std::uint64_t>(parse_size(flags.seed, "--seed"));
  request.distributions = distributions_of(*request.op, flags.distributions);
  const double factor = factor_of(flags);
  request.target = flags.device.target();
  set_shapes(request, flags);
  request.executor_threads = flags.device.threads;
  if (flags.rival) require_rival(*request.op, request.target, *flags.rival);

  const AccuracyReport report = lab::accuracy(request, progress_on_stderr());
  end_progress();
  std::vector<lab::Excess> excesses;
  if (flags.rival) excesses = lab::worse_than_rival(report, factor);
  const bool is_empty = nothing_measured(report);
  if (is_empty) {
    for (const std::string& remark : remarks_on(report)) print_line(remark);
  } else {
    print_report(report, flags.shapes.has_value());
    print_line(fmt::format("{} Seed: {}.", notes_on(report), request.seed));
    if (!excesses.empty()) {
      print_line(fmt::format("\nFarther from the truth than {} × {:.4g}:\n", *flags.rival, factor));
      print(table_of(excesses, report));
    } else if (flags.rival) {
      print_line(fmt::format("\nNo rung is farther from the truth than {} × {:.4g}.", *flags.rival,
                             factor));
    }
  }
  if (!flags.svg.empty() && !is_empty) write_output(flags.svg, lab::svg(report), "--svg");
  if (!flags.csv.empty()) write_output(flags.csv, csv(report), "--csv");
  if (flags.json.asked()) {
    nlohmann::json object = as_json(report, excesses);
    object["target"] = device::name(request.target);
    object["seed"] = request.seed;
    object["threads"] = flags.device.threads ? flags.device.threads
                                             : std::max(1u, std::thread::hardware_concurrency());
    if (flags.rival) object["no_worse_than"] = {{"rival", *flags.rival}, {"factor", factor}};
    flags.json.write(context, std::move(object));
  }
  if (is_empty) {
    throw_resource(fmt::format("nothing was measured: no selected rung can run on the {}",
                               device::name(request.target)));
  }
  const auto has_wrong = [](const lab::AccuracyRow& row) {
    return !row.rival && std::ranges::any_of(row.points, is_wrong);
  };
  if (!excesses.empty() || std::ranges::any_of(report.rows, has_wrong)) {
    context.exit_code = static_cast<int>(ErrorCode::check_failed);
  }
}

std::string footer() {
  std::string text = "Distributions:\n";
  for (const auto& op : ops::all_operators()) {
    if (!op->accuracy()) continue;
    for (const ops::Distribution& d : op->accuracy()->distributions()) {
      text += fmt::format("  {} {:<15}{}\n", op->name(), d.name, d.what);
    }
  }
  for (const auto& op : ops::all_operators()) {
    if (!op->accuracy()) continue;
    text += fmt::format("Sizes of {} that -a does not give:\n", op->name());
    for (const auto target : {runtime::Target::cpu, runtime::Target::gpu}) {
      text += fmt::format("  {}: ", device::name(target));
      const auto values = op->accuracy()->sizes(target);
      const auto names = lab::size_names(op->shape_form());
      for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("{}{}=[{}]", i ? " " : "", names[i], fmt::join(values[i], ","));
      }
      text += "\n";
    }
  }
  return text +
         "Every element of C is judged; of products of more than 5e9 multiply-adds, some "
         "130 rows are.";
}

}  // namespace

void add_accuracy(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand(
      "accuracy", "Measure how far rungs and their rival are from the exact result");
  const auto flags = std::make_shared<AccuracyFlags>();
  verb->add_option("OP[/RUNG]", flags->names, "An operator or single rungs of it")
      ->type_name("")
      ->required();
  verb->add_option("-a,--axis", flags->axes,
                   "Values of sizes: 'k=[pow2:4:16]', 'm,n=[64]'; several make their product")
      ->type_name("NAMES=VALUES")
      ->allow_extra_args(false);
  verb->add_option("--shapes", flags->shapes,
                   "Problems, a line of FILE each, as bench takes them; prints the largest ratios")
      ->type_name("FILE");
  verb->add_option("--distribution", flags->distributions,
                   "Of the operands, one or several with commas (default: all)")
      ->type_name("NAMES");
  verb->add_option("--seed", flags->seed, "Of the operands (default: 1)")->type_name("N");
  verb->add_option("--no-worse-than", flags->rival,
                   "Exit with 1 and a list if a rung's error exceeds the rival's")
      ->type_name("RIVAL");
  verb->add_option("--factor", flags->factor, "By more than this (default: 1)")->type_name("X");
  verb->add_option("--recorded", flags->recorded,
                   "Measure nothing: print and draw an earlier report")
      ->type_name("JSON");
  add_output_file(*verb, "--svg", flags->svg, "Draw the errors against k");
  add_output_file(*verb, "--csv", flags->csv, "Write a line per error as comma-separated values");
  flags->device.add_to(*verb);
  flags->json.add_to(*verb);
  verb->footer(footer());
  verb->callback([flags, &context] { accuracy(*flags, context); });
}

}  // namespace warpladder::app
