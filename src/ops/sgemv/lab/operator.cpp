#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemv/lab/cases.hpp"
#include "ops/sgemv/lab/reference.hpp"
#include "ops/sgemv/lab/run.hpp"

namespace warpladder::sgemv {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class GemvTrial final : public ops::Trial {
 public:
  GemvTrial(const GemvCase& c, runtime::Target target)
      : problem_(c.problem), exact_(c.filling == Filling::integers) {
    const Problem::Footprint f = ops::footprint(problem_);
    fill(c, f);
    a_ = device::Buffer<float>(target, host_.a.size(), c.misalign_a, "A");
    if (f.a_elements > kLarge && c.filling == Filling::uniform &&
        problem_.lda == length(problem_)) {
      device::Stream stream(target);  // as fill() did on the host
      device::fill_uniform(stream, a_.data(), a_.size(), 1, -1.0f, 1.0f);
    } else {
      a_.upload(host_.a);
    }
    x_ = device::Buffer<float>(target, host_.x, c.misalign_x, "x");
    y_ = device::Buffer<float>(target, host_.y, c.misalign_y, "y");
    flags_ = device::Buffer<std::uint64_t>(target, static_cast<std::size_t>(flag_words(problem_)),
                                           0, "the flags");
    scratch_ = device::Buffer<float>(target, static_cast<std::size_t>(scratch_elements(problem_)),
                                     0, "the scratch memory");
    call_ = {problem_, a_.data(), x_.data(), y_.data(), flags_.data(), scratch_.data()};
  }

  void reset() override {
    y_.upload(host_.y);
    flags_.fill_bytes(0);
    scratch_.fill_bytes(0xff);  // NaN: nothing may be expected of it
  }

  ladder::AnyCall call() const override { return call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) {
      expected_ = reference(problem_, host_);
      // Small integers: fp32 holds every sum of them, whatever the order.
      for (ops::Expected& e : expected_) e.bound = exact_ ? 0.0 : e.bound;
    }
    std::vector<float> y = y_.download();
    ops::ElementJudge judge([](std::size_t at) { return fmt::format("y({})", at); });
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const std::size_t at = place(static_cast<std::int64_t>(i), outputs(problem_), problem_.incy);
      judge.look_at(i, y[at], expected_[i]);
      y[at] = host_.y[at];  // what is left to look at are the gaps
    }
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(host_.y, y, expected_.empty() ? "y" : "a gap between elements of y"));
    if (!a_is_huge()) also(ops::first_changed(host_.a, a_.download(), "the input A"));
    also(ops::first_changed(host_.x, x_.download(), "the input x"));
    if (std::ranges::any_of(flags_.download(), std::identity())) also("the flags are left set");
    if (!a_.guards_intact()) also("something was written outside A");
    if (!x_.guards_intact()) also("something was written outside x");
    if (!y_.guards_intact()) also("something was written outside y");
    if (!flags_.guards_intact()) also("something was written outside the flags");
    if (!scratch_.guards_intact()) also("something was written outside the scratch");
    return verdict;
  }

  std::string judged_in_part() const override {
    return a_is_huge() ? "all of y, but not that A is as it was" : "";
  }

  double flops() const override { return sgemv::flops(problem_); }
  double minimal_bytes() const override { return sgemv::minimal_bytes(problem_); }

 private:
  static constexpr std::int64_t kLarge = std::int64_t{1} << 26, kHuge = std::int64_t{1} << 30;

  // So that bringing it back for each rung would take the host seconds, and twice the memory.
  bool a_is_huge() const { return static_cast<std::int64_t>(host_.a.size()) > kHuge; }

  void fill(const GemvCase& c, const Problem::Footprint& f) {
    const auto make = [&](std::vector<float>& v, std::int64_t elements, std::uint64_t seed) {
      v.resize(static_cast<std::size_t>(elements));
      if (!exact_) return fill_uniform(v, seed, -1.0f, 1.0f);
      for (std::size_t i = 0; i < v.size(); ++i) {
        v[i] = static_cast<float>(random_block(seed, i).word[0] % 5) - 2.0f;
      }
    };
    make(host_.a, f.a_elements, 1);
    make(host_.x, f.x_elements, 2);
    make(host_.y, f.y_elements, 3);
    if (c.filling == Filling::specials) {
      host_.a[7] = kNan;
      host_.a[host_.a.size() / 2] = kInf;
      host_.x[host_.x.size() / 3] = -kInf;
      host_.y[11] = kInf;
    }
    if (c.nan_in_unread && problem_.alpha == 0.0f) {
      host_.a.assign(host_.a.size(), kNan);
      host_.x.assign(host_.x.size(), kNan);
    }
    fill_gaps();
    if (problem_.beta != 0.0f) return;
    for (std::int64_t i = 0; i < outputs(problem_) && !host_.y.empty(); ++i) {
      host_.y[place(i, outputs(problem_), problem_.incy)] = ops::poison();
    }
  }

  // What lies between lines of A and between elements of x is never read: it would show.
  void fill_gaps() {
    const std::int64_t line = length(problem_), step = std::abs(problem_.incx);
    for (std::size_t at = static_cast<std::size_t>(line);
         at < host_.a.size() && line < problem_.lda; ++at) {
      if (static_cast<std::int64_t>(at) % problem_.lda >= line) host_.a[at] = kNan;
    }
    for (std::size_t at = 0; at < host_.x.size() && step > 1; ++at) {
      if (static_cast<std::int64_t>(at) % step) host_.x[at] = kNan;
    }
  }

  Problem problem_;
  bool exact_;
  HostOperands host_;
  device::Buffer<float> a_, x_, y_, scratch_;
  device::Buffer<std::uint64_t> flags_;
  Call call_;
  std::vector<ops::Expected> expected_;
};

ops::Case to_case(const GemvCase& c) {
  return {c.name, [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<GemvTrial>(c, target);
          }};
}

class Sgemv final : public ops::Operator {
 public:
  std::string name() const override { return "sgemv"; }
  std::string idea() const override { return "y = alpha op(A) x + beta y, fp32"; }
  std::string shape_form() const override { return "MxN"; }
  std::vector<std::int64_t> default_shape() const override { return {1024, 1024}; }
  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (const Variant& v : kVariants) names.emplace_back(v.name);
    return names;
  }
  std::vector<std::vector<std::int64_t>> bench_shapes() const override {
    return {{4096, 4096}, {16384, 16384}, {1048576, 64}, {64, 1048576},
            {8192, 1024}, {1024, 8192},   {100000, 100}, {100, 100000}};
  }
  std::vector<std::string> bench_variants() const override { return variants(); }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const GemvCase& c : gemv_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<ops::Case> large_cases() const override {
    std::vector<ops::Case> list;
    for (const GemvCase& c : large_gemv_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{128, 128}, {256, 128}, {1536, 2176}};
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s,
                       const std::string& variant) const override {
    const Variant& v = *std::ranges::find(kVariants, variant, &Variant::name);
    const GemvCase c = plain_gemv_case(compact(s[0], s[1], v.layout, v.trans));
    const Problem::Footprint f = ops::footprint(c.problem);
    // Operands on the host and on the device, a copy to compare with, and the truth about y.
    const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.x_elements) +
                            static_cast<double>(f.y_elements);
    require_memory(3 * sizeof(float) * operands +
                       2 * sizeof(ops::Expected) * static_cast<double>(f.y_elements),
                   fmt::format("sgemv of {}", c.name));
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Sgemv>());

}  // namespace
}  // namespace warpladder::sgemv
