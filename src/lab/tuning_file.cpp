#include "lab/tuning_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/recording.hpp"
#include "lab/tune_journal.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;

json opened(const std::string& contents, const std::string& subject, const std::string& op,
            const std::string& architecture) {
  if (contents.empty()) return {{"architecture", architecture}, {"operator", op}};
  json file = parse_json(contents, subject);
  const json wanted{{"architecture", architecture}, {"operator", op}};
  for (const auto& [key, value] : wanted.items()) {
    const bool is_there = file.is_object() && file.contains(key) && file[key].is_string();
    if (!is_there) throw_bad_input(fmt::format("{} is no tuning file: it has no {}", subject, key));
    if (file[key] != value) {
      throw_bad_input(fmt::format("{} is of the {} {}, not {}", subject, key,
                                  in_quotes(file[key].get<std::string>(), kShownBytes),
                                  value.get<std::string>()));
    }
  }
  const auto rungs = file.find("configurations");
  if (rungs != file.end() && !rungs->is_object()) {
    throw_bad_input(subject + ": configurations is no object");
  }
  const json& of_rungs = rungs == file.end() ? json::object() : *rungs;
  for (const auto& [rung, of_rung] : of_rungs.items()) {
    if (!of_rung.is_object()) {
      throw_bad_input(fmt::format("{}: {} is no object", subject, in_quotes(rung, kShownBytes)));
    }
  }
  return file;
}

// Of where measurements come from: what tells one run from another.
json source_of(const json& origin) {
  json source = json::object();
  for (const char* field : {"commit", "date", "device", "argv"}) {
    if (origin.contains(field)) source[field] = origin[field];
  }
  return source;
}

json& list_at(json& object, const char* key) {
  json& list = object[key];
  if (!list.is_array()) list = json::array();
  return list;
}

// The place of the entry of this problem, or the end.
json::iterator entry_of(json& entries, const json& wanted) {
  return std::find_if(entries.begin(), entries.end(), [&](const json& other) {
    return other.is_object() && other.value("shape", json()) == wanted["shape"] &&
           other.value("variant", json()) == wanted["variant"];
  });
}

// Leaves out the runs that no shape is of any more.
void drop_unused_runs(json& of_rung) {
  const json runs = list_at(of_rung, "runs");
  json kept = json::array();
  for (json& entry : list_at(of_rung, "shapes")) {
    const auto run = entry.is_object() ? entry.find("run") : entry.end();
    const bool is_known = entry.is_object() && run != entry.end() && run->is_number_unsigned() &&
                          run->get<std::size_t>() < runs.size();
    if (!is_known) continue;
    const json& source = runs[run->get<std::size_t>()];
    const auto same = std::find(kept.begin(), kept.end(), source);
    *run = static_cast<std::size_t>(same - kept.begin());
    if (same == kept.end()) kept.push_back(source);
  }
  of_rung["runs"] = std::move(kept);
}

}  // namespace

std::string architecture_of(const runtime::Machine& machine) {
  return fmt::format("sm_{}", machine.capability);
}

json with_winners(const std::string& contents, const std::string& subject,
                  const TuneRequest& request, const TuneReport& report,
                  const std::string& architecture, const json& origin) {
  json file = opened(contents, subject, request.problems.front().op->name(), architecture);
  for (std::size_t p = 0; p < report.problems.size(); ++p) {
    const TuneProblem& problem = request.problems[p];
    const TunedProblem& tuned = report.problems[p];
    if (!tuned.skipped.empty() || !tuned.search.is_complete) continue;
    json& of_rung = file["configurations"][problem.space->rung];
    json& runs = list_at(of_rung, "runs");
    const json source = source_of(origin);
    const auto run = std::find(runs.begin(), runs.end(), source);
    json entry{{"shape", problem.shape},
               {"variant", problem.variant},
               {"configuration", as_json(*problem.space, tuned.search.best)},
               {"median_s", tuned.search.candidates[tuned.search.best].median_s()},
               {"today_over_best", tuned.search.over_today.value},
               {"run", static_cast<std::size_t>(run - runs.begin())}};
    if (run == runs.end()) runs.push_back(source);
    json& entries = list_at(of_rung, "shapes");
    if (const auto place = entry_of(entries, entry); place != entries.end()) {
      *place = std::move(entry);
    } else {
      entries.push_back(std::move(entry));
    }
    drop_unused_runs(of_rung);
  }
  return file;
}

}  // namespace warpladder::lab
