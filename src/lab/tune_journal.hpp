#pragma once
// What tune has found out, as JSON: in its report, and in the journal from which --resume goes on.

#include <nlohmann/json.hpp>
#include <string>

#include "lab/journal.hpp"
#include "lab/tune.hpp"

namespace warpladder::lab {

// One problem of a report: its winner, and what became of each configuration.
nlohmann::json as_json(const TuneProblem& problem, const TunedProblem& tuned);
// The values of a configuration's parameters, by name.
nlohmann::json as_json(const ladder::AnySpace& space, std::size_t configuration);

class TuneJournal {
 public:
  // As BenchJournal has them. A configuration counts as soon as its line is there.
  static TuneJournal begin(const std::string& path, const TuneRequest& request,
                           const nlohmann::json& origin);
  static TuneJournal resume(const std::string& path, TuneRequest& request,
                            const nlohmann::json& origin);

  void add(std::size_t problem, std::size_t candidate, const CandidateResult& result);
  void add(std::size_t problem, const TunedProblem& tuned);
  void remove() { journal_.remove(); }

 private:
  explicit TuneJournal(Journal journal) : journal_(std::move(journal)) {}

  Journal journal_;
};

}  // namespace warpladder::lab
