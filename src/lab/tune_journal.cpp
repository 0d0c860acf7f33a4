#include "lab/tune_journal.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "lab/bench_rows.hpp"

namespace warpladder::lab {
namespace {

using nlohmann::json;

constexpr std::array kFates = {Fate::timed,      Fate::stopped, Fate::pruned,
                               Fate::cannot_run, Fate::wrong,   Fate::not_reached};

json as_json(const CandidateResult& result) {
  json object{{"fate", name(result.fate)},
              {"worst_error_over_bound", result.worst_error_over_bound},
              {"samples_s", result.samples_s}};
  if (!result.why.empty()) object["why"] = result.why;
  if (!result.race_samples_s.empty()) object["race_samples_s"] = result.race_samples_s;
  return object;
}

const json& field(const json& object, const char* key, const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) {
    throw_bad_input(fmt::format("{} has no {}", where, key));
  }
  return *found;
}

double finite(const json& value, const char* key, const std::string& where) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    throw_bad_input(fmt::format("{}: {} is not a number", where, key));
  }
  return value.get<double>();
}

std::vector<double> samples_in(const json& object, const char* key, const std::string& where) {
  std::vector<double> samples;
  const auto found = object.find(key);
  if (found == object.end()) return samples;
  if (!found->is_array()) throw_bad_input(fmt::format("{}: {} is no array", where, key));
  for (const json& sample : *found) {
    samples.push_back(finite(sample, key, where));
    if (!(samples.back() > 0))
      throw_bad_input(fmt::format("{}: {} are not all above 0", where, key));
  }
  return samples;
}

CandidateResult result_of(const json& object, const std::string& where) {
  CandidateResult result;
  const json& fate = field(object, "fate", where);
  const auto known = std::ranges::find_if(kFates, [&](Fate f) { return fate == name(f); });
  if (known == kFates.end()) throw_bad_input(where + " has an unknown fate");
  result.fate = *known;
  const auto why = object.find("why");
  if (why != object.end() && why->is_string()) result.why = why->get<std::string>();
  const json& error = field(object, "worst_error_over_bound", where);
  // An error without bounds is null.
  result.worst_error_over_bound = error.is_null() ? INFINITY : finite(error, "the error", where);
  result.samples_s = samples_in(object, "samples_s", where);
  result.race_samples_s = samples_in(object, "race_samples_s", where);
  const bool has_time = result.fate == Fate::timed || result.fate == Fate::stopped;
  if (has_time && result.samples_s.empty()) throw_bad_input(where + " has no samples");
  return result;
}

json head_of(const TuneRequest& request, const json& origin) {
  json fields{{"target", device::name(request.target)},
              {"threads", request.executor_threads},
              {"from_own", request.from_own},
              {"problems", json::array()}};
  for (const TuneProblem& problem : request.problems) {
    fields["problems"].push_back({{"op", problem.space->op},
                                  {"rung", problem.space->rung},
                                  {"parameters", problem.space->parameters},
                                  {"configurations", problem.space->configurations.size()},
                                  {"variant", problem.variant},
                                  {"shape", problem.shape}});
  }
  return Journal::head("tune journal", fields, origin);
}

// A whole problem, whose configurations the lines before have told of.
TunedProblem tuned_of(const json& line, std::map<std::size_t, CandidateResult> known,
                      std::size_t count, const std::string& where) {
  TunedProblem tuned;
  const auto skipped = line.find("skipped");
  if (skipped != line.end() && skipped->is_string()) {
    tuned.skipped = skipped->get<std::string>();
    return tuned;
  }
  tuned.today = number_in(line, "today", where);
  SearchResult& search = tuned.search;
  search.best = number_in(line, "best", where);
  search.candidates.resize(count);
  for (auto& [candidate, result] : known) search.candidates[candidate] = std::move(result);
  for (const auto& race : field(line, "races", where)) {
    const std::size_t candidate = number_in(race, "configuration", where);
    if (candidate >= count) throw_bad_input(where + " has no such configuration");
    search.candidates[candidate].race_samples_s = samples_in(race, "race_samples_s", where);
  }
  if (tuned.today >= count || search.best >= count ||
      search.candidates[search.best].fate != Fate::timed) {
    throw_bad_input(where + " names a winner that was not timed");
  }
  const json& over = field(line, "over_today", where);
  search.over_today = {finite(field(over, "value", where), "value", where),
                       finite(field(over, "low", where), "low", where),
                       finite(field(over, "high", where), "high", where)};
  search.spent_s = finite(field(line, "spent_s", where), "spent_s", where);
  search.saved_s = finite(field(line, "saved_s", where), "saved_s", where);
  search.is_complete = search.any_timed = true;
  return tuned;
}

