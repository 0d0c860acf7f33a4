#include "lab/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "device/timing.hpp"
#include "executor/fault.hpp"
#include "lab/tune_model.hpp"

namespace warpladder::lab {
namespace {

using ladder::AnyConfiguration;
using runtime::Flavour;

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// The configurations of one space on one problem.
class DeviceRacer : public Racer {
 public:
  DeviceRacer(const TuneProblem& problem, const ladder::AnyRung& rung, ops::Trial& trial,
              device::Stream& stream, device::Stopwatch& stopwatch,
              const std::function<double()>& clock, std::function<void(std::size_t)> tell)
      : problem_(problem),
        arithmetic_(rung.arithmetic),
        trial_(trial),
        stream_(stream),
        stopwatch_(stopwatch),
        clock_(clock),
        tell_(std::move(tell)),
        is_gpu_(stream.target == runtime::Target::gpu) {}

  // On the CPU side each access is checked and counted.
  std::string judge(std::size_t candidate, double& worst_error_over_bound) override {
    tell_(candidate);
    trial_.reset();
    std::vector<executor::KernelCounts> counts;
    if (!is_gpu_) stream_.record_counts = &counts;
    std::string fault;
    try {
      launcher(candidate, is_gpu_ ? Flavour::gpu : Flavour::counted)(trial_.call(), stream_);
      stream_.synchronize();
    } catch (const executor::KernelFault& broken) {
      fault = broken.what();
    } catch (const Error& refused) {  // by CUDA: too large for this GPU
      if (refused.code() != ErrorCode::resource) throw;
      fault = refused.what();
    }
    stream_.record_counts = nullptr;
    if (!fault.empty()) return fault;
    if (!is_gpu_) {
      cost_s_ = cost_of(ladder::totals_of(counts), demand(candidate),
                        arithmetic_.flops_per_s(*stream_.machine), *stream_.machine);
    }
    trial_.expect(arithmetic_);
    const ops::Verdict verdict = trial_.judge();
    worst_error_over_bound = verdict.worst_error_over_bound;
    return verdict.failure;
  }

  double sample(std::size_t candidate) override {
    if (!is_gpu_) return cost_s_;
    const ladder::Launcher& launch = launcher(candidate, Flavour::gpu);
    return stopwatch_.measure([&] { launch(trial_.call(), stream_); }).seconds;
  }

  double now_s() override { return clock_(); }

 private:
  const AnyConfiguration& configuration(std::size_t candidate) const {
    return problem_.space->configurations[candidate];
  }
  const ladder::Launcher& launcher(std::size_t candidate, Flavour flavour) const {
    return configuration(candidate).launch[static_cast<int>(flavour)];
  }
  ladder::Demand demand(std::size_t candidate) const {
    return configuration(candidate).demand(trial_.call());
  }

  const TuneProblem& problem_;
  ladder::Arithmetic arithmetic_;
  ops::Trial& trial_;
  device::Stream& stream_;
  device::Stopwatch& stopwatch_;
  const std::function<double()>& clock_;
  std::function<void(std::size_t)> tell_;
  bool is_gpu_;
  double cost_s_ = 0;
};

// Why the space or the rung does not take this problem, or empty.
std::string why_unsuited(const TuneProblem& problem, const ladder::AnyRung& rung,
                         ladder::AnyCall call) {
  if (problem.space->takes && !problem.space->takes(call)) {
    return "its space accepts only " + problem.space->accepts;
  }
  return ladder::why_not(rung, call);
}

class Tuning {
 public:
  Tuning(const TuneRequest& request, const Progress& progress, const TuneListener& listener)
      : request_(request),
        progress_(progress),
        listener_(listener),
        clock_(request.clock_s ? request.clock_s : seconds_now),
        known_(request.known),
        stream_(request.target),
        stopwatch_(stream_) {
    stream_.executor_threads = request.executor_threads;
  }

