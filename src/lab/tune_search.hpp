#pragma once
// The search for the fastest of some configurations of one kernel on one problem. It knows no
// device: what judges and times is handed in, so that tests hand in made-up times.

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lab/statistics.hpp"

namespace warpladder::lab {

struct Candidate {
  // No less time than it can take, and a guess; of the model (tune_model.hpp).
  double bound_s = 0, estimate_s = 0;
  std::string cannot_run;  // why the machine cannot run it, or empty
};

// Judges and times one configuration after the other.
class Racer {
 public:
  virtual ~Racer() = default;
  // Why its result is wrong, or empty.
  virtual std::string judge(std::size_t candidate, double& worst_error_over_bound) = 0;
  virtual double sample(std::size_t candidate) = 0;
  // Of the time that the budget limits.
  virtual double now_s() = 0;
};

enum class Fate {
  timed,
  stopped,      // after few samples, which were too slow
  pruned,       // not even its bound is fast enough
  cannot_run,   // on this machine
  wrong,        // its result is
  not_reached,  // the budget did not last
};
const char* name(Fate fate);

struct CandidateResult {
  Fate fate = Fate::not_reached;
  std::string why;  // a sentence on the fate, or empty
  double worst_error_over_bound = 0;
  std::vector<double> samples_s;
  std::vector<double> race_samples_s;  // those taken in turns with its rivals
  double median_s() const;             // of the race, if it took part, else of its samples
};

struct SearchRule {
  double uncertainty = 0.005;  // of the median: then there are enough samples
  std::size_t least_samples = 5, most_samples = 40;
  std::size_t warm_ups = 1;  // samples of each configuration that are not kept
  // Configurations whose medians are within this share of the best race again, in turns.
  double tie = 0.03;
  std::size_t race_samples = 31;  // 0: samples repeat exactly, so that none race
  double budget_s = std::numeric_limits<double>::infinity();
};

struct SearchResult {
  std::vector<CandidateResult> candidates;
  bool is_complete = false;  // a winner was found, and every candidate has met its fate
  std::size_t best = 0;      // of the candidates, where one was timed
  bool any_timed = false;
  // Today's median over the winner's, in the race; 1 where today's configuration wins.
  Ratio over_today{1, 1, 1};
  double spent_s = 0;
  double saved_s = 0;  // at a guess, that pruned and stopped candidates would have taken
};

// Hears of each candidate that has met its fate.
using CandidateFinished = std::function<void(std::size_t candidate, const CandidateResult& result)>;

// `today` is the candidate that the rung takes by itself. It is timed first, so that the first
// bound is a good one, and wins if no other is faster beyond doubt. `known` holds what an earlier
// run has found out.
SearchResult search(const std::vector<Candidate>& candidates, std::size_t today, Racer& racer,
                    const SearchRule& rule,
                    const std::map<std::size_t, CandidateResult>& known = {},
                    const CandidateFinished& finished = nullptr);

// Whether so few samples tell that the configuration is slower than the best.
bool is_hopeless(const std::vector<double>& samples_s, double best_s);

}  // namespace warpladder::lab
