#include "lab/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "base/recording.hpp"
#include "base/whole_file.hpp"
#include "lab/axes.hpp"
#include "lab/origin.hpp"
#include "lab/shapes.hpp"
#include "lab/tune_journal.hpp"
#include "lab/tuning_file.hpp"
#include "tune_tables.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

struct TuneFlags {
  std::vector<std::string> names, axes;
  std::optional<std::string> shape, variant, shapes, budget;
  std::string into, csv;
  bool resume = false, from_own = false;
  DeviceFlags device;
  JsonFlag json;
};

std::string spaces_text() {
  std::vector<std::string> names;
  for (const ladder::AnySpace& space : ladder::all_spaces()) names.push_back(space.full_name());
  if (names.empty()) return "this program was built without any: WARPLADDER_SPACES is off";
  return fmt::format("these do: {}", fmt::join(names, ", "));
}

// A rung that is named must have a space; of an operator, those that have one.
std::vector<const ladder::AnySpace*> spaces_of(const std::vector<std::string>& names) {
  std::vector<const ladder::AnySpace*> spaces;
  for (const std::string& name : names) {
    bool any = false;
    for (const lab::Selected& selected : lab::select_once({name})) {
      const ladder::AnySpace* space = ladder::find_space(selected.op->name(), selected.rung->id);
      if (!space) continue;
      any = true;
      if (std::ranges::find(spaces, space) == spaces.end()) spaces.push_back(space);
    }
    if (!any) {
      throw_bad_input(fmt::format("{} declares no space of configurations; {}",
                                  in_quotes(name, kShownBytes), spaces_text()));
    }
  }
  return spaces;
}

std::vector<std::vector<std::int64_t>> shapes_of(const TuneFlags& flags, const ops::Operator& op) {
  if (flags.shape || !flags.axes.empty()) return shapes_asked_for(op, flags.shape, flags.axes);
  return op.bench_shapes();
}

std::vector<lab::TuneProblem> problems_of(const TuneFlags& flags) {
  std::vector<lab::TuneProblem> problems;
  for (const ladder::AnySpace* space : spaces_of(flags.names)) {
    const ops::Operator& op = ops::find_operator(space->op);
    if (flags.shapes) {
      require_alone("--shapes", {{"--shape", flags.shape.has_value()},
                                 {"-a", !flags.axes.empty()},
                                 {"--variant", flags.variant.has_value()}});
      for (const lab::ShapeLine& line : lab::read_shapes(op, *flags.shapes, "--shapes")) {
        problems.push_back({space, &op, line.variant, line.shape});
      }
      continue;
    }
    const std::string variant = flags.variant.value_or(op.variants().front());
    op.require_variant(variant);
    for (const std::vector<std::int64_t>& shape : shapes_of(flags, op)) {
      problems.push_back({space, &op, variant, shape});
    }
  }
  return problems;
}

// What --into has already, read before anything is measured.
std::string contents_of(const TuneFlags& flags, runtime::Target target) {
  if (flags.into.empty()) return "";
  if (target == runtime::Target::cpu) {
    throw_bad_input("--into keeps times, which the CPU side does not have; it needs --device gpu");
  }
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  if (!std::filesystem::exists(flags.into)) return "";
  return read_whole_file(flags.into, file_subject(flags.into, "--into"), kMostBytes);
}

nlohmann::json report_of(const lab::TuneRequest& request, const lab::TuneReport& report) {
  nlohmann::json object{{"verb", "tune"},
                        {"target", device::name(request.target)},
                        {"machine", lab::architecture_of(device::machine(request.target))},
                        {"problems", nlohmann::json::array()}};
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    object["problems"].push_back(lab::as_json(request.problems[p], report.problems[p]));
  }
  return object;
}

void write_winners(const TuneFlags& flags, const std::string& contents,
                   const lab::TuneRequest& request, const lab::TuneReport& report,
                   const Context& context) {
  const nlohmann::json file = lab::with_winners(
      contents, file_subject(flags.into, "--into"), request, report,
      lab::architecture_of(device::machine(request.target)), lab::origin(context.argv));
  write_output(flags.into, file.dump(2) + "\n", "--into");
}

