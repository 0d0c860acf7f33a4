#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/lab/accuracy_trial.hpp"
#include "ops/sgemm/lab/cases.hpp"
#include "ops/sgemm/lab/reference.hpp"
#include "ops/sgemm/lab/run.hpp"

namespace warpladder::sgemm {
namespace {

bool is_moderate(Filling f) { return f == Filling::uniform || f == Filling::positive; }

// Of a number in [-1, 1], one of the same sign between 2^-20 and 2^20.
float widened(float x) { return std::copysign(std::exp2(40.0f * std::abs(x) - 20.0f), x); }

class GemmTrial final : public ops::Trial {
 public:
  GemmTrial(const GemmCase& c, runtime::Target target)
      : problem_(c.problem), rows_(judged_rows(c.problem)) {
    const Problem::Footprint f = ops::footprint(problem_);
    fill(c, f);
    a_ = device::Buffer<float>(target, host_.a, c.misalign_a);
    b_ = device::Buffer<float>(target, host_.b, c.misalign_b);
    c_ = device::Buffer<float>(target, host_.c, c.misalign_c);
    workspace_ = device::Memory(target, workspace_bytes(problem_));
    call_ = {problem_,  a_.data(),         b_.data(),
             c_.data(), workspace_.data(), is_moderate(c.filling) ? Values::moderate : Values::any};
  }

  void reset() override {
    c_.upload(host_.c);
    workspace_.fill(0xff);  // NaN, whatever it is taken for
  }

  void expect(const ladder::Arithmetic& arithmetic) override { arithmetic_ = arithmetic; }

  ladder::AnyCall call() const override { return call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) expected_ = reference(problem_, host_, rows_);
    const std::vector<float> c = c_.download();
    const auto n = static_cast<std::size_t>(problem_.n);
    ops::ElementJudge judge(
        [&](std::size_t at) { return fmt::format("C({},{})", rows_[at / n], at % n); });
    for (std::size_t at = 0; at < expected_.size(); ++at) {
      ops::Expected expected = expected_[at];
      expected.bound *= 1.0 + arithmetic_.extra_roundings / roundings(problem_);
      judge.look_at(at, c[place(rows_[at / n], static_cast<std::int64_t>(at % n))], expected);
    }
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    if (!judged_in_part().empty()) also(first_unwritten(c));
    also(first_changed_gap(c));
    also(ops::first_changed(host_.a, a_.download(), "the input A"));
    also(ops::first_changed(host_.b, b_.download(), "the input B"));
    if (!a_.guards_intact()) also("something was written outside A");
    if (!b_.guards_intact()) also("something was written outside B");
    if (!c_.guards_intact()) also("something was written outside C");
    if (!workspace_.guards_intact()) also("something was written outside the workspace");
    return verdict;
  }

  std::string judged_in_part() const override {
    if (static_cast<std::int64_t>(rows_.size()) == problem_.m) return "";
    return fmt::format("{} of {} rows beside the reference, the others for being numbers",
                       rows_.size(), problem_.m);
  }

  double flops() const override { return sgemm::flops(problem_); }
  double minimal_bytes() const override { return sgemm::minimal_bytes(problem_); }

 private:
  // Where C(i,j) lies in memory.
  std::size_t place(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(problem_.layout == Layout::row_major ? i * problem_.ldc + j
                                                                         : i + j * problem_.ldc);
  }

  // The lines of C in memory, each with `length` elements of it and then a gap, but for the last.
  std::int64_t line_length() const {
    return problem_.layout == Layout::row_major ? problem_.n : problem_.m;
  }

  std::string first_changed_gap(const std::vector<float>& c) const {
    const auto length = static_cast<std::size_t>(line_length()),
               ld = static_cast<std::size_t>(problem_.ldc);
    for (std::size_t line = 0; line + ld < c.size(); line += ld) {
      const auto gap = [&](const std::vector<float>& v) {
        return std::span(v).subspan(line + length, ld - length);
      };
      const std::string failure =
          ops::first_changed(gap(host_.c), gap(c), "a gap between two lines of C");
      if (!failure.empty()) return failure;
    }
    return "";
  }

