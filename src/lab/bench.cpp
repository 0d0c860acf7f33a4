#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "device/cpu/fault.hpp"
#include "ops/sgemm/rival_openblas.hpp"

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
  ladder::Launcher launch;
};

// The failure's sentence, or empty.
std::string run_and_judge(ops::Trial& trial, ladder::Launcher launch, device::Stream& stream,
                          double& worst_error_over_bound) {
  trial.reset();
  try {
    launch(trial.call(), stream);
    stream.synchronize();
  } catch (const device::cpu::KernelFault& fault) {
    return fault.what();
  }
  const ops::Verdict verdict = trial.judge();
  worst_error_over_bound = std::max(worst_error_over_bound, verdict.worst_error_over_bound);
  return verdict.failure;
}

// Runs what the row is about, plain and counted, and has both results judged.
void verify_row(BenchRow& row, const ladder::Rung* rung, ladder::Launcher launch, ops::Trial& trial,
                device::Stream& stream) {
  row.failure = run_and_judge(trial, launch, stream, row.worst_error_over_bound);
  const ladder::Launcher counted = rung ? rung->launcher(device::Flavour::counted) : nullptr;
  if (row.failure.empty() && counted) {
    std::vector<device::KernelCounts> counts;
    stream.record_counts = &counts;
    row.failure = run_and_judge(trial, counted, stream, row.worst_error_over_bound);
    stream.record_counts = nullptr;
    row.counts = ladder::totals_of(counts);
  }
  row.verified = row.failure.empty();
}

// Turn by turn, so that whatever else the machine does falls on all alike.
void sample(std::vector<BenchRow>& rows, std::vector<Contestant> contestants, ops::Trial& trial,
            device::Stream& stream, const StoppingRule& rule,
            const std::function<void(const BenchRow&)>& before) {
  device::Timer timer(stream);
  while (!contestants.empty()) {
    for (const Contestant& contestant : contestants) {
      BenchRow& row = rows[contestant.row];
      if (row.samples_s.empty()) before(row);
      timer.start();
      contestant.launch(trial.call(), stream);
      timer.stop();
      row.samples_s.push_back(timer.seconds());
    }
    std::erase_if(contestants,
                  [&](const Contestant& c) { return rule.is_enough(rows[c.row].samples_s); });
  }
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

const std::vector<Rival>& rivals_on(device::Target target) {
  static const std::vector<Rival> on_cpu{{"sgemm", "openblas", sgemm::launch_openblas}}, on_gpu;
  return target == device::Target::cpu ? on_cpu : on_gpu;
}

std::vector<BenchRow> bench(const BenchRequest& request, const Progress& progress) {
  if (request.target == device::Target::gpu) {
    throw_resource("timing on a GPU is not part of this build yet");
  }
  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;

  std::vector<BenchRow> rows;
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    const auto& [op, shape, rungs] = request.groups[g];
    const auto tell = [&](const char* what, const BenchRow& row, double done) {
      if (!progress) return;
      progress(fmt::format("{} {} at {}", what, row.rung, fmt::join(row.shape, "x")),
               (static_cast<double>(g) + done) / static_cast<double>(request.groups.size()));
    };
    const auto trial = op->case_of_shape(shape).prepare(request.target);
    std::vector<Contestant> contestants;
    const auto enter = [&](const std::string& name, const ladder::Rung* rung,
                           ladder::Launcher launch) {
      BenchRow& row = rows.emplace_back();
      row.op = op->name();
      row.rung = name;
      row.rival = rung == nullptr;
      row.shape = shape;
      row.flops = trial->flops();
      row.bytes = trial->minimal_bytes();
      if (rung) row.skipped = ladder::why_not(*rung, device::Flavour::plain);
      if (!row.skipped.empty()) return;
      tell("verifying", row, 0.5 * static_cast<double>(contestants.size()) / (rungs.size() + 1.0));
      verify_row(row, rung, launch, *trial, stream);
      if (row.verified) contestants.push_back({rows.size() - 1, launch});
    };
    for (const ladder::Rung* rung : rungs) {
      enter(rung->id, rung, rung->launcher(device::Flavour::plain));
    }
    for (const Rival& rival : rivals_on(request.target)) {
      if (rival.op == op->name()) enter(rival.name, nullptr, rival.launch);
    }
    sample(rows, std::move(contestants), *trial, stream, request.rule,
           [&](const BenchRow& row) { tell("timing", row, 0.5); });
  }
  return rows;
}

}  // namespace warpladder::lab
