#include "ops/operator.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/judge.hpp"
#include "ops/sgemm/cases.hpp"
#include "ops/sgemm/reference.hpp"

namespace warpladder::sgemm {
namespace {

class GemmTrial final : public ops::Trial {
 public:
  GemmTrial(const GemmCase& c, device::Target target) : problem_(c.problem) {
    const Footprint f = footprint(problem_);
    fill(c, f);
    a_ = device::Buffer<float>(target, host_.a, c.misalign_a);
    b_ = device::Buffer<float>(target, host_.b, c.misalign_b);
    c_ = device::Buffer<float>(target, host_.c, c.misalign_c);
    call_ = {problem_, a_.data(), b_.data(), c_.data()};
  }

  void reset() override {
    // beta == 0: every element of C starts as poison; the gaps between lines keep their values.
    std::vector<float> c = host_.c;
    if (problem_.beta == 0.0f)
      for_each_c([&](std::size_t at, std::size_t) { c[at] = ops::poison(); });
    c_.upload(c);
  }

  const void* call() const override { return &call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) expected_ = reference(problem_, host_);
    const std::vector<float> c = c_.download();
    ops::ElementJudge judge([this](std::size_t at) {
      return fmt::format("C({},{})", at / static_cast<std::size_t>(problem_.n),
                         at % static_cast<std::size_t>(problem_.n));
    });
    std::vector<float> gaps_before = host_.c, gaps_after = c;
    for_each_c([&](std::size_t at, std::size_t element) {
      judge.look_at(element, c[at], expected_[element]);
      gaps_before[at] = gaps_after[at] = 0.0f;
    });
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(gaps_before, gaps_after, "a gap between two lines of C"));
    also(ops::first_changed(host_.a, a_.download(), "the input A"));
    also(ops::first_changed(host_.b, b_.download(), "the input B"));
    if (!a_.guards_intact()) also("something was written outside A");
    if (!b_.guards_intact()) also("something was written outside B");
    if (!c_.guards_intact()) also("something was written outside C");
    return verdict;
  }

  double flops() const override { return sgemm::flops(problem_); }
  double minimal_bytes() const override { return sgemm::minimal_bytes(problem_); }

 private:
  // visit(index in memory, index in the m·n elements taken row by row)
  template <class Visit>
  void for_each_c(const Visit& visit) const {
    const bool by_rows = problem_.layout == Layout::row_major;
    for (std::int64_t i = 0; i < problem_.m; ++i) {
      for (std::int64_t j = 0; j < problem_.n; ++j) {
        const std::int64_t at = by_rows ? i * problem_.ldc + j : i + j * problem_.ldc;
        visit(static_cast<std::size_t>(at), static_cast<std::size_t>(i * problem_.n + j));
      }
    }
  }

  void fill(const GemmCase& c, const Footprint& f) {
    const float low = c.filling == Filling::positive ? 0.0f : -1.0f;
    const auto make = [&](std::vector<float>& v, std::int64_t elements, std::uint64_t seed) {
      v.resize(static_cast<std::size_t>(elements));
      fill_uniform(v, seed, low, 1.0f);
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
    if (c.filling == Filling::specials) {
      host_.a[7] = kNan;
      host_.a[host_.a.size() / 2] = kInf;
      host_.b[host_.b.size() / 3] = -kInf;
      host_.c[11] = kInf;
    }
  }

  Problem problem_;
  HostOperands host_;
  device::Buffer<float> a_, b_, c_;
  Call call_;
  std::vector<ops::Expected> expected_;
};

ops::Case to_case(const GemmCase& c) {
  return {c.name, [c](device::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<GemmTrial>(c, target);
          }};
}

class Sgemm final : public ops::Operator {
 public:
  std::string name() const override { return "sgemm"; }
  std::string idea() const override { return "C = alpha op(A) op(B) + beta C, fp32"; }
  std::string shape_form() const override { return "MxNxK"; }
  std::vector<std::int64_t> default_shape() const override { return {256, 256, 256}; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const GemmCase& c : gemm_cases()) list.push_back(to_case(c));
    return list;
  }
  ops::Case case_of_shape(const std::vector<std::int64_t>& s) const override {
    if (s.size() != 3) throw_bad_input("sgemm: a shape is written MxNxK");
    const GemmCase c = gemm_case_of_shape(s[0], s[1], s[2]);
    const Footprint f = footprint(c.problem);
    // Operands on the host and on the device, a copy to compare with, and the truth about C.
    const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements) +
                            static_cast<double>(f.c_elements);
    require_memory(
        3 * sizeof(float) * operands + sizeof(ops::Expected) * static_cast<double>(f.c_elements),
        fmt::format("sgemm of {}", c.name));
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Sgemm>());

}  // namespace
}  // namespace warpladder::sgemm
