#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/reduce_axis/lab/run.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {
namespace {

struct AxisCase {
  Problem problem;
  bool nans_and_ties = false;
  std::size_t misalign = 0;
};

class AxisTrial final : public ops::Trial {
 public:
  AxisTrial(const AxisCase& c, runtime::Target target)
      : problem_(c.problem),
        in_host_(static_cast<std::size_t>(room(c.problem))),
        results_(static_cast<std::size_t>(c.problem.results())),
        flags_(target, flag_words(device::machine(target)), 0, "the flags") {
    const bool place = is_place(problem_.function);
    fill_uniform(in_host_, 1, -1.0f, 1.0f);
    if (c.nans_and_ties) {
      for (float& x : in_host_) x = std::round(2 * x);
      for (std::size_t i = 3; i < in_host_.size(); i += 97) in_host_[i] = kNan;
    }
    in_ = device::Buffer<float>(target, in_host_, c.misalign, "the input");
    values_ = device::Buffer<float>(target, place ? 0 : results_, c.misalign, "the results");
    places_ = device::Buffer<std::int64_t>(target, place ? results_ : 0, 0, "the results");
    call_ = {problem_, in_.data(), values_.data(), places_.data(), flags_.data()};
  }

  void reset() override {
    values_.upload(std::vector<float>(values_.size(), ops::poison()));
    places_.upload(std::vector<std::int64_t>(places_.size(), kPoisonedPlace));
    flags_.fill_bytes(0);
  }
  ladder::AnyCall call() const override { return call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) compute_truth();
    ops::Verdict verdict = is_place(problem_.function) ? judge_places() : judge_values();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(in_host_, in_.download(), "the input"));
    const std::vector<std::uint64_t> flags = flags_.download();
    if (std::ranges::any_of(flags, [](std::uint64_t word) { return word != 0; })) {
      also("a flag was left that is not zero");
    }
    if (!in_.guards_intact()) also("something was written outside the input");
    if (!values_.guards_intact() || !places_.guards_intact()) {
      also("something was written outside the results");
    }
    if (!flags_.guards_intact()) also("something was written outside the flags");
    return verdict;
  }

  double flops() const override { return 0; }
  double minimal_bytes() const override { return reduce_axis::minimal_bytes(problem_); }

 private:
  static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  static constexpr std::int64_t kPoisonedPlace = std::numeric_limits<std::int64_t>::min();

  // The input, and behind it as much as the read probe reads for the results.
  static std::int64_t room(const Problem& p) {
    return std::max(ops::footprint(p),
                    static_cast<std::int64_t>(reduce_axis::minimal_bytes(p) / 4));
  }

  void compute_truth() {
    std::vector<float> line(static_cast<std::size_t>(problem_.length()));
    const bool rows = problem_.lines == Lines::rows;
    for (std::int64_t i = 0; i < problem_.results(); ++i) {
      for (std::int64_t k = 0; k < problem_.length(); ++k) {
        line[static_cast<std::size_t>(k)] =
            in_host_[static_cast<std::size_t>(rows ? i * problem_.ld + k : k * problem_.ld + i)];
      }
      expected_.push_back(ops::reduced(problem_.function, line));
    }
  }

  std::string place_of(std::size_t i) const {
    return fmt::format("the {} of {} {}", parts::name(problem_.function),
                       problem_.lines == Lines::rows ? "row" : "column", i);
  }
  ops::Verdict judge_values() const {
    ops::ElementJudge judge([&](std::size_t i) { return place_of(i); });
    const std::vector<float> values = values_.download();
    for (std::size_t i = 0; i < results_; ++i) judge.look_at(i, values[i], expected_[i].value);
    return judge.verdict();
  }
  ops::Verdict judge_places() const {
    const std::vector<std::int64_t> places = places_.download();
    for (std::size_t i = 0; i < results_; ++i) {
      if (places[i] == expected_[i].place) continue;
      return {
          std::numeric_limits<double>::infinity(),
          fmt::format("{} is {}, but should be {}", place_of(i), places[i], expected_[i].place)};
    }
    return {};
  }

  Problem problem_;
  std::vector<float> in_host_;
  std::size_t results_;
  device::Buffer<float> in_, values_;
  device::Buffer<std::int64_t> places_;
  device::Buffer<std::uint64_t> flags_;
  Call call_;
  std::vector<ops::Reduced> expected_;
};

std::string variant_of(Function f, Lines lines) {
  return fmt::format("{}_{}", lines == Lines::rows ? "row" : "column", parts::name(f));
}

ops::Case to_case(const AxisCase& c) {
  const Problem& p = c.problem;
  return {
      fmt::format("{} of {}x{}{}{}{}", variant_of(p.function, p.lines), p.rows, p.columns,
                  p.ld > std::max<std::int64_t>(1, p.columns) ? ", ld larger than a row" : "",
                  c.nans_and_ties ? ", NaNs and ties" : "", c.misalign ? ", off alignment" : ""),
      [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
        return std::make_unique<AxisTrial>(c, target);
      }};
}

Problem compact(Function f, Lines lines, std::int64_t rows, std::int64_t columns) {
  return {f, lines, rows, columns, std::max<std::int64_t>(1, columns)};
}

