#include "lab/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "executor/executor.hpp"
#include "lab/kernel_name.hpp"

namespace warpladder::lab {
namespace {

using runtime::Flavour;

BrokenRule broken_rule(const executor::KernelFault& fault) {
  const executor::KernelFault::Place& p = fault.place();
  return {p.file, p.line, executor::name(fault.kind()),
          fmt::format("block ({},{},{}) thread ({},{},{}) of {}: {}", p.block.x, p.block.y,
                      p.block.z, p.thread.x, p.thread.y, p.thread.z, short_kernel_name(p.kernel),
                      fault.sentence())};
}

CaseResult run_case(const std::string& name, ops::Trial& trial, const ladder::AnyRung& rung,
                    Flavour flavour, device::Stream& stream) {
  trial.provide_workspace(rung.workspace_for(trial.call(), *stream.machine));
  trial.reset();
  const double bytes = trial.minimal_bytes();
  try {
    if (const ladder::Launcher prepare = rung.preparation(flavour)) prepare(trial.call(), stream);
    rung.launcher(flavour)(trial.call(), stream);
    stream.synchronize();
  } catch (const executor::KernelFault& fault) {
    return {name, bytes, std::numeric_limits<double>::infinity(), fault.what(), broken_rule(fault)};
  }
  trial.expect(rung.arithmetic_for(trial.call()));
  const ops::Verdict verdict = trial.judge();
  return {name, bytes, verdict.worst_error_over_bound, verdict.failure, std::nullopt};
}

std::vector<ops::Case> cases_of(const ops::Operator& op, const VerifyRequest& request) {
  if (request.large) return op.large_cases();
  if (!request.shape) return op.cases();
  return {op.case_of_shape(*request.shape, request.variant.value_or(op.variants().front()))};
}

// The checking flavour runs first, because it survives faults that end the program in the plain
// one.
std::vector<Flavour> flavours_of(const ladder::AnyRung& rung, const VerifyRequest& request) {
  if (request.target == runtime::Target::gpu) return {Flavour::gpu};
  if (request.checking == Checking::both) return {Flavour::counted, Flavour::plain};
  const bool is_checked =
      request.checking == Checking::each_access && rung.launcher(Flavour::counted);
  return {is_checked ? Flavour::counted : Flavour::plain};
}

struct Run {
  std::size_t row;
  const ladder::AnyRung* rung;
  Flavour flavour;
};
using Work = std::pair<const ops::Operator*, std::vector<Run>>;

// By operator, so that each case is set up, and its truth computed, once for all rungs.
std::vector<Work> work_of(const VerifyRequest& request, std::vector<VerifyRow>& rows) {
  std::vector<Work> work;
  for (const Selected& s : request.rungs) {
    for (const Flavour flavour : flavours_of(*s.rung, request)) {
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
  return work;
}

// False after a failure that stops the run.
bool run_operator(const Work& of_operator, const VerifyRequest& request, device::Stream& stream,
                  std::vector<VerifyRow>& rows, const Progress& progress) {
  const auto& [op, runs] = of_operator;
  const std::vector<ops::Case> cases = cases_of(*op, request);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto trial = cases[i].prepare(request.target);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      VerifyRow& row = rows[runs[r].row];
      if (progress) {
        const double part = static_cast<double>(r) / static_cast<double>(runs.size());
        progress(fmt::format("{}/{} {}", row.op, row.rung, cases[i].name),
                 (static_cast<double>(i) + part) / static_cast<double>(cases.size()));
      }
      if (!ladder::why_not(*runs[r].rung, trial->call()).empty()) {
        ++row.not_taken;
        continue;
      }
      row.cases.push_back(run_case(cases[i].name, *trial, *runs[r].rung, runs[r].flavour, stream));
      if (request.stop_at_failure && !row.cases.back().failure.empty()) return false;
    }
  }
  return true;
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

std::vector<FailureGroup> failure_groups(const VerifyRow& row) {
  const auto cause = [](const CaseResult& c) {
    return c.broken ? c.broken->place() + c.broken->kind : std::string();
  };
  std::vector<FailureGroup> groups;
  for (const CaseResult& result : row.cases) {
    if (result.failure.empty()) continue;
    const auto group = std::ranges::find_if(
        groups, [&](const FailureGroup& g) { return cause(*g.smallest) == cause(result); });
    if (group == groups.end()) {
      groups.push_back({&result, 1});
      continue;
    }
    ++group->cases;
    if (result.bytes < group->smallest->bytes) group->smallest = &result;
  }
  return groups;
}

std::vector<VerifyRow> verify(const VerifyRequest& request, const Progress& progress) {
  device::Stream stream(request.target);
  stream.executor_threads = request.executor_threads;
  const executor::BlockLimit limit(request.block_limit_s);

  std::vector<VerifyRow> rows;
  const std::vector<Work> work = work_of(request, rows);
  for (std::size_t w = 0; w < work.size(); ++w) {
    const auto of_all = [&](const std::string& what, double done) {
      progress(what, (static_cast<double>(w) + done) / static_cast<double>(work.size()));
    };
    if (run_operator(work[w], request, stream, rows, progress ? Progress(of_all) : nullptr)) {
      continue;
    }
    for (VerifyRow& row : rows) {
      if (row.cases.empty() && row.skipped.empty()) row.skipped = "not reached";
    }
    break;
  }
  return rows;
}

}  // namespace warpladder::lab
