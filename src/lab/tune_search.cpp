#include "lab/tune_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace warpladder::lab {
namespace {

// Today's configuration first, the others by what the model expects of them.
std::vector<std::size_t> order_of(const std::vector<Candidate>& candidates, std::size_t today) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if ((a == today) != (b == today)) return a == today;
    return candidates[a].estimate_s < candidates[b].estimate_s;
  });
  return order;
}

class Search {
 public:
  Search(const std::vector<Candidate>& candidates, std::size_t today, Racer& racer,
         const SearchRule& rule)
      : candidates_(candidates),
        today_(today),
        racer_(racer),
        rule_(rule),
        begin_s_(racer.now_s()) {
    result_.candidates.resize(candidates.size());
  }

  SearchResult run(const std::map<std::size_t, CandidateResult>& known,
                   const CandidateFinished& finished) {
    for (const std::size_t i : order_of(candidates_, today_)) {
      CandidateResult& result = result_.candidates[i];
      if (const auto found = known.find(i); found != known.end()) {
        result = found->second;
      } else {
        if (is_used_up()) continue;
        meet_fate(i, result);
        if (finished) finished(i, result);
      }
      if (result.fate == Fate::timed) note(i);
    }
    if (result_.any_timed) race();
    result_.is_complete =
        result_.any_timed && std::ranges::none_of(result_.candidates, [](const auto& candidate) {
          return candidate.fate == Fate::not_reached;
        });
    result_.spent_s = racer_.now_s() - begin_s_;
    estimate_saved();
    return std::move(result_);
  }

 private:
  double best_s() const { return result_.candidates[result_.best].median_s(); }
  // Something is timed in any case: a budget that is too small still has an answer.
  bool is_used_up() const {
    return result_.any_timed && racer_.now_s() - begin_s_ >= rule_.budget_s;
  }

  void meet_fate(std::size_t i, CandidateResult& result) {
    const Candidate& candidate = candidates_[i];
    if (!candidate.cannot_run.empty()) {
      result.fate = Fate::cannot_run;
      result.why = candidate.cannot_run;
    } else if (result_.any_timed && candidate.bound_s > best_s()) {
      result.fate = Fate::pruned;
      result.why = fmt::format("it takes at least {:.4g} s, the best so far {:.4g}",
                               candidate.bound_s, best_s());
    } else if (result.why = racer_.judge(i, result.worst_error_over_bound); !result.why.empty()) {
      result.fate = Fate::wrong;
    } else {
      take_samples(i, result);
    }
  }

  bool is_enough(const std::vector<double>& samples_s) const {
    if (samples_s.size() >= rule_.most_samples) return true;
    return samples_s.size() >= rule_.least_samples &&
           (rule_.most_samples == 1 || statistics(samples_s).uncertainty() < rule_.uncertainty);
  }

  void take_samples(std::size_t i, CandidateResult& result) {
    for (std::size_t s = 0; s < rule_.warm_ups; ++s) racer_.sample(i);
    result.fate = Fate::timed;
    do {
      result.samples_s.push_back(racer_.sample(i));
      if (!result_.any_timed || !is_hopeless(result.samples_s, best_s())) continue;
      result.fate = Fate::stopped;
      result.why = fmt::format("{} samples, none faster than {:.4g} s, were enough",
                               result.samples_s.size(), std::ranges::min(result.samples_s));
      return;
    } while (!is_enough(result.samples_s));
  }

  // Equal ones stay with the one that was there before: today's, or the model's favourite.
  void note(std::size_t i) {
    if (!result_.any_timed || result_.candidates[i].median_s() < best_s()) result_.best = i;
    result_.any_timed = true;
  }

