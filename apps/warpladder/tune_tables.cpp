#include "tune_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exchange.hpp"

namespace warpladder::app {
namespace {

using lab::Fate;
using lab::SearchResult;

std::size_t count_of(const SearchResult& search, Fate fate) {
  return static_cast<std::size_t>(
      std::ranges::count(search.candidates, fate, &lab::CandidateResult::fate));
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.4g} µs", seconds * 1e6)
                        : fmt::format("{:.4g} ms", seconds * 1e3);
}

std::string problem_text(const lab::TuneProblem& problem) {
  return fmt::format("{} {} {}", problem.space->full_name(), problem.variant,
                     fmt::join(problem.shape, "x"));
}

}  // namespace

TextTable table_of(const lab::TuneRequest& request, const lab::TuneReport& report) {
  const bool gpu = request.target == runtime::Target::gpu;
  TextTable table({{"rung"},
                   {"problem"},
                   {"fastest configuration"},
                   {gpu ? "time" : "cost", Align::right},
                   {"today's over it", Align::right},
                   {"timed", Align::right},
                   {"stopped", Align::right},
                   {"pruned", Align::right}});
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    const lab::TuneProblem& problem = request.problems[p];
    const lab::TunedProblem& tuned = report.problems[p];
    const SearchResult& search = tuned.search;
    if (!tuned.skipped.empty() || !search.any_timed) continue;
    const bool is_today = search.best == tuned.today;
    table.add_row({problem.space->rung,
                   fmt::format("{} {}", problem.variant, fmt::join(problem.shape, "x")),
                   problem.space->text(search.best) + (is_today ? " (today's)" : ""),
                   time_text(search.candidates[search.best].median_s()),
                   is_today ? std::string("1") : fmt::format("{:.3f}", search.over_today.value),
                   std::to_string(count_of(search, Fate::timed)),
                   std::to_string(count_of(search, Fate::stopped)),
                   std::to_string(count_of(search, Fate::pruned))});
  }
  return table;
}

std::string csv_of(const lab::TuneRequest& request, const lab::TuneReport& report) {
  std::string text =
      "op,rung,variant,shape,configuration,today,best,fate,median_s,samples,"
      "worst_error_over_bound,why\n";
  const auto flag = [](bool is_set) { return is_set ? "true" : "false"; };
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    const lab::TuneProblem& problem = request.problems[p];
    const SearchResult& search = report.problems[p].search;
    for (std::size_t i = 0; i < search.candidates.size(); ++i) {
      const lab::CandidateResult& candidate = search.candidates[i];
      const std::size_t samples = candidate.samples_s.size() + candidate.race_samples_s.size();
      text += csv_line({problem.space->op, problem.space->rung, problem.variant,
                        fmt::format("{}", fmt::join(problem.shape, "x")), problem.space->text(i),
                        flag(i == report.problems[p].today),
                        flag(search.any_timed && i == search.best), lab::name(candidate.fate),
                        samples ? fmt::format("{:.6g}", candidate.median_s()) : "",
                        std::to_string(samples),
                        fmt::format("{:.6g}", candidate.worst_error_over_bound), candidate.why});
    }
  }
  return text;
}

std::vector<std::string> notes_on(const lab::TuneRequest& request, const lab::TuneReport& report) {
  std::vector<std::string> notes;
  double spent_s = 0, saved_s = 0;
  std::size_t not_reached = 0, pruned = 0, stopped = 0;
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    const lab::TuneProblem& problem = request.problems[p];
    const lab::TunedProblem& tuned = report.problems[p];
    if (!tuned.skipped.empty()) {
      notes.push_back(fmt::format("- not tuned: {}: {}", problem_text(problem), tuned.skipped));
      continue;
    }
    const SearchResult& search = tuned.search;
    for (std::size_t i = 0; i < search.candidates.size(); ++i) {
      const lab::CandidateResult& candidate = search.candidates[i];
      if (candidate.fate != Fate::wrong) continue;
      notes.push_back(fmt::format("- WRONG: {} with {}: {}", problem_text(problem),
                                  problem.space->text(i), candidate.why));
    }
    spent_s += search.spent_s;
    saved_s += search.saved_s;
    pruned += count_of(search, Fate::pruned);
    stopped += count_of(search, Fate::stopped);
    not_reached += count_of(search, Fate::not_reached);
  }
  notes.push_back(fmt::format(
      "- the model pruned {} configurations and {} stopped early; at the time of the others' "
      "samples that saved at least {:.2g} s of launches; all took {:.3g} s",
      pruned, stopped, saved_s, spent_s));
  if (not_reached > 0) {
    notes.push_back(fmt::format(
        "- --budget did not last for {} configurations; --resume measures them", not_reached));
  }
  if (request.target == runtime::Target::cpu) {
    notes.push_back(
        "- costs come from the executor's counts; they repeat exactly, and are no times of a GPU");
  }
  return notes;
}

}  // namespace warpladder::app
