#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/reduce/lab/run.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {
namespace {

enum class Filling {
  uniform,    // in [-1, 1)
  positive,   // in [0, 1)
  scattered,  // of magnitudes from 2^-20 to 2^20: the small ones are lost without care
  few,        // -1, 0 or 1: ties everywhere
  zeros,      // -0, and a +0 in the middle
  nans,       // uniform but for two NaNs
  infinite,   // uniform but for a +inf
  greatest,   // all +inf: nothing is greater than the least that a maximum may begin with...
  least,      // ... and all -inf
};

struct ReduceCase {
  Problem problem;
  Filling filling = Filling::uniform;
  std::size_t misalign = 0;
};

void scatter(std::vector<float>& v, std::uint64_t seed) {
  for (std::size_t i = 0; i < v.size(); ++i) {
    const float exponent = std::floor(uniform_element(seed, i, -20.0f, 21.0f));
    v[i] = std::ldexp(v[i], static_cast<int>(exponent));
  }
}

std::vector<float> values_of(const ReduceCase& c) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> v(static_cast<std::size_t>(c.problem.n));
  fill_uniform(v, 1, c.filling == Filling::positive ? 0.0f : -1.0f, 1.0f);
  const std::size_t half = v.size() / 2;
  switch (c.filling) {
    case Filling::uniform:
    case Filling::positive:
      break;
    case Filling::scattered:
      scatter(v, 2);
      break;
    case Filling::few:
      for (float& x : v) x = std::round(x);
      break;
    case Filling::zeros:
      std::ranges::fill(v, -0.0f);
      if (!v.empty()) v[half] = 0.0f;
      break;
    case Filling::nans:
      if (!v.empty()) v[half] = v.back() = std::numeric_limits<float>::quiet_NaN();
      break;
    case Filling::infinite:
      if (!v.empty()) v[half] = kInfinity;
      break;
    case Filling::greatest:
      std::ranges::fill(v, kInfinity);
      break;
    case Filling::least:
      std::ranges::fill(v, -kInfinity);
  }
  return v;
}

class ReduceTrial final : public ops::Trial {
 public:
  ReduceTrial(const ReduceCase& c, runtime::Target target)
      : problem_(c.problem),
        in_host_(values_of(c)),
        in_(target, in_host_.size(), c.misalign, "the input"),
        value_(target, 1, 0, "the result"),
        place_(target, 1, 0, "the result"),
        scratch_(target, scratch_words(c.problem.n), 0, "the scratch memory"),
        flags_(target, kFlagWords, 0, "the flags") {
    device::Stream stream(target);
    if (c.filling == Filling::uniform) {  // what values_of() has, without the way there
      device::fill_uniform(stream, in_.data(), in_.size(), 1, -1.0f, 1.0f);
    } else {
      in_.upload(in_host_);
    }
    const bool place = is_place(problem_.function);
    call_ = {problem_,
             in_.data(),
             place ? nullptr : value_.data(),
             place ? place_.data() : nullptr,
             scratch_.data(),
             flags_.data()};
  }

  void reset() override {
    value_.upload({ops::poison()});
    place_.upload({kPoisonedPlace});
    scratch_.fill_bytes(0xa5);
    flags_.fill_bytes(0);
  }
  ladder::AnyCall call() const override { return call_; }

  ops::Verdict judge() override {
    if (!expected_)
      expected_ = std::make_unique<ops::Reduced>(ops::reduced(problem_.function, in_host_));
    ops::Verdict verdict = is_place(problem_.function) ? judge_place() : judge_value();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(in_host_, in_.download(), "the input"));
    const std::vector<std::uint64_t> flags = flags_.download();
    if (std::ranges::any_of(flags, [](std::uint64_t word) { return word != 0; })) {
      also("a flag was left that is not zero");
    }
    if (!in_.guards_intact()) also("something was written outside the input");
    if (!value_.guards_intact() || !place_.guards_intact()) {
      also("something was written outside the result");
    }
    if (!scratch_.guards_intact()) also("something was written outside the scratch memory");
    if (!flags_.guards_intact()) also("something was written outside the flags");
    return verdict;
  }

  double flops() const override { return 0; }
  double minimal_bytes() const override { return reduce::minimal_bytes(problem_); }

 private:
  static constexpr std::int64_t kPoisonedPlace = std::numeric_limits<std::int64_t>::min();

  ops::Verdict judge_value() const {
    ops::ElementJudge judge(
        [&](std::size_t) { return std::string("the ") + parts::name(problem_.function); });
    judge.look_at(0, value_.download()[0], expected_->value);
    return judge.verdict();
  }
  ops::Verdict judge_place() const {
    const std::int64_t place = place_.download()[0];
    if (place == expected_->place) return {};
    return {std::numeric_limits<double>::infinity(),
            fmt::format("the {} is {}, but should be {}", parts::name(problem_.function), place,
                        expected_->place)};
  }

  Problem problem_;
  std::vector<float> in_host_;
  device::Buffer<float> in_, value_;
  device::Buffer<std::int64_t> place_;
  device::Buffer<std::uint64_t> scratch_, flags_;
  Call call_;
  std::unique_ptr<ops::Reduced> expected_;
};

