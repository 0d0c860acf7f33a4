#pragma once
// Times rungs and their rivals. Each result is judged before it is timed.
//
// On a GPU each sample is one launch, or one call of a rival, between two events. On the CPU the
// executor's counts are the result. The times there are the plain flavour's on this processor; they
// are no GPU times and rank nothing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/timing.hpp"
#include "lab/selection.hpp"
#include "lab/statistics.hpp"
#include "lab/verify.hpp"

namespace warpladder::lab {

// When a measurement has enough samples.
struct StoppingRule {
  double uncertainty = 0.02;
  double budget_s = 2;
  std::size_t least_samples = 5, most_samples = 1000;
  double long_sample_s = 5;  // one sample that takes longer is enough

  bool is_enough(const std::vector<double>& samples) const;
};
// A GPU's times vary less than those of a shared CPU.
StoppingRule stopping_rule_for(runtime::Target target);
// For hundreds of shapes in a few minutes.
StoppingRule stopping_rule_for_many(runtime::Target target);

struct BenchGroup {
  const ops::Operator* op = nullptr;
  std::vector<std::int64_t> shape;
  std::string variant;
  std::vector<const ladder::AnyRung*> rungs;
  std::string shape_class;  // of a file of many shapes
};

// One rung or rival at one shape.
struct BenchRow {
  std::string op, rung;  // of a rival: its name
  bool rival = false;
  bool probe = false;  // a rival that only moves the bytes: a ceiling
  bool tensor_cores = false;
  bool less_accurate = false;  // a rival that computes with fewer bits: a contrast
  std::vector<std::int64_t> shape;
  std::string variant;
  std::string shape_class;  // of a file of many shapes, or empty
  std::size_t group = 0;    // of the request's
  std::string remark;       // what of the problem explains its times, or empty
  std::string skipped;      // why it cannot run here, or empty
  std::string failure;      // why its result is wrong, or empty; then it is not timed
  std::string invalid;      // why its time cannot be true, or empty
  bool verified = false;
  double worst_error_over_bound = 0;
  std::string judged_in_part;            // of a large problem: what was compared
  std::optional<ladder::Totals> counts;  // CPU side, where the rung has a counted flavour
  std::vector<double> samples_s;         // caches as earlier kernels left them
  std::vector<double> cold_samples_s;    // on a GPU: operands in memory, not in its L2 cache
  std::vector<double> graph_samples_s;   // on a GPU, of short ones: one of many in a captured graph
  std::vector<double> preparation_samples_s;  // of what is done once before all launches, if any
  device::ClockRange clocks;                  // of the multiprocessors meanwhile
  double flops = 0, bytes = 0;
  ops::Measure measure = ops::Measure::flops;
};

// The rows of one group, and the libraries of its rivals.
struct FinishedGroup {
  std::vector<BenchRow> rows;
  std::map<std::string, std::string> libraries;
};

struct BenchRequest {
  std::vector<BenchGroup> groups;
  std::map<std::size_t, FinishedGroup> finished;  // groups that an earlier run has done
  // For all groups; 0: no limit. Each group gets an equal share of the time. After the limit no
  // further group begins; the first always runs.
  double budget_s = 0;
  runtime::Target target = runtime::Target::cpu;
  unsigned executor_threads = 0;
  StoppingRule rule;
  // Only times, of rungs and rivals. Results are judged in part, and a problem that exceeds memory
  // is skipped. No counts, baselines, graphs of launches or indirect rivals.
  bool many_shapes = false;
};

// The serial rung on the CPU: the 1x of every speed-up on a GPU. It is timed at a small shape and
// scaled by floating-point operations.
struct Baseline {
  std::string op, rung;
  std::vector<std::int64_t> shape;
  double flops = 0;
  std::vector<double> samples_s;
};

struct BenchReport {
  std::vector<BenchRow> rows;  // group by group, each group's rungs in the order given, then rivals
  std::vector<Baseline> baselines;               // on a GPU
  device::Ceilings ceilings;                     // of the target
  double cache_bytes = 0;                        // of the target's L2 cache
  std::map<std::string, std::string> libraries;  // of the rivals that ran: name, version
  std::vector<std::size_t> not_reached;          // groups for which the budget did not last
};

// Called for each group of the request when all its rows are measured.
using GroupFinished = std::function<void(std::size_t group, const FinishedGroup& finished)>;

BenchReport bench(const BenchRequest& request, const Progress& progress = nullptr,
                  const GroupFinished& finished = nullptr);

// Why a time is impossible: it exceeds a ceiling. Empty if it does not.
std::string above_ceiling(const BenchRow& row, const device::Ceilings& ceilings);

}  // namespace warpladder::lab
