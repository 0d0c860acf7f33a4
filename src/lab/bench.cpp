#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "executor/fault.hpp"
#include "ops/lab/rival.hpp"

namespace warpladder::lab {
namespace {

struct Contestant {
  std::size_t row;
  ladder::Launcher prepare, launch;
  ladder::Arithmetic arithmetic;
};

// The failure's sentence, or empty.
std::string run_and_judge(ops::Trial& trial, const Contestant& contestant, device::Stream& stream,
                          double& worst_error_over_bound,
                          std::vector<executor::KernelCounts>* counts = nullptr) {
  trial.reset();
  try {
    if (contestant.prepare) contestant.prepare(trial.call(), stream);
    stream.record_counts = counts;
    contestant.launch(trial.call(), stream);
    stream.synchronize();
  } catch (const executor::KernelFault& fault) {
    return fault.what();
  }
  trial.expect(contestant.arithmetic);
  const ops::Verdict verdict = trial.judge();
  worst_error_over_bound = std::max(worst_error_over_bound, verdict.worst_error_over_bound);
  return verdict.failure;
}

// Runs the row's rung or rival, counted on the CPU, and judges the results.
void verify_row(BenchRow& row, const ladder::AnyRung* rung, const Contestant& contestant,
                ops::Trial& trial, device::Stream& stream, bool wants_counts) {
  row.failure = run_and_judge(trial, contestant, stream, row.worst_error_over_bound);
  const bool counts = rung && wants_counts;
  const ladder::Launcher counted = counts ? rung->launcher(runtime::Flavour::counted) : nullptr;
  if (row.failure.empty() && counted) {
    std::vector<executor::KernelCounts> kernel_counts;
    const Contestant of_counts{contestant.row, rung->preparation(runtime::Flavour::counted),
                               counted, contestant.arithmetic};
    row.failure =
        run_and_judge(trial, of_counts, stream, row.worst_error_over_bound, &kernel_counts);
    stream.record_counts = nullptr;
    row.counts = ladder::totals_of(kernel_counts);
  }
  row.judged_in_part = trial.judged_in_part();
  row.verified = row.failure.empty();
}

// In turns, so that other work of the machine affects all alike.
void sample(std::vector<BenchRow>& rows, std::vector<Contestant> contestants, ops::Trial& trial,
            device::Stream& stream, device::Stopwatch& stopwatch, const StoppingRule& rule,
            const std::function<void(const BenchRow&)>& before) {
  const bool gpu = stream.target == runtime::Target::gpu;
  bool warming_up = gpu;  // the first round brings the clocks up and is not kept
  while (!contestants.empty()) {
    for (const Contestant& contestant : contestants) {
      BenchRow& row = rows[contestant.row];
      if (row.samples_s.empty()) before(row);
      const auto take = [&](std::vector<double>& samples, device::Caches caches) {
        const auto work = [&] { contestant.launch(trial.call(), stream); };
        const device::Sample taken = stopwatch.measure(work, caches);
        if (warming_up) return;
        samples.push_back(taken.seconds);
        row.clocks.include(taken.sm_clock_mhz);
      };
      if (gpu) take(row.cold_samples_s, device::Caches::cold);
      take(row.samples_s, device::Caches::hot);
    }
    std::erase_if(contestants, [&](const Contestant& c) {
      const BenchRow& row = rows[c.row];
      return rule.is_enough(row.samples_s) && (!gpu || rule.is_enough(row.cold_samples_s));
    });
    warming_up = false;
  }
}

// A preparation that serves many launches is timed apart, and then kept.
void sample_preparations(std::vector<BenchRow>& rows, const std::vector<Contestant>& contestants,
                         ops::Trial& trial, device::Stream& stream, device::Stopwatch& stopwatch) {
  constexpr int kSamples = 9;
  trial.reset();
  for (const Contestant& contestant : contestants) {
    if (!contestant.prepare) continue;
    const auto work = [&] { contestant.prepare(trial.call(), stream); };
    for (int i = 0; i < kSamples; ++i) {
      rows[contestant.row].preparation_samples_s.push_back(stopwatch.measure(work).seconds);
    }
  }
}

// A launch costs about 3 µs; a graph of launches shows the kernel's time without it.
constexpr double kShortSeconds = 50e-6;

void sample_in_graphs(std::vector<BenchRow>& rows, const std::vector<Contestant>& contestants,
                      ops::Trial& trial, device::Stream& stream, device::Stopwatch& stopwatch) {
  for (const Contestant& contestant : contestants) {
    BenchRow& row = rows[contestant.row];
    if (statistics(row.samples_s).median > kShortSeconds) continue;
    row.graph_samples_s =
        stopwatch.measure_in_graph([&] { contestant.launch(trial.call(), stream); });
  }
}

Baseline measure_baseline(const ops::Operator& op, const ladder::AnyRung& rung) {
  const std::vector<std::int64_t> shape = op.baseline_shape();
  const auto trial = op.case_of_shape(shape).prepare(runtime::Target::cpu);
  device::Stream stream(runtime::Target::cpu);
  device::Stopwatch stopwatch(stream);
  const ladder::Launcher launch = rung.launcher(runtime::Flavour::plain);
  Baseline baseline{op.name(), rung.id, shape, trial->flops(), {}};
  const StoppingRule rule{.uncertainty = 0.02, .budget_s = 1, .least_samples = 3};
  while (!rule.is_enough(baseline.samples_s)) {
    const auto work = [&] { launch(trial->call(), stream); };
    baseline.samples_s.push_back(stopwatch.measure(work).seconds);
  }
  return baseline;
}

// Of each operator that has a serial rung.
std::vector<Baseline> measure_baselines(const std::vector<BenchGroup>& groups) {
  std::vector<Baseline> baselines;
  for (const BenchGroup& group : groups) {
    if (std::ranges::find(baselines, group.op->name(), &Baseline::op) != baselines.end()) continue;
    for (const ladder::AnyRung* rung : ladder::rungs_of(group.op->name())) {
      if (!rung->on_host) continue;
      baselines.push_back(measure_baseline(*group.op, *rung));
      break;
    }
  }
  return baselines;
}

}  // namespace

bool StoppingRule::is_enough(const std::vector<double>& samples) const {
  if (samples.empty()) return false;
  if (std::ranges::max(samples) > long_sample_s || samples.size() >= most_samples) return true;
  if (samples.size() < least_samples) return false;
  return std::reduce(samples.begin(), samples.end()) >= budget_s ||
         statistics(samples).uncertainty() < uncertainty;
}

StoppingRule stopping_rule_for(runtime::Target target) {
  if (target == runtime::Target::cpu) return {};
  return {.uncertainty = 0.005,
          .budget_s = 0.3,
          .least_samples = 9,
          .most_samples = 500,
          .long_sample_s = 2};
}

StoppingRule stopping_rule_for_many(runtime::Target target) {
  if (target == runtime::Target::cpu) return {.budget_s = 0.05, .least_samples = 3};
  return {.uncertainty = 0.005,
          .budget_s = 0.04,
          .least_samples = 9,
          .most_samples = 150,
          .long_sample_s = 2};
}

std::string above_ceiling(const BenchRow& row, const device::Ceilings& ceilings) {
  const auto above = [](double amount, const std::vector<double>& samples, double most,
                        const char* unit, double scale) -> std::string {
    if (samples.empty() || most <= 0) return "";
    const double rate = amount / statistics(samples).median;
    if (!(rate > most)) return "";
    return fmt::format("{:.4g} {} is more than the {:.4g} that this device can do", rate * scale,
                       unit, most * scale);
  };
  const std::string flops = above(
      row.flops, row.samples_s,
      row.tensor_cores ? ceilings.tensor_flops_per_s : ceilings.fp32_flops_per_s, "TFLOP/s", 1e-12);
  if (!flops.empty()) return flops;
  return above(row.bytes, row.cold_samples_s, ceilings.memory_bytes_per_s, "GB/s", 1e-9);
}

namespace {

// The problem of a group on its target. Null if it exceeds memory and the request may skip it;
// `why_not` then says so.
std::unique_ptr<ops::Trial> trial_of(const BenchRequest& request, const BenchGroup& group,
                                     std::string& why_not) {
  const auto& [op, shape, variant, rungs, shape_class] = group;
  if (!request.many_shapes) return op->case_of_shape(shape, variant).prepare(request.target);
  try {
    return op->sampled_case_of_shape(shape, variant).prepare(request.target);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::resource) throw;
    why_not = error.what();
    return nullptr;
  }
}

BenchRow row_of(const BenchGroup& group, std::size_t place, const std::string& name) {
  BenchRow row;
  row.op = group.op->name();
  row.rung = name;
  row.shape = group.shape;
  row.variant = group.variant;
  row.shape_class = group.shape_class;
  row.group = place;
  row.measure = group.op->measure();
  return row;
}

// The contestants of one problem, and their rows.
class GroupBench {
 public:
  GroupBench(const BenchRequest& request, std::size_t place, device::Stream& stream,
             device::Stopwatch& stopwatch, const Progress& progress)
      : request_(request),
        group_(request.groups[place]),
        place_(place),
        stream_(stream),
        stopwatch_(stopwatch),
        progress_(progress),
        is_gpu_(request.target == runtime::Target::gpu) {}

