#pragma once
// Runs rungs on their operator's cases and judges the results.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "lab/selection.hpp"

namespace warpladder::lab {

// On the CPU: which flavours run.
enum class Checking {
  each_access,  // the one in which the executor checks every access; the plain one of host
                // functions
  results,      // the plain one, which only its results tell right from wrong
  both
};

struct VerifyRequest {
  std::vector<Selected> rungs;
  runtime::Target target = runtime::Target::cpu;
  Checking checking = Checking::each_access;
  std::optional<std::vector<std::int64_t>> shape;  // instead of the operator's cases
  // The variant of that shape; for an empty shape, the matrix.
  std::optional<std::string> variant;
  bool large = false;             // the operators' large cases instead
  bool stop_at_failure = false;   // what was not reached by then is skipped
  double block_limit_s = 0;       // see executor::BlockLimit
  unsigned executor_threads = 0;  // and as many checked cases at once
};

// A rule of CUDA that the kernel broke.
struct BrokenRule {
  std::string file;
  int line = 0;
  std::string kind;      // "access out of bounds"
  std::string sentence;  // who does what, and in which kernel
  std::string place() const { return file + ":" + std::to_string(line); }
};

struct CaseResult {
  std::string name;
  double bytes = 0;  // of its operands
  double worst_error_over_bound = 0.0;
  std::string failure;  // empty if it passed
  std::optional<BrokenRule> broken;
};

// One rung in one flavour.
struct VerifyRow {
  std::string op, rung;
  runtime::Flavour flavour = runtime::Flavour::plain;
  std::string skipped;  // why it did not run, or empty
  std::vector<CaseResult> cases;
  std::size_t not_taken = 0;  // cases that the rung does not accept

  std::size_t failures() const;
  // The case nearest to its bound, or over it; null without cases.
  const CaseResult* worst() const;
};

// Failures of one cause: the same rule broken on the same line, or wrong results.
struct FailureGroup {
  const CaseResult* smallest = nullptr;  // the case to look at first
  std::size_t cases = 0;
};
// In the order of their first failure.
std::vector<FailureGroup> failure_groups(const VerifyRow& row);

// Called before each case, with its name and the progress in [0, 1]; by one thread at a time.
using Progress = std::function<void(const std::string& what, double done)>;

std::vector<VerifyRow> verify(const VerifyRequest& request, const Progress& progress = nullptr);

}  // namespace warpladder::lab
