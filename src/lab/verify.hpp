#pragma once
// Are the rungs right? Runs them on their operator's cases and has the results judged.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "lab/selection.hpp"

namespace warpladder::lab {

struct VerifyRequest {
  std::vector<Selected> rungs;
  runtime::Target target = runtime::Target::cpu;
  // CPU side: also run the counted flavour, in which the executor checks every access.
  bool counted = false;
  std::optional<std::vector<std::int64_t>> shape;  // instead of the operator's cases
  // Of that shape; of an empty one, the matrix that it stands for.
  std::optional<std::string> variant;
  bool large = false;  // the operators' large cases instead
  unsigned executor_threads = 0;
};

struct CaseResult {
  std::string name;
  double worst_error_over_bound = 0.0;
  std::string failure;  // empty if it passed
};

// One rung in one flavour.
struct VerifyRow {
  std::string op, rung;
  runtime::Flavour flavour = runtime::Flavour::plain;
  std::string skipped;  // why it did not run, or empty
  std::vector<CaseResult> cases;
  std::size_t not_taken = 0;  // cases that the rung does not accept

  std::size_t failures() const;
  // The case that came nearest to its bound, or over it; null without cases.
  const CaseResult* worst() const;
};

// Told before each case: what runs, and how far things are in [0, 1].
using Progress = std::function<void(const std::string& what, double done)>;

std::vector<VerifyRow> verify(const VerifyRequest& request, const Progress& progress = nullptr);

}  // namespace warpladder::lab