  // `budget_s` is for all samples of the group.
  FinishedGroup run(double budget_s) {
    std::string no_memory;
    trial_ = trial_of(request_, group_, no_memory);
    if (!trial_) {
      for (const ladder::AnyRung* rung : group_.rungs) {
        rows().push_back(row_of(group_, place_, rung->id));
        rows().back().skipped = no_memory;
      }
      return std::move(result_);
    }
    for (const ladder::AnyRung* rung : group_.rungs) {
      trial_->provide_workspace(rung->workspace_for(trial_->call(), *stream_.machine));
    }
    for (const ladder::AnyRung* rung : group_.rungs) enter(*rung);
    for (const ops::Rival* rival : ops::rivals_of(group_.op->name(), request_.target)) {
      enter(*rival);
    }
    sample_preparations(rows(), contestants_, *trial_, stream_, stopwatch_);
    StoppingRule rule = request_.rule;
    if (const double sets = static_cast<double>(contestants_.size()) * (is_gpu_ ? 2 : 1);
        sets > 0) {
      rule.budget_s = std::min(rule.budget_s, budget_s / sets);
    }
    sample(rows(), contestants_, *trial_, stream_, stopwatch_, rule,
           [&](const BenchRow& row) { tell("timing", row, 0.5); });
    if (is_gpu_ && !request_.many_shapes) {
      sample_in_graphs(rows(), contestants_, *trial_, stream_, stopwatch_);
    }
    const device::Ceilings ceilings = device::ceilings(request_.target);
    for (BenchRow& row : rows()) row.invalid = above_ceiling(row, ceilings);
    return std::move(result_);
  }

