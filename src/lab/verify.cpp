#include "lab/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "executor/fault.hpp"

namespace warpladder::lab {
namespace {

CaseResult run_case(const std::string& name, ops::Trial& trial, const ladder::AnyRung& rung,
                    runtime::Flavour flavour, device::Stream& stream) {
  trial.provide_workspace(rung.workspace_for(trial.call(), *stream.machine));
  trial.reset();
  try {
    if (const ladder::Launcher prepare = rung.preparation(flavour)) prepare(trial.call(), stream);
    rung.launcher(flavour)(trial.call(), stream);
    stream.synchronize();
  } catch (const executor::KernelFault& fault) {
    return {name, std::numeric_limits<double>::infinity(), fault.what()};
  }
  trial.expect(rung.arithmetic_for(trial.call()));
  const ops::Verdict verdict = trial.judge();
  return {name, verdict.worst_error_over_bound, verdict.failure};
}

std::vector<ops::Case> cases_of(const ops::Operator& op, const VerifyRequest& request) {
  if (request.large) return op.large_cases();
  if (!request.shape) return op.cases();
  return {op.case_of_shape(*request.shape, request.variant.value_or(op.variants().front()))};
}

}  // namespace

std::size_t VerifyRow::failures() const {
  return static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(), [](const auto& c) { return !c.failure.empty(); }));
}

const CaseResult* VerifyRow::worst() const {
  const auto nearer = [](const CaseResult& a, const CaseResult& b) {
    if (a.failure.empty() != b.failure.empty()) return a.failure.size() < b.failure.size();
    return a.worst_error_over_bound < b.worst_error_over_bound;
  };
  const auto it = std::max_element(cases.begin(), cases.end(), nearer);
  return it == cases.end() ? nullptr : &*it;
}

std::vector<VerifyRow> verify(const VerifyRequest& request, const Progress& progress) {
  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;

  std::vector<VerifyRow> rows;
  struct Run {
    std::size_t row;
    const ladder::AnyRung* rung;
    runtime::Flavour flavour;
  };
  // By operator, so that each case is set up, and its truth computed, once for all rungs.
  std::vector<std::pair<const ops::Operator*, std::vector<Run>>> work;
  for (const Selected& s : request.rungs) {
    for (const runtime::Flavour flavour : flavours_on(request.target, request.counted)) {
      VerifyRow& row = rows.emplace_back();
      row.op = s.op->name();
      row.rung = s.rung->id;
      row.flavour = flavour;
      row.skipped = ladder::why_not(*s.rung, flavour);
      if (!row.skipped.empty()) continue;
      auto at = std::find_if(work.begin(), work.end(), [&](auto& w) { return w.first == s.op; });
      if (at == work.end()) at = work.insert(at, {s.op, {}});
      at->second.push_back({rows.size() - 1, s.rung, flavour});
    }
  }

  for (std::size_t w = 0; w < work.size(); ++w) {
    const auto& [op, runs] = work[w];
    const std::vector<ops::Case> cases = cases_of(*op, request);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto trial = cases[i].prepare(request.target);
      for (std::size_t r = 0; r < runs.size(); ++r) {
        VerifyRow& row = rows[runs[r].row];
        if (progress) {
          const double in_op =
              (static_cast<double>(i) + static_cast<double>(r) / runs.size()) / cases.size();
          progress(fmt::format("{}/{} {}", row.op, row.rung, cases[i].name),
                   (w + in_op) / work.size());
        }
        if (!ladder::why_not(*runs[r].rung, trial->call()).empty()) {
          ++row.not_taken;
          continue;
        }
        row.cases.push_back(
            run_case(cases[i].name, *trial, *runs[r].rung, runs[r].flavour, stream));
      }
    }
  }
  return rows;
}

}  // namespace warpladder::lab
