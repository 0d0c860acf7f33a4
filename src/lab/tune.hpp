#pragma once
// Which configuration of a rung's space is the fastest, problem by problem. Each is judged against
// the float64 reference before it is timed.
//
// On the CPU side the executor's counts give a cost instead of a time (tune_model.hpp). It repeats
// exactly, and says nothing of a GPU that the counts do not say.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/tune_search.hpp"
#include "lab/verify.hpp"
#include "ladder/spaces.hpp"
#include "ops/lab/operator.hpp"

namespace warpladder::lab {

struct TuneProblem {
  const ladder::AnySpace* space = nullptr;
  const ops::Operator* op = nullptr;
  std::string variant;
  std::vector<std::int64_t> shape;
};

// One problem, when nothing of it is left to do.
struct TunedProblem {
  std::string skipped;       // why the problem cannot be tuned, or empty; then there is no more
  bool is_unsuited = false;  // it was skipped because the space or the rung does not take it
  std::size_t today = 0;
  SearchResult search;
};

struct TuneRequest {
  std::vector<TuneProblem> problems;
  // What an earlier run has found out: of whole problems, and of configurations of others.
  std::map<std::size_t, TunedProblem> finished;
  std::map<std::size_t, std::map<std::size_t, CandidateResult>> known;
  bool from_own = false;  // begin with rungs' own configurations, not with those found before
  double budget_s = 0;    // for all problems; 0: no limit
  std::function<double()> clock_s;  // of that time; null: the machine's
  runtime::Target target = runtime::Target::cpu;
  unsigned executor_threads = 0;
};

struct TuneReport {
  std::vector<TunedProblem> problems;  // as the request has them
};

// Hears of each configuration that has met its fate, and of each problem that is done.
struct TuneListener {
  std::function<void(std::size_t problem, std::size_t candidate, const CandidateResult&)> candidate;
  std::function<void(std::size_t problem, const TunedProblem&)> problem;
};

// How samples are taken on a target.
SearchRule search_rule_for(runtime::Target target);

TuneReport tune(const TuneRequest& request, const Progress& progress = nullptr,
                const TuneListener& listener = {});

}  // namespace warpladder::lab