 private:
  std::vector<BenchRow>& rows() { return result_.rows; }

  void tell(const char* what, const BenchRow& row, double done) const {
    if (!progress_) return;
    const std::string problem =
        row.shape.empty() ? row.variant : fmt::format("{}", fmt::join(row.shape, "x"));
    progress_(fmt::format("{} {} at {}", what, row.rung, problem),
              (static_cast<double>(place_) + done) / static_cast<double>(request_.groups.size()));
  }

  void enter(const ladder::AnyRung& rung) {
    if (is_gpu_ && rung.on_host) return;  // it is the baseline
    const runtime::Flavour flavour = is_gpu_ ? runtime::Flavour::gpu : runtime::Flavour::plain;
    BenchRow& row = rows().emplace_back(row_of(group_, place_, rung.id));
    const ladder::Arithmetic arithmetic = rung.arithmetic_for(trial_->call());
    row.skipped = ladder::why_not(rung, flavour);
    if (row.skipped.empty()) row.skipped = ladder::why_not(rung, trial_->call());
    complete(row, arithmetic);
    if (!row.skipped.empty()) return;
    verify(row, &rung,
           {rows().size() - 1, rung.preparation(flavour), rung.launcher(flavour), arithmetic});
  }

  void enter(const ops::Rival& rival) {
    if (rival.takes && !rival.takes(trial_->call())) return;
    if (request_.many_shapes && (rival.is_detour || rival.arithmetic.extra_roundings > 0)) return;
    BenchRow& row = rows().emplace_back(row_of(group_, place_, rival.name));
    row.rival = true;
    row.probe = rival.is_probe;
    row.skipped = rival.why_not ? rival.why_not() : "";
    complete(row, rival.arithmetic);
    if (!row.skipped.empty()) return;
    if (rival.version) result_.libraries[rival.library] = rival.version();
    verify(row, nullptr, {rows().size() - 1, rival.prepare, rival.launch, rival.arithmetic});
  }