  // Problems get equal shares of the budget. What some leave goes to those that theirs cut short.
  TuneReport run() {
    report_.problems.resize(request_.problems.size());
    std::vector<std::size_t> left;
    for (std::size_t p = 0; p < request_.problems.size(); ++p) {
      const auto found = request_.finished.find(p);
      if (found == request_.finished.end()) left.push_back(p);
      if (found != request_.finished.end()) report_.problems[p] = found->second;
    }
    const double end_s = clock_() + request_.budget_s;
    bool any_time = true, any_progress = true;
    for (std::size_t before = kNone; any_time && any_progress && !left.empty();) {
      std::vector<std::size_t> cut_short;
      std::size_t not_reached = 0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const auto shares = static_cast<double>(left.size() - i);
        const double share_s = request_.budget_s > 0 ? std::max(0.0, end_s - clock_()) / shares
                                                     : std::numeric_limits<double>::infinity();
        const std::size_t count = advance(left[i], share_s);
        if (count > 0) cut_short.push_back(left[i]);
        not_reached += count;
      }
      any_time = clock_() < end_s;
      any_progress = not_reached < before;
      before = not_reached;
      left = std::move(cut_short);
    }
    return std::move(report_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Goes on with a problem; how many of its configurations were not reached.
  std::size_t advance(std::size_t p, double share_s) {
    const double spent_s = report_.problems[p].search.spent_s;
    TunedProblem tuned = tune_problem(p, share_s);
    tuned.search.spent_s += spent_s;
    const bool is_done = !tuned.skipped.empty() || tuned.search.is_complete;
    if (listener_.problem && is_done) listener_.problem(p, tuned);
    std::size_t not_reached = 0;
    for (std::size_t i = 0; i < tuned.search.candidates.size(); ++i) {
      const CandidateResult& result = tuned.search.candidates[i];
      if (result.fate == Fate::not_reached) ++not_reached;
      if (result.fate != Fate::not_reached) known_[p][i] = result;
    }
    report_.problems[p] = std::move(tuned);
    return not_reached;
  }

  void tell(std::size_t p, std::size_t candidate) const {
    if (!progress_) return;
    const TuneProblem& problem = request_.problems[p];
    const auto all = static_cast<double>(request_.problems.size()),
               of_problem = static_cast<double>(told_++) /
                            static_cast<double>(problem.space->configurations.size() + 1);
    done_ = std::max(done_, (static_cast<double>(p) + std::min(1.0, of_problem)) / all);
    progress_(fmt::format("{} {} at {}", problem.space->rung, problem.space->text(candidate),
                          fmt::join(problem.shape, "x")),
              done_);
  }

  // Null where it needs more memory than there is: `no_memory` then says so.
  std::unique_ptr<ops::Trial> trial_of(const TuneProblem& problem, std::string& no_memory) const {
    try {
      return problem.op->sampled_case_of_shape(problem.shape, problem.variant)
          .prepare(request_.target);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::resource) throw;
      no_memory = error.what();
      return nullptr;
    }
  }

  TunedProblem tune_problem(std::size_t p, double budget_s) {
    const TuneProblem& problem = request_.problems[p];
    const ladder::AnyRung& rung = ladder::find_rung(problem.space->op, problem.space->rung);
    const Flavour flavour =
        request_.target == runtime::Target::gpu ? Flavour::gpu : Flavour::counted;
    TunedProblem tuned;
    told_ = 0;
    const std::unique_ptr<ops::Trial> trial = trial_of(problem, tuned.skipped);
    if (!trial) return tuned;
    tuned.skipped = ladder::why_not(rung, flavour);
    if (tuned.skipped.empty()) {
      tuned.skipped = why_unsuited(problem, rung, trial->call());
      tuned.is_unsuited = !tuned.skipped.empty();
    }
    if (!tuned.skipped.empty()) return tuned;
    const runtime::Machine& machine = *stream_.machine;
    trial->provide_workspace(rung.workspace_for(trial->call(), machine));
    std::vector<Candidate> candidates;
    for (const AnyConfiguration& configuration : problem.space->configurations) {
      candidates.push_back(
          expect(configuration.demand(trial->call()), rung.arithmetic.flops_per_s(machine), machine)
              .candidate);
    }
    const auto& first = request_.from_own ? problem.space->own : problem.space->today;
    tuned.today = static_cast<std::size_t>(first(trial->call(), machine));
    DeviceRacer racer(problem, rung, *trial, stream_, stopwatch_, clock_,
                      [&](std::size_t candidate) { tell(p, candidate); });
    SearchRule rule = search_rule_for(request_.target);
    rule.budget_s = budget_s;
    tuned.search = search(candidates, tuned.today, racer, rule, known_[p],
                          [&](std::size_t candidate, const CandidateResult& result) {
                            if (listener_.candidate) listener_.candidate(p, candidate, result);
                          });
    return tuned;
  }

  const TuneRequest& request_;
  const Progress& progress_;
  const TuneListener& listener_;
  std::function<double()> clock_;
  std::map<std::size_t, std::map<std::size_t, CandidateResult>> known_;
  TuneReport report_;
  device::Stream stream_;
  device::Stopwatch stopwatch_;
  mutable std::size_t told_ = 0;
  mutable double done_ = 0;
};

}  // namespace

SearchRule search_rule_for(runtime::Target target) {
  if (target == runtime::Target::gpu) return {};
  // Counts repeat exactly.
  return {.least_samples = 1, .most_samples = 1, .warm_ups = 0, .race_samples = 0};
}

TuneReport tune(const TuneRequest& request, const Progress& progress,
                const TuneListener& listener) {
  return Tuning(request, progress, listener).run();
}

}  // namespace warpladder::lab
