#include "ops/sgemm/lab/accuracy_trial.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {
namespace {

class Trial final : public ops::AccuracyTrial {
 public:
  Trial(const ops::AccuracyProblem& drawn, const Problem& problem, runtime::Target target)
      : problem_(problem),
        rows_(judged_rows(problem)),
        poison_(static_cast<std::size_t>(problem.m * problem.n), ops::poison()) {
    const HostOperands host =
        draw_operands(drawn.distribution, problem.m, problem.n, problem.k, drawn.seed);
    a_ = device::Buffer<float>(target, host.a);
    b_ = device::Buffer<float>(target, host.b);
    c_ = device::Buffer<float>(target, poison_);
    workspace_ = device::Memory(target, workspace_bytes(problem));
    call_ = {problem_,          a_.data(),
             b_.data(),         c_.data(),
             workspace_.data(), is_moderate(drawn.distribution) ? Values::moderate : Values::any};
    truth_ = product_truth(problem_, host, rows_);
  }

  void reset() override {
    c_.upload(poison_);
    workspace_.fill(0xff);  // NaN, whatever it is taken for
  }

  ladder::AnyCall call() const override { return call_; }

  ops::Errors measure() override {
    const std::vector<float> c = c_.download();
    const auto n = static_cast<std::size_t>(problem_.n);
    ops::ErrorMeter meter;
    for (std::size_t at = 0; at < truth_.value.size(); ++at) {
      const std::size_t place = static_cast<std::size_t>(rows_[at / n]) * n + at % n;
      meter.look_at(c[place], truth_.value[at], truth_.magnitude[at]);
    }
    return meter.errors();
  }

  std::string judged_in_part() const override {
    if (static_cast<std::int64_t>(rows_.size()) == problem_.m) return "";
    return fmt::format("{} of {} rows of C", rows_.size(), problem_.m);
  }

 private:
  Problem problem_;
  std::vector<std::int64_t> rows_;
  std::vector<float> poison_;
  device::Buffer<float> a_, b_, c_;
  device::Memory workspace_;
  Call call_;
  ProductTruth truth_;
};

}  // namespace

std::unique_ptr<ops::AccuracyTrial> make_accuracy_trial(const ops::AccuracyProblem& drawn,
                                                        runtime::Target target) {
  if (drawn.shape.size() != 3) throw_bad_input("sgemm: a shape is written MxNxK");
  const Problem problem = compact(drawn.shape[0], drawn.shape[1], drawn.shape[2]);
  const Problem::Footprint f = ops::footprint(problem);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements);
  // On the host and, at the worst, on the device beside it; of C also the truth.
  constexpr double kTruth = sizeof(DoubleDouble) + sizeof(double);
  require_memory(2 * sizeof(float) * operands +
                     (3 * sizeof(float) + kTruth) * static_cast<double>(f.c_elements) +
                     static_cast<double>(workspace_bytes(problem)),
                 fmt::format("accuracy of sgemm of {}x{}x{}", problem.m, problem.n, problem.k));
  return std::make_unique<Trial>(drawn, problem, target);
}

}  // namespace warpladder::sgemm