  void complete(BenchRow& row, const ladder::Arithmetic& arithmetic) const {
    row.tensor_cores = arithmetic.tensor_cores();
    row.less_accurate = row.rival && arithmetic.extra_roundings > 0;
    row.remark = trial_->remark();
    row.flops = trial_->flops();
    row.bytes = trial_->minimal_bytes();
  }

  // Contestants that pass are sampled.
  void verify(BenchRow& row, const ladder::AnyRung* rung, const Contestant& contestant) {
    const double contestants = static_cast<double>(group_.rungs.size()) + 1;
    tell("verifying", row, 0.5 * static_cast<double>(contestants_.size()) / contestants);
    const bool wants_counts = !is_gpu_ && !request_.many_shapes;
    try {
      if (!row.probe) verify_row(row, rung, contestant, *trial_, stream_, wants_counts);
    } catch (const Error& error) {  // such as memory that a library's call lacks
      if (!request_.many_shapes || error.code() != ErrorCode::resource) throw;
      row.skipped = error.what();
      return;
    }
    if (row.verified || row.probe) contestants_.push_back(contestant);
  }

  const BenchRequest& request_;
  const BenchGroup& group_;
  std::size_t place_;
  device::Stream& stream_;
  device::Stopwatch& stopwatch_;
  const Progress& progress_;
  bool is_gpu_;
  std::unique_ptr<ops::Trial> trial_;
  std::vector<Contestant> contestants_;
  FinishedGroup result_;
};

// Shares the time among the remaining groups.
class Budget {
 public:
  Budget(double budget_s, std::size_t groups) : budget_s_(budget_s), groups_left_(groups) {}

  bool is_used_up() const { return any_began_ && budget_s_ > 0 && left() <= 0; }
  double share_of_next() {
    any_began_ = true;
    const auto groups = static_cast<double>(groups_left_--);
    return budget_s_ > 0 ? std::max(0.0, left()) / groups : std::numeric_limits<double>::infinity();
  }

 private:
  using Clock = std::chrono::steady_clock;
  double left() const {
    return budget_s_ - std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  Clock::time_point begin_ = Clock::now();
  double budget_s_;
  std::size_t groups_left_;
  bool any_began_ = false;
};

}  // namespace

BenchReport bench(const BenchRequest& request, const Progress& progress,
                  const GroupFinished& finished) {
  Budget budget(request.budget_s, request.groups.size() - request.finished.size());
  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;
  device::Stopwatch stopwatch(stream);

  BenchReport report;
  report.ceilings = device::ceilings(request.target);
  report.cache_bytes = static_cast<double>(device::machine(request.target).l2_bytes);
  const bool is_gpu = request.target == runtime::Target::gpu;
  if (is_gpu && !request.many_shapes) report.baselines = measure_baselines(request.groups);
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    FinishedGroup group;
    if (const auto known = request.finished.find(g); known != request.finished.end()) {
      group = known->second;
    } else if (budget.is_used_up()) {
      report.not_reached.push_back(g);
      continue;
    } else {
      group = GroupBench(request, g, stream, stopwatch, progress).run(budget.share_of_next());
      if (finished) finished(g, group);
    }
    report.rows.insert(report.rows.end(), group.rows.begin(), group.rows.end());
    report.libraries.insert(group.libraries.begin(), group.libraries.end());
  }
  return report;
}

}  // namespace warpladder::lab