bool any_fate(const lab::TuneReport& report, lab::Fate fate) {
  return std::ranges::any_of(report.problems, [&](const lab::TunedProblem& tuned) {
    return std::ranges::find(tuned.search.candidates, fate, &lab::CandidateResult::fate) !=
           tuned.search.candidates.end();
  });
}

void tune(const TuneFlags& flags, Context& context) {
  const std::string journal_path = journal_path_of(flags.json, flags.resume, ".trials.jsonl");
  lab::TuneRequest request;
  request.target = flags.device.target();
  request.executor_threads = flags.device.threads;
  request.problems = problems_of(flags);
  request.from_own = flags.from_own;
  if (flags.budget) request.budget_s = parse_duration(*flags.budget, "--budget");
  const std::string contents = contents_of(flags, request.target);
  // Refuses a file of something else before anything is measured.
  if (!flags.into.empty()) {
    lab::with_winners(contents, file_subject(flags.into, "--into"), request, {},
                      lab::architecture_of(device::machine(request.target)), {});
  }
  std::optional<lab::TuneJournal> journal;
  if (!journal_path.empty()) {
    const nlohmann::json origin = lab::origin(context.argv);
    journal = flags.resume ? lab::TuneJournal::resume(journal_path, request, origin)
                           : lab::TuneJournal::begin(journal_path, request, origin);
  }
  lab::TuneListener listener;
  if (journal) {
    listener.candidate = [&](std::size_t problem, std::size_t candidate,
                             const lab::CandidateResult& result) {
      journal->add(problem, candidate, result);
    };
    listener.problem = [&](std::size_t problem, const lab::TunedProblem& tuned) {
      journal->add(problem, tuned);
    };
  }
  const lab::TuneReport report = lab::tune(request, progress_on_stderr(request.budget_s), listener);
  end_progress();
  const auto is_skipped = [](const lab::TunedProblem& tuned) { return !tuned.skipped.empty(); };
  if (std::ranges::all_of(report.problems, is_skipped)) {
    const std::string sentence = "nothing was tuned: " + report.problems.front().skipped;
    if (std::ranges::all_of(report.problems, &lab::TunedProblem::is_unsuited)) {
      throw_bad_input(sentence);
    }
    throw_resource(sentence);
  }

  print(table_of(request, report));
  print_line("");
  for (const std::string& note : notes_on(request, report)) print_line(note);
  if (!flags.into.empty()) write_winners(flags, contents, request, report, context);
  if (!flags.csv.empty()) write_output(flags.csv, csv_of(request, report), "--csv");
  if (flags.json.asked()) flags.json.write(context, report_of(request, report));
  const bool is_whole = !any_fate(report, lab::Fate::not_reached);
  if (journal && is_whole) journal->remove();
  if (any_fate(report, lab::Fate::wrong)) {
    context.exit_code = static_cast<int>(ErrorCode::check_failed);
  }
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand(
      "tune", "Find the fastest configuration of rungs that declare a space, problem by problem");
  const auto flags = std::make_shared<TuneFlags>();
  verb->add_option("OP[/RUNG]", flags->names, "Operators or single rungs")
      ->type_name("")
      ->required();
  add_sizes(*verb, flags->shape, flags->axes);
  verb->add_option("--variant", flags->variant, "Of the operator, as list shows them")
      ->type_name("NAME");
  verb->add_option("--shapes", flags->shapes, "Many problems, as bench takes them")
      ->type_name("FILE");
  verb->add_flag("--from-own", flags->from_own,
                 "Begin with the rung's own configuration, not with one that was found before");
  add_parts(*verb, flags->budget, flags->resume);
  add_output_file(*verb, "--into", flags->into,
                  "Put the winners into this tuning file, tuning/ARCHITECTURE/OP.json");
  add_output_file(*verb, "--csv", flags->csv,
                  "Write a line per configuration as comma-separated values");
  flags->device.add_to(*verb);
  flags->json.add_to(*verb);
  verb->footer(
      "Each configuration is judged before it is timed. With --json FILE each is written to\n"
      "FILE.trials.jsonl as soon as it is done, and the file goes when FILE holds them all.\n"
      "On the CPU the executor's counts are the cost: it ranks, and is no time of a GPU.");
  verb->callback([flags, &context] { tune(*flags, context); });
}

}  // namespace warpladder::app