  // Those that may be the fastest, and today's, to be compared with.
  std::vector<std::size_t> contestants() const {
    std::vector<std::size_t> tied;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const CandidateResult& candidate = result_.candidates[i];
      if (candidate.fate != Fate::timed) continue;
      const bool ties = candidate.median_s() <= best_s() * (1 + rule_.tie);
      if (i == today_ || ties) tied.push_back(i);
    }
    return tied;
  }

  // In turns, so that whatever else the machine does falls on all alike.
  void race() {
    const std::vector<std::size_t> racing = contestants();
    if (racing.size() > 1 && rule_.race_samples > 0) {
      for (const std::size_t i : racing) result_.candidates[i].race_samples_s.clear();
      for (std::size_t turn = 0; turn < rule_.race_samples; ++turn) {
        for (const std::size_t i : racing) {
          result_.candidates[i].race_samples_s.push_back(racer_.sample(i));
        }
      }
    }
    for (const std::size_t i : racing) {
      if (result_.candidates[i].median_s() < best_s()) result_.best = i;
    }
    keep_today_unless_beaten();
  }

  void keep_today_unless_beaten() {
    const CandidateResult& of_today = result_.candidates[today_];
    if (result_.best == today_ || of_today.fate != Fate::timed) return;
    if (rule_.race_samples == 0) {
      const double ratio = of_today.median_s() / best_s();
      result_.over_today = {ratio, ratio, ratio};
      return;
    }
    result_.over_today =
        ratio_of_medians(of_today.race_samples_s, result_.candidates[result_.best].race_samples_s);
    if (result_.over_today.low > 1) return;
    result_.best = today_;
    result_.over_today = {1, 1, 1};
  }

  // As if each had taken as many samples as those that were timed, at its bound at the least.
  void estimate_saved() {
    std::size_t timed = 0, samples = 0;
    for (const CandidateResult& candidate : result_.candidates) {
      if (candidate.fate != Fate::timed) continue;
      ++timed;
      samples += candidate.samples_s.size() + rule_.warm_ups;
    }
    if (timed == 0) return;
    const double each = static_cast<double>(samples) / static_cast<double>(timed);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const CandidateResult& candidate = result_.candidates[i];
      if (candidate.fate == Fate::pruned) {
        result_.saved_s += each * candidates_[i].bound_s;
      } else if (candidate.fate == Fate::stopped) {
        const auto taken = static_cast<double>(candidate.samples_s.size() + rule_.warm_ups);
        result_.saved_s += std::max(0.0, each - taken) * std::ranges::min(candidate.samples_s);
      }
    }
  }

  const std::vector<Candidate>& candidates_;
  std::size_t today_;
  Racer& racer_;
  const SearchRule& rule_;
  double begin_s_;
  SearchResult result_;
};

}  // namespace

const char* name(Fate fate) {
  switch (fate) {
    case Fate::timed:
      return "timed";
    case Fate::stopped:
      return "stopped early";
    case Fate::pruned:
      return "pruned";
    case Fate::cannot_run:
      return "cannot run";
    case Fate::wrong:
      return "wrong";
    case Fate::not_reached:
      break;
  }
  return "not reached";
}

double CandidateResult::median_s() const {
  return statistics(race_samples_s.empty() ? samples_s : race_samples_s).median;
}

bool is_hopeless(const std::vector<double>& samples_s, double best_s) {
  // The fewer the samples, the more the fastest of them must be behind.
  struct Step {
    std::size_t samples;
    double times_of_best;
  };
  constexpr Step kSteps[] = {{1, 1.5}, {3, 1.15}, {5, 1.05}};
  for (const Step& step : kSteps) {
    if (samples_s.size() >= step.samples &&
        std::ranges::min(samples_s) > step.times_of_best * best_s) {
      return true;
    }
  }
  return false;
}

SearchResult search(const std::vector<Candidate>& candidates, std::size_t today, Racer& racer,
                    const SearchRule& rule, const std::map<std::size_t, CandidateResult>& known,
                    const CandidateFinished& finished) {
  return Search(candidates, today, racer, rule).run(known, finished);
}

}  // namespace warpladder::lab
