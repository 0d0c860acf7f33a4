#pragma once
// The errors of rungs and one rival against the exact result, over distributions of operands and
// shapes. verify says whether rungs are right.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/selection.hpp"
#include "lab/verify.hpp"
#include "ops/lab/accuracy.hpp"
#include "ops/lab/rival.hpp"

namespace warpladder::lab {

struct AccuracyRequest {
  const ops::Operator* op = nullptr;
  std::vector<const ladder::AnyRung*> rungs;
  std::vector<std::string> distributions;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::string> variants;  // one for each shape, or none: the first variant of all
  std::uint64_t seed = 1;
  runtime::Target target = runtime::Target::cpu;
  unsigned executor_threads = 0;
};

// One rung or rival on one problem.
struct AccuracyPoint {
  std::string skipped;  // why it does not take the problem, or empty
  std::string failure;  // what the kernel did wrong, or empty; the errors are then infinite
  ops::Errors errors;
};

struct AccuracyRow {
  std::string rung;  // of a rival: its name
  bool rival = false;
  std::string skipped;                // why it cannot run here, or empty
  std::vector<AccuracyPoint> points;  // one for each problem, unless it cannot run here
};

struct AccuracyReport {
  std::string op;
  std::vector<ops::Distribution> distributions;  // those that were asked for
  std::vector<ops::AccuracyProblem> problems;    // distribution by distribution
  std::vector<std::string> judged_in_part;       // of each problem: what was compared, or empty
  std::vector<AccuracyRow> rows;                 // the rungs in the order given, then the rival
  std::map<std::string, std::string> libraries;  // of the rival, if it ran: name, version
};

// The target's first rival that computes the result; null without one.
const ops::Rival* accuracy_rival(const ops::Operator& op, runtime::Target target);

// Runs every rung and that rival on each distribution and shape; nothing if no rung can run. Throws
// Error(bad_input) for an unknown distribution.
AccuracyReport accuracy(const AccuracyRequest& request, const Progress& progress = nullptr);

// The problems of one distribution and variant that differ only in the last size (k of a product),
// in ascending order of it.
struct AccuracyGroup {
  const ops::Distribution* distribution = nullptr;
  std::vector<std::int64_t> other_sizes;
  std::vector<std::size_t> problems;
};
std::vector<AccuracyGroup> groups_of(const AccuracyReport& report);

// A measure of ops::Errors.
struct ErrorMeasure {
  const char *key, *formula;
  double ops::Errors::*value;
};
inline constexpr ErrorMeasure kErrorMeasures[] = {
    {"frobenius", "‖C−R‖/‖R‖", &ops::Errors::frobenius},
    {"componentwise", "max |C−R|/(|A||B|)", &ops::Errors::componentwise},
};

// A rung's error that exceeds the factor times the rival's.
struct Excess {
  std::string rung;
  std::size_t problem = 0;
  const ErrorMeasure* measure = nullptr;
  double error = 0, of_rival = 0;
  // 0 if neither has an error.
  double ratio() const;
};
// Empty if no rival ran. `factor` is finite and not negative.
std::vector<Excess> worse_than_rival(const AccuracyReport& report, double factor);

// A rung beside the rival at one shape: for each of kErrorMeasures the largest ratio, and its
// distribution.
struct ShapeErrors {
  std::string rung, variant;
  std::vector<std::int64_t> shape;
  std::vector<Excess> largest;
};
// Empty if no rival ran.
std::vector<ShapeErrors> errors_by_shape(const AccuracyReport& report);

}  // namespace warpladder::lab