const char* remark(Filling filling) {
  switch (filling) {
    case Filling::uniform:
      return "";
    case Filling::positive:
      return ", all positive";
    case Filling::scattered:
      return ", magnitudes far apart";
    case Filling::few:
      return ", ties";
    case Filling::zeros:
      return ", zeros of both signs";
    case Filling::nans:
      return ", two NaNs";
    case Filling::infinite:
      return ", an infinity";
    case Filling::greatest:
      return ", all +inf";
    case Filling::least:
      return ", all -inf";
  }
  return "";
}

ops::Case to_case(const ReduceCase& c) {
  return {fmt::format("{} of {}{}{}", parts::name(c.problem.function), c.problem.n,
                      remark(c.filling), c.misalign ? ", off alignment" : ""),
          [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<ReduceTrial>(c, target);
          }};
}

std::vector<ReduceCase> reduce_cases() {
  std::vector<ReduceCase> cases;
  for (const Function f : kFunctions) {
    // Around the sizes of warps, blocks, passes and configurations.
    for (const std::int64_t n :
         {0, 1, 2, 3, 5, 31, 33, 128, 257, 513, 1025, 4099, 8193, 16385, 100003}) {
      cases.push_back({{f, n}});
    }
    for (const std::size_t misalign : {1, 2, 3}) {
      cases.push_back({{f, 2}, Filling::uniform, misalign});
      cases.push_back({{f, 1000}, Filling::uniform, misalign});
      cases.push_back({{f, 40000}, Filling::uniform, misalign});
    }
    for (const Filling filling : {Filling::few, Filling::zeros, Filling::nans, Filling::infinite,
                                  Filling::greatest, Filling::least}) {
      cases.push_back({{f, 777}, filling});
      cases.push_back({{f, 20000}, filling, 1});
    }
  }
  // Blocks that take several turns; and sums that a chain of additions would get wrong.
  cases.push_back({{Function::sum, (1 << 20) + 1}, Filling::positive});
  cases.push_back({{Function::argmax, (1 << 20) + 7}});
  cases.push_back({{Function::argmin, (1 << 21) + 9}});
  for (const Function f : {Function::sum, Function::mean}) {
    cases.push_back({{f, 5000}, Filling::scattered});
    cases.push_back({{f, 300000}, Filling::scattered, 1});
  }
  return cases;
}

class Reduce final : public ops::Operator {
 public:
  std::string name() const override { return "reduce"; }
  std::string idea() const override { return "one value of n, fp32: sum, mean, min, max, where"; }
  std::string shape_form() const override { return "N"; }
  std::vector<std::int64_t> default_shape() const override { return {1 << 20}; }
  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (const Function f : kFunctions) names.emplace_back(parts::name(f));
    return names;
  }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const ReduceCase& c : reduce_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<ops::Case> large_cases() const override {
    constexpr std::int64_t kLarge = (std::int64_t{1} << 31) + 5;
    return {to_case({{Function::sum, kLarge}}),
            to_case({{Function::argmax, kLarge}, Filling::nans})};
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{256}, {8192}};
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s,
                       const std::string& variant) const override {
    const std::vector<std::string> names = variants();
    const auto at = std::ranges::find(names, variant) - names.begin();
    const ReduceCase c{{kFunctions[at], s[0]}};
    ops::validate(c.problem);
    require_memory(3.0 * sizeof(float) * static_cast<double>(s[0]),
                   fmt::format("reduce of {} values", s[0]));
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Reduce>());

}  // namespace
}  // namespace warpladder::reduce
