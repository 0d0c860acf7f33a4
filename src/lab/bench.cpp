#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "executor/fault.hpp"
#include "ops/lab/rival.hpp"

namespace warpladder::lab {
namespace {

// Of sorted samples.
double quantile(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The median's 95 % interval runs from the sample of this rank (1 is the smallest) to the one as
// far from the other end: fewer than `rank` of n samples fall below the median with a probability
// of at most 2.5 %, that of as few heads in n throws of a coin. 0 if n samples are too few for
// that.
std::size_t interval_rank(std::size_t n) {
  double log_choose = 0, tail = 0;  // log of (n over heads); probability of at most so many heads
  for (std::size_t heads = 0; heads < n; ++heads) {
    tail += std::exp(log_choose - static_cast<double>(n) * std::log(2.0));
    if (tail > 0.025) return heads;
    log_choose += std::log(static_cast<double>(n - heads) / static_cast<double>(heads + 1));
  }
  return 0;
}

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

// Runs what the row is about, on the CPU side counted too, and has the results judged.
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

// Turn by turn, so that whatever else the machine does falls on all alike.
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

// What is done once before any number of launches is timed apart, and then left done.
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

// A launch costs about 3 µs whatever it does; a graph of launches shows what is left without it.
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

Statistics statistics(std::vector<double> samples) {
  std::ranges::sort(samples);
  Statistics s{quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
  const std::size_t rank = interval_rank(samples.size());
  s.high = rank ? samples[samples.size() - rank] : std::numeric_limits<double>::infinity();
  s.low = rank ? samples[rank - 1] : -s.high;
  return s;
}

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

// The problem of a group on its target. Null where it needs more memory than there is, and the
// request may skip it: `why_not` then says so.
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

}  // namespace

BenchReport bench(const BenchRequest& request, const Progress& progress) {
  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;
  device::Stopwatch stopwatch(stream);
  const bool gpu = request.target == runtime::Target::gpu;
  const runtime::Flavour flavour = gpu ? runtime::Flavour::gpu : runtime::Flavour::plain;

  BenchReport report;
  report.ceilings = device::ceilings(request.target);
  report.cache_bytes = static_cast<double>(device::machine(request.target).l2_bytes);
  if (gpu && !request.many_shapes) report.baselines = measure_baselines(request.groups);
  std::vector<BenchRow>& rows = report.rows;
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    const BenchGroup& group = request.groups[g];
    const auto& [op, shape, variant, rungs, shape_class] = group;
    const auto tell = [&](const char* what, const BenchRow& row, double done) {
      if (!progress) return;
      const std::string problem =
          row.shape.empty() ? row.variant : fmt::format("{}", fmt::join(row.shape, "x"));
      progress(fmt::format("{} {} at {}", what, row.rung, problem),
               (static_cast<double>(g) + done) / static_cast<double>(request.groups.size()));
    };
    std::string no_memory;
    const auto trial = trial_of(request, group, no_memory);
    if (!trial) {
      for (const ladder::AnyRung* rung : rungs) {
        rows.push_back(row_of(group, g, rung->id));
        rows.back().skipped = no_memory;
      }
      continue;
    }
    for (const ladder::AnyRung* rung : rungs) {
      trial->provide_workspace(rung->workspace_for(trial->call(), *stream.machine));
    }
    const std::string remark = trial->remark();
    std::vector<Contestant> contestants;
    const auto enter = [&](const std::string& name, const ladder::AnyRung* rung,
                           ladder::Launcher prepare, ladder::Launcher launch,
                           const ladder::Arithmetic& arithmetic, const std::string& why_not,
                           bool probe) {
      BenchRow& row = rows.emplace_back(row_of(group, g, name));
      row.rival = rung == nullptr;
      row.probe = probe;
      row.tensor_cores = arithmetic.tensor_cores();
      row.less_accurate = row.rival && arithmetic.extra_roundings > 0;
      row.remark = remark;
      row.flops = trial->flops();
      row.bytes = trial->minimal_bytes();
      row.skipped = why_not;
      if (!row.skipped.empty()) return;
      tell("verifying", row, 0.5 * static_cast<double>(contestants.size()) / (rungs.size() + 1.0));
      const Contestant contestant{rows.size() - 1, prepare, launch, arithmetic};
      const bool wants_counts = !gpu && !request.many_shapes;
      try {
        if (!probe) verify_row(row, rung, contestant, *trial, stream, wants_counts);
      } catch (const Error& error) {  // such as memory that a library's call lacks
        if (!request.many_shapes || error.code() != ErrorCode::resource) throw;
        row.skipped = error.what();
        return;
      }
      if (row.verified || probe) contestants.push_back(contestant);
    };
    for (const ladder::AnyRung* rung : rungs) {
      if (gpu && rung->on_host) continue;  // it is the baseline
      std::string why_not = ladder::why_not(*rung, flavour);
      if (why_not.empty()) why_not = ladder::why_not(*rung, trial->call());
      enter(rung->id, rung, rung->preparation(flavour), rung->launcher(flavour),
            rung->arithmetic_for(trial->call()), why_not, false);
    }
    for (const ops::Rival* rival : ops::rivals_of(op->name(), request.target)) {
      if (rival->takes && !rival->takes(trial->call())) continue;
      if (request.many_shapes && (rival->is_detour || rival->arithmetic.extra_roundings > 0)) {
        continue;
      }
      const std::string why_not = rival->why_not ? rival->why_not() : "";
      enter(rival->name, nullptr, rival->prepare, rival->launch, rival->arithmetic, why_not,
            rival->is_probe);
      if (why_not.empty() && rival->version) report.libraries[rival->library] = rival->version();
    }
    sample_preparations(rows, contestants, *trial, stream, stopwatch);
    sample(rows, contestants, *trial, stream, stopwatch, request.rule,
           [&](const BenchRow& row) { tell("timing", row, 0.5); });
    if (gpu && !request.many_shapes) sample_in_graphs(rows, contestants, *trial, stream, stopwatch);
  }
  for (BenchRow& row : rows) row.invalid = above_ceiling(row, report.ceilings);
  return report;
}

}  // namespace warpladder::lab