json as_json(const Ratio& ratio) {
  return {{"value", ratio.value}, {"low", ratio.low}, {"high", ratio.high}};
}

}  // namespace

json as_json(const ladder::AnySpace& space, std::size_t configuration) {
  json object = json::object();
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    object[space.parameters[i]] = space.configurations[configuration].values[i];
  }
  return object;
}

json as_json(const TuneProblem& problem, const TunedProblem& tuned) {
  const ladder::AnySpace& space = *problem.space;
  json object{{"op", space.op},
              {"rung", space.rung},
              {"variant", problem.variant},
              {"shape", problem.shape},
              {"skipped", tuned.skipped}};
  if (!tuned.skipped.empty()) return object;
  const SearchResult& search = tuned.search;
  object["complete"] = search.is_complete;
  object["spent_s"] = search.spent_s;
  object["saved_s"] = search.saved_s;
  object["today"] = as_json(space, tuned.today);
  if (search.any_timed) {
    object["best"] = as_json(space, search.best);
    object["best_s"] = search.candidates[search.best].median_s();
    object["today_over_best"] = as_json(search.over_today);
  }
  for (std::size_t i = 0; i < search.candidates.size(); ++i) {
    json candidate = as_json(search.candidates[i]);
    candidate["configuration"] = as_json(space, i);
    if (!search.candidates[i].samples_s.empty()) {
      candidate["median_s"] = search.candidates[i].median_s();
    }
    object["configurations"].push_back(std::move(candidate));
  }
  return object;
}

TuneJournal TuneJournal::begin(const std::string& path, const TuneRequest& request,
                               const json& origin) {
  return TuneJournal(Journal::begin(path, head_of(request, origin)));
}

TuneJournal TuneJournal::resume(const std::string& path, TuneRequest& request, const json& origin) {
  const auto read = [&](const json& line, const std::string& where) {
    const std::size_t problem = number_in(line, "problem", where);
    if (problem >= request.problems.size()) throw_bad_input(where + " has no such problem");
    const std::size_t count = request.problems[problem].space->configurations.size();
    if (!line.contains("configuration")) {
      request.finished[problem] = tuned_of(line, request.known[problem], count, where);
      return true;
    }
    const std::size_t candidate = number_in(line, "configuration", where);
    if (candidate >= count) throw_bad_input(where + " has no such configuration");
    request.known[problem][candidate] = result_of(field(line, "result", where), where);
    return true;
  };
  return TuneJournal(Journal::resume(path, head_of(request, origin), read));
}

void TuneJournal::add(std::size_t problem, std::size_t candidate, const CandidateResult& result) {
  journal_.add({{{"problem", problem}, {"configuration", candidate}, {"result", as_json(result)}}});
}

void TuneJournal::add(std::size_t problem, const TunedProblem& tuned) {
  json line{{"problem", problem}};
  if (!tuned.skipped.empty()) {
    line["skipped"] = tuned.skipped;
  } else {
    const SearchResult& search = tuned.search;
    line.update({{"today", tuned.today},
                 {"best", search.best},
                 {"over_today", as_json(search.over_today)},
                 {"spent_s", search.spent_s},
                 {"saved_s", search.saved_s},
                 {"races", json::array()}});
    for (std::size_t i = 0; i < search.candidates.size(); ++i) {
      const std::vector<double>& samples = search.candidates[i].race_samples_s;
      if (samples.empty()) continue;
      line["races"].push_back({{"configuration", i}, {"race_samples_s", samples}});
    }
  }
  journal_.add({line});
}

}  // namespace warpladder::lab