  // Operands are finite here, so that an element that is no number was never written, or is wrong.
  std::string first_unwritten(const std::vector<float>& c) const {
    for (std::int64_t i = 0; i < problem_.m; ++i) {
      for (std::int64_t j = 0; j < problem_.n; ++j) {
        if (!std::isfinite(c[place(i, j)])) {
          return fmt::format("C({},{}) is {}, which is no number", i, j, c[place(i, j)]);
        }
      }
    }
    return "";
  }

  void fill(const GemmCase& c, const Problem::Footprint& f) {
    const float low = c.filling == Filling::positive ? 0.0f : -1.0f;
    const auto make = [&](std::vector<float>& v, std::int64_t elements, std::uint64_t seed) {
      v.resize(static_cast<std::size_t>(elements));
      fill_uniform(v, seed, low, 1.0f);
      if (c.filling == Filling::wide) std::ranges::transform(v, v.begin(), widened);
    };
    make(host_.a, f.a_elements, 1);
    make(host_.b, f.b_elements, 2);
    make(host_.c, f.c_elements, 3);
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (c.nan_in_unread) {
      if (problem_.beta == 0.0f) host_.c.assign(host_.c.size(), kNan);
      if (problem_.alpha == 0.0f) {
        host_.a.assign(host_.a.size(), kNan);
        host_.b.assign(host_.b.size(), kNan);
      }
    }
    if (problem_.beta == 0.0f) {
      // Every element of C starts as poison; the gaps between lines keep their values.
      for (std::int64_t i = 0; i < problem_.m; ++i) {
        for (std::int64_t j = 0; j < problem_.n; ++j) host_.c[place(i, j)] = ops::poison();
      }
    }
    if (c.filling == Filling::specials) {
      host_.a[7] = kNan;
      host_.a[host_.a.size() / 2] = kInf;
      host_.b[host_.b.size() / 3] = -kInf;
      host_.c[11] = kInf;
    }
  }

  Problem problem_;
  HostOperands host_;
  std::vector<std::int64_t> rows_;  // of C, which are judged
  device::Buffer<float> a_, b_, c_;
  device::Memory workspace_;
  Call call_;
  ladder::Arithmetic arithmetic_;
  std::vector<ops::Expected> expected_;
};

ops::Case to_case(const GemmCase& c) {
  return {c.name, [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<GemmTrial>(c, target);
          }};
}

std::vector<std::vector<std::int64_t>> accuracy_sizes(runtime::Target target) {
  if (target == runtime::Target::cpu) return {{64}, {64}, {16, 64, 256, 1024, 4096, 16384}};
  return {{256}, {256}, {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}};
}

class Sgemm final : public ops::Operator {
 public:
  std::string name() const override { return "sgemm"; }
  std::string idea() const override { return "C = alpha op(A) op(B) + beta C, fp32"; }
  std::string shape_form() const override { return "MxNxK"; }
  std::vector<std::int64_t> default_shape() const override { return {256, 256, 256}; }
  ops::Measure measure() const override { return ops::Measure::flops; }
  std::vector<std::int64_t> baseline_shape() const override { return {512, 512, 512}; }
  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (const Variant& v : kVariants) names.emplace_back(v.name);
    return names;
  }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const GemmCase& c : gemm_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{128, 128, 128}, {256, 128, 64}};
  }
  // The row_ and col_ rungs predict for row-major operands without transposes.
  std::vector<std::string> predicted_variants() const override { return bench_variants(); }
  const ops::AccuracyCapability* accuracy() const override {
    static constexpr ops::AccuracyCapability kAccuracy{.distributions = accuracy_distributions,
                                                       .sizes = accuracy_sizes,
                                                       .trial = make_accuracy_trial};
    return &kAccuracy;
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s,
                       const std::string& variant) const override {
    const GemmCase c = gemm_case_of_shape(s[0], s[1], s[2], variant);
    const Problem::Footprint f = ops::footprint(c.problem);
    // Operands on the host and on the device, a copy to compare with, and the truth about C.
    const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements) +
                            static_cast<double>(f.c_elements);
    require_memory(3 * sizeof(float) * operands +
                       sizeof(ops::Expected) * static_cast<double>(f.c_elements) +
                       static_cast<double>(workspace_bytes(c.problem)),
                   fmt::format("sgemm of {}", c.name));
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Sgemm>());

}  // namespace
}  // namespace warpladder::sgemm
