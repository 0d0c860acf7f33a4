#include "lab/tuning_file.hpp"

#include <fmt/format.h>

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
  return file;
}

// Of where measurements come from: what tells one set from another.
json source_of(const json& origin) {
  json source = json::object();
  for (const char* field : {"commit", "date", "device", "argv"}) {
    if (origin.contains(field)) source[field] = origin[field];
  }
  return source;
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
    of_rung["measured"] = source_of(origin);
    json entry{{"shape", problem.shape},
               {"variant", problem.variant},
               {"configuration", as_json(*problem.space, tuned.search.best)},
               {"median_s", tuned.search.candidates[tuned.search.best].median_s()},
               {"today_over_best", tuned.search.over_today.value}};
    json& entries = of_rung["shapes"];
    const auto is_same = [&](const json& other) {
      return other.is_object() && other.value("shape", json()) == entry["shape"] &&
             other.value("variant", json()) == entry["variant"];
    };
    if (!entries.is_array()) entries = json::array();
    const auto place = std::find_if(entries.begin(), entries.end(), is_same);
    if (place == entries.end()) {
      entries.push_back(std::move(entry));
    } else {
      *place = std::move(entry);
    }
  }
  return file;
}

}  // namespace warpladder::lab
