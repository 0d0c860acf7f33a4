#include "lab/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "executor/arena.hpp"
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

// Launches the rung. Returns the fault that ended a kernel, if one did.
std::optional<executor::KernelFault> launch(ops::Trial& trial, const ladder::AnyRung& rung,
                                            Flavour flavour, device::Stream& stream) {
  trial.provide_workspace(rung.workspace_for(trial.call(), *stream.machine));
  trial.reset();
  try {
    if (const ladder::Launcher prepare = rung.preparation(flavour)) prepare(trial.call(), stream);
    rung.launcher(flavour)(trial.call(), stream);
    stream.synchronize();
  } catch (const executor::KernelFault& fault) {
    return fault;
  }
  return std::nullopt;
}

CaseResult judge(const std::string& name, ops::Trial& trial, const ladder::AnyRung& rung,
                 const std::optional<executor::KernelFault>& fault) {
  const double bytes = trial.minimal_bytes();
  if (fault) {
    return {name, bytes, std::numeric_limits<double>::infinity(), fault->what(),
            broken_rule(*fault)};
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

// How many cases run at once. Unchecked kernels may crash or never end, which is blamed on the case
// that began last: their cases run alone. So do large ones, for their memory.
unsigned cases_at_once(const VerifyRequest& request) {
  const bool is_checked =
      request.target == runtime::Target::cpu && request.checking == Checking::each_access;
  if (!is_checked || request.large) return 1;
  return executor::worker_count({.threads = request.executor_threads});
}

// What the runs of one case gave.
struct CaseOutcome {
  std::vector<std::optional<CaseResult>> of_run;  // none where the rung does not take the case
  bool is_last = false;                           // a failure stops the run, or an exception
  std::exception_ptr exception;
};

// The runs of one operator on its cases. Several threads may run cases at the same time.
class CaseRunner {
 public:
  CaseRunner(const Work& work, const VerifyRequest& request, const Progress& progress)
      : op_(*work.first),
        runs_(work.second),
        request_(request),
        progress_(progress),
        cases_(cases_of(op_, request)),
        outcomes_(cases_.size()),
        end_(cases_.size()) {}

  void run() {
    const auto threads =
        static_cast<unsigned>(std::min<std::size_t>(cases_at_once(request_), cases_.size()));
    std::atomic<unsigned> part{0};
    run_on_threads(threads, [&] {
      const executor::BusyThread busy;
      const executor::ArenaPart own_part(part++, std::max(threads, 1u));
      device::Stream stream(request_.target);
      stream.executor_threads = request_.executor_threads;
      for (std::size_t i = next_++; i < end_; i = next_++) run_case(i, stream);
    });
  }

  // As if the cases had run in their order. False after a failure that stops the run.
  bool add_to(std::vector<VerifyRow>& rows) {
    for (CaseOutcome& outcome : outcomes_) {
      for (std::size_t r = 0; r < outcome.of_run.size(); ++r) {
        VerifyRow& row = rows[runs_[r].row];
        if (outcome.of_run[r]) {
          row.cases.push_back(std::move(*outcome.of_run[r]));
        } else {
          ++row.not_taken;
        }
      }
      if (outcome.exception) std::rethrow_exception(outcome.exception);
      if (outcome.is_last) return false;
    }
    return true;
  }

 private:
  void run_case(std::size_t i, device::Stream& stream) {
    CaseOutcome& outcome = outcomes_[i];
    try {
      const auto trial = cases_[i].prepare(request_.target);
      for (std::size_t r = 0; r < runs_.size() && i < end_ && !outcome.is_last; ++r) {
        outcome.of_run.push_back(run_once(i, r, *trial, stream));
        const std::optional<CaseResult>& result = outcome.of_run.back();
        outcome.is_last = request_.stop_at_failure && result && !result->failure.empty();
      }
    } catch (...) {
      outcome.exception = std::current_exception();
      outcome.is_last = true;
    }
    if (!outcome.is_last) return;
    for (std::size_t end = end_; i + 1 < end && !end_.compare_exchange_weak(end, i + 1);) {
    }
  }

  std::optional<CaseResult> run_once(std::size_t i, std::size_t r, ops::Trial& trial,
                                     device::Stream& stream) {
    const auto& [row, rung, flavour] = runs_[r];
    const std::string& name = cases_[i].name;
    std::unique_lock lock(progress_mutex_);
    if (progress_) {
      const auto all = static_cast<double>(cases_.size() * runs_.size());
      progress_(fmt::format("{}/{} {}", op_.name(), rung->id, name),
                static_cast<double>(begun_++) / all);
    }
    // A host function may crash: until it has ended, no other run is told of.
    if (flavour != Flavour::plain) lock.unlock();
    if (!ladder::why_not(*rung, trial.call()).empty()) return std::nullopt;
    const auto fault = launch(trial, *rung, flavour, stream);
    if (lock) lock.unlock();
    return judge(name, trial, *rung, fault);
  }

  const ops::Operator& op_;
  const std::vector<Run>& runs_;
  const VerifyRequest& request_;
  const Progress& progress_;
  const std::vector<ops::Case> cases_;
  std::vector<CaseOutcome> outcomes_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> end_;  // behind the last case that counts
  std::mutex progress_mutex_;
  std::size_t begun_ = 0;  // runs
};

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
  const executor::BlockLimit limit(request.block_limit_s);

  std::vector<VerifyRow> rows;
  const std::vector<Work> work = work_of(request, rows);
  for (std::size_t w = 0; w < work.size(); ++w) {
    const auto of_all = [&](const std::string& what, double done) {
      progress(what, (static_cast<double>(w) + done) / static_cast<double>(work.size()));
    };
    const Progress of_operator = progress ? Progress(of_all) : nullptr;
    CaseRunner runner(work[w], request, of_operator);
    runner.run();
    if (runner.add_to(rows)) continue;
    for (VerifyRow& row : rows) {
      if (row.cases.empty() && row.skipped.empty()) row.skipped = "not reached";
    }
    break;
  }
  return rows;
}

}  // namespace warpladder::lab
