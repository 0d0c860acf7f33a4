// exercise: copies an exercise of the course, and says what a try at it still lacks.

#include "exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "lab/explain.hpp"
#include "programs/program.hpp"
#include "programs/toolchain.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

namespace fs = std::filesystem;
using lab::Exercise;
using lab::GoalResult;

struct ExerciseFlags {
  std::string number;  // empty: list them
  std::string tried;
  bool force = false;
};

void print_exercises() {
  TextTable table({{"exercise"}, {"page"}, {"file"}});
  for (const Exercise& e : lab::all_exercises()) {
    table.add_row({std::to_string(e.number), e.title, e.file});
  }
  print(table);
}

fs::path shipped_file(const Exercise& exercise) {
  return programs::find_shipped().include.parent_path() / "exercises" / exercise.file;
}

// Empty if the file cannot be read.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string shipped_text(const Exercise& exercise) {
  const fs::path file = shipped_file(exercise);
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw_resource(fmt::format("{} is missing: it is installed beside this program",
                               in_quotes(file.string())));
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void copy(const Exercise& exercise, bool force) {
  const std::string text = shipped_text(exercise);
  std::error_code error;
  if (!force && fs::exists(fs::symlink_status(exercise.file, error))) {
    throw_bad_input(fmt::format("{} exists in this folder; --force writes over it", exercise.file));
  }
  write_file(exercise.file, text);
  print_line(fmt::format("{} is here. Its comment says what to do, and marks the place as Hole.",
                         exercise.file));
  print_line(fmt::format("When it is done: warpladder exercise {} --check {}", exercise.number,
                         exercise.file));
}

// What is wrong with the results, a line each; nothing if they are right.
std::vector<std::string> wrong_results(const Exercise& exercise, const programs::Outcome& outcome) {
  std::vector<std::string> lines;
  for (const programs::Finding& f : outcome.findings) {
    lines.push_back(fmt::format("{}:{}: {}: {}", f.file, f.line, f.kind, text_of(f)));
  }
  if (outcome.signal) {
    lines.push_back(fmt::format("the program was ended by signal {}", outcome.signal));
  } else if (lines.empty() && outcome.status) {
    lines.push_back(fmt::format("the program ended with exit code {}", outcome.status));
  }
  const std::string kernel = exercise.kernel;
  const auto is_launched = [&](const auto& k) { return kernel.empty() || k.kernel == kernel; };
  if (lines.empty() && std::ranges::none_of(outcome.counts, is_launched)) {
    lines.push_back(fmt::format("no launch of {} was counted: keep its name", kernel));
  }
  return lines;
}

std::string goal_sentence(const GoalResult& result) {
  const lab::Goal& goal = *result.goal;
  const std::string limit =
      fmt::format("{} {:g}", goal.is_at_most ? "at most" : "at least", goal.limit);
  if (!result.counted) return fmt::format("{}: none counted, {} asked for", goal.what, limit);
  return fmt::format("{}: {:.3g}, {} asked for{}", goal.what, *result.counted, limit,
                     result.is_met ? "" : " (not met)");
}

// The line of most avoidable cycles, if there are any.
void print_waste(const std::vector<executor::KernelCounts>& launches) {
  const std::vector<lab::LineCounts> lines = lab::lines_of(launches);
  const auto blamed = lab::blame(lines);
  if (!blamed || lines[blamed->line].avoidable() == 0) return;
  const lab::LineCounts& line = lines[blamed->line];
  print_line(fmt::format("- line {}: {}", line.line, blamed->sentence));
}

void check(const Exercise& exercise, const std::string& file, Context& context) {
  programs::Request request;
  request.mode = "judge";
  request.files = {file};
  if (!judge(exercise, programs::run_program(request))) context.exit_code = 1;
}

void exercise(const ExerciseFlags& flags, Context& context) {
  if (flags.number.empty()) {
    if (flags.force || !flags.tried.empty()) throw_bad_input("exercise needs a number");
    return print_exercises();
  }
  const Exercise& chosen = lab::find_exercise(parse_size(flags.number, "N"));
  if (flags.tried.empty()) return copy(chosen, flags.force);
  if (flags.force) throw_bad_input("--check writes no file: leave --force away");
  check(chosen, flags.tried, context);
}

}  // namespace

const Exercise* exercise_in(const std::string& file) {
  const std::string line = first_line(file);
  if (line.empty()) return nullptr;
  for (const Exercise& exercise : lab::all_exercises()) {
    if (line == first_line(shipped_file(exercise))) return &exercise;
  }
  return nullptr;
}

bool judge(const Exercise& exercise, const programs::Outcome& outcome) {
  const std::vector<std::string> wrong = wrong_results(exercise, outcome);
  const std::vector<GoalResult> goals = lab::judge_goals(exercise, outcome.counts);
  const auto unmet = std::ranges::find(goals, false, &GoalResult::is_met);
  const bool is_solved = wrong.empty() && unmet == goals.end();
  print_line(fmt::format("Exercise {}, {}: {}.", exercise.number, exercise.title,
                         is_solved ? "solved" : "not solved yet"));
  for (const std::string& line : wrong) print_line("- " + line);
  if (!wrong.empty()) {
    print_line(fmt::format("Hint: {}", exercise.hint));
    return false;
  }
  print_line("- the results are right");
  for (const GoalResult& result : goals) print_line("- " + goal_sentence(result));
  if (unmet != goals.end()) {
    print_waste(outcome.counts);
    print_line(fmt::format("Hint: {}", unmet->goal->hint));
  }
  return is_solved;
}

void add_exercise(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("exercise", "Copy an exercise of the course, and judge a try");
  const auto flags = std::make_shared<ExerciseFlags>();
  verb->add_option("N", flags->number, "Copy this one to the current folder (default: list all)")
      ->type_name("");
  verb->add_option("--check", flags->tried, "Say what this try at it still lacks")
      ->type_name("FILE.cu");
  verb->add_flag("--force", flags->force, "Write over a file of that name");
  verb->footer("The course is docs/course. Checking needs g++ and binutils, no CUDA and no GPU.");
  verb->callback([flags, &context] { exercise(*flags, context); });
}

}  // namespace warpladder::app
