#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/judge.hpp"
#include "ops/vector_add/lab/run.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::vector_add {
namespace {

struct AddCase {
  std::int64_t n;
  std::size_t misalign = 0;
};

class AddTrial final : public ops::Trial {
 public:
  AddTrial(const AddCase& c, runtime::Target target)
      : a_host_(static_cast<std::size_t>(c.n)), b_host_(a_host_.size()) {
    fill_uniform(a_host_, 1, -1.0f, 1.0f);
    fill_uniform(b_host_, 2, -1.0f, 1.0f);
    a_ = device::Buffer<float>(target, a_host_, c.misalign, "a");
    b_ = device::Buffer<float>(target, b_host_, 2 * c.misalign, "b");
    c_ = device::Buffer<float>(target, a_host_.size(), 3 * c.misalign, "c");
    call_ = {c.n, a_.data(), b_.data(), c_.data()};
  }

  void reset() override { c_.upload(std::vector<float>(c_.size(), ops::poison())); }
  ladder::AnyCall call() const override { return call_; }

  // The truth is the exact sum in float64, rounded once: half a unit in the last place. Two floats
  // differ by far less than float64's range.
  ops::Verdict judge() override {
    ops::ElementJudge judge([](std::size_t i) { return fmt::format("c[{}]", i); });
    const std::vector<float> c = c_.download();
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double sum = static_cast<double>(a_host_[i]) + static_cast<double>(b_host_[i]);
      judge.look_at(i, c[i], {sum, 0x1p-24 * (sum < 0 ? -sum : sum)});
    }
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(a_host_, a_.download(), "the input a"));
    also(ops::first_changed(b_host_, b_.download(), "the input b"));
    if (!a_.guards_intact()) also("something was written outside a");
    if (!b_.guards_intact()) also("something was written outside b");
    if (!c_.guards_intact()) also("something was written outside c");
    return verdict;
  }

  double flops() const override { return static_cast<double>(call_.n); }
  double minimal_bytes() const override { return 12.0 * static_cast<double>(call_.n); }

 private:
  std::vector<float> a_host_, b_host_;
  device::Buffer<float> a_, b_, c_;
  Call call_;
};

ops::Case to_case(const AddCase& c) {
  const std::string remark = c.misalign ? ", operands off alignment" : "";
  return {fmt::format("{}{}", c.n, remark),
          [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<AddTrial>(c, target);
          }};
}

class VectorAdd final : public ops::Operator {
 public:
  std::string name() const override { return "vector_add"; }
  std::string idea() const override { return "c = a + b, fp32"; }
  std::string shape_form() const override { return "N"; }
  std::vector<std::int64_t> default_shape() const override { return {1 << 20}; }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const AddCase& c : {AddCase{0},
                             {1},
                             {2},
                             {31},
                             {32},
                             {33},
                             {255},
                             {256},
                             {257},
                             {1000},
                             {4096},
                             {65537},
                             {1000, 1},
                             {1023, 3}}) {
      list.push_back(to_case(c));
    }
    return list;
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{256}, {8192}};
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s, const std::string&) const override {
    if (s[0] < 0)
      throw_bad_input(fmt::format("vector_add: n must not be negative, it is {}", s[0]));
    require_memory(6.0 * sizeof(float) * static_cast<double>(s[0]),
                   fmt::format("vector_add of {} elements", s[0]));
    return to_case({s[0]});
  }
};

const bool declared = ops::declare(std::make_unique<VectorAdd>());

}  // namespace
}  // namespace warpladder::vector_add