constexpr Lines kBothLines[] = {Lines::rows, Lines::columns};

std::vector<AxisCase> axis_cases() {
  std::vector<AxisCase> cases;
  for (const Function f : kFunctions) {
    // The functions differ in how two values are joined: a value and a place get every size, the
    // others a third of the many lines.
    const bool gets_all = f == Function::mean || f == Function::argmax;
    const std::int64_t part = gets_all ? 1 : 3;
    for (const Lines lines : kBothLines) {
      // Tiny, one more and one less than whole vectors and warps, empty either way.
      for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                          {3, 5},
                                          {33, 31},
                                          {70, 132},
                                          {0, 7},
                                          {7, 0}}) {
        cases.push_back({compact(f, lines, rows, columns)});
      }
      // Every way of splitting: many short lines, a few long ones, and what lies between.
      cases.push_back({compact(f, lines, 2100 / part, 16)});
      cases.push_back({compact(f, lines, 5, lines == Lines::rows ? 40000 : 8000)});
      cases.push_back({compact(f, lines, 3000 / part, 9), true});
      cases.push_back({compact(f, lines, 600, 260), true});
      AxisCase gaps{compact(f, lines, 65, 68)};
      gaps.problem.ld += 4;
      cases.push_back(gaps);
      gaps.problem.ld += 1;
      gaps.misalign = 1;
      cases.push_back(gaps);
      // Lines of a few elements, and many of them: rows of any alignment, with short gaps.
      for (const std::int64_t length : {2, 7, 13, 30, 63}) {
        const std::int64_t count = 9000 / part / length;
        cases.push_back({lines == Lines::rows ? compact(f, lines, count, length)
                                              : compact(f, lines, length, count),
                         length > 7});
      }
      AxisCase shifted{compact(f, lines, 700, 11), true, 3};
      cases.push_back(shifted);
      shifted.problem.ld += 2;
      cases.push_back(shifted);
      if (!gets_all) continue;
      if (lines == Lines::rows) {
        cases.push_back({compact(f, lines, 96, 8200), true});
        for (const std::int64_t columns : {100, 129, 256, 257}) {
          cases.push_back({compact(f, lines, 77, columns), true, 1});
        }
      } else {
        cases.push_back({compact(f, lines, 34000, 12), true});
        cases.push_back({compact(f, lines, 5300, 7)});
        // Few columns, each with something in front of whole vectors; and wide ragged ones.
        for (const std::int64_t columns : {1, 2, 3, 13, 63, 64}) {
          cases.push_back({compact(f, lines, 70000 / columns, columns), true, 1});
        }
        cases.push_back({compact(f, lines, 40, 7), false, 2});
        cases.push_back({compact(f, lines, 2500, 131), true, 1});
        cases.push_back({compact(f, lines, 300, 678)});
        cases.push_back({compact(f, lines, 2100, 100)});
        for (const std::int64_t columns : {4000, 12000, 20000}) {
          cases.push_back({compact(f, lines, 160000 / columns, columns), true});
        }
        if (f == Function::argmax) cases.push_back({compact(f, lines, 1, 140000)});
      }
    }
  }
  return cases;
}

class ReduceAxis final : public ops::Operator {
 public:
  std::string name() const override { return "reduce_axis"; }
  std::string idea() const override {
    return "one value of each row, or column, of a matrix, fp32";
  }
  std::string shape_form() const override { return "ROWSxCOLUMNS"; }
  std::vector<std::int64_t> default_shape() const override { return {1024, 1024}; }
  std::vector<std::vector<std::int64_t>> bench_shapes() const override {
    return {{16, 1048576}, {128, 131072}, {1024, 16384}, {4096, 4096},
            {16384, 1024}, {131072, 128}, {1048576, 16}};
  }
  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (const Lines lines : kBothLines) {
      for (const Function f : kFunctions) names.push_back(variant_of(f, lines));
    }
    return names;
  }
  std::vector<std::string> bench_variants() const override { return {"row_sum", "column_sum"}; }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const AxisCase& c : axis_cases()) list.push_back(to_case(c));
    return list;
  }
  std::vector<ops::Case> large_cases() const override {
    return {to_case({compact(Function::sum, Lines::rows, 70000, 32771)}),
            to_case({compact(Function::argmax, Lines::columns, 70000, 32772)})};
  }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{128, 128}, {256, 128}, {1536, 2176}};
  }
  const ops::RunCapability* run() const override { return &run_capability(); }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& s,
                       const std::string& variant) const override {
    for (const Lines lines : kBothLines) {
      for (const Function f : kFunctions) {
        if (variant_of(f, lines) != variant) continue;
        const AxisCase c{compact(f, lines, s[0], s[1])};
        require_memory(3.0 * sizeof(float) * static_cast<double>(ops::footprint(c.problem)),
                       fmt::format("reduce_axis of {}x{}", s[0], s[1]));
        return to_case(c);
      }
    }
    throw std::logic_error("a variant that require_variant() lets through");
  }
};

const bool declared = ops::declare(std::make_unique<ReduceAxis>());

}  // namespace
}  // namespace warpladder::reduce_axis
