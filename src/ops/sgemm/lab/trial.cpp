#include "ops/sgemm/lab/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/random_fill.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/device_operands.hpp"
#include "ops/sgemm/lab/reference.hpp"

namespace warpladder::sgemm {
namespace {

// Of a number in [-1, 1], one of the same sign between 2^-20 and 2^20.
float widened(float x) { return std::copysign(std::exp2(40.0f * std::abs(x) - 20.0f), x); }

class GemmTrial final : public ops::Trial {
 public:
  GemmTrial(const GemmCase& c, runtime::Target target)
      : case_(c), rows_(judged_rows(c)), operands_(c, target) {
    fill();
    operands_.a.upload(host_.a);
    operands_.b.upload(host_.b);
  }

  void provide_workspace(std::size_t bytes) override { operands_.provide_workspace(bytes); }
  void reset() override {
    operands_.c.upload(host_.c);
    operands_.spoil_workspace();
  }

  void expect(const ladder::Arithmetic& arithmetic) override { arithmetic_ = arithmetic; }

  ladder::AnyCall call() const override { return operands_.call(); }

  ops::Verdict judge() override {
    compute_expected();
    const std::vector<float> c = operands_.c.download();
    const auto n = static_cast<std::size_t>(problem_.n);
    const std::size_t of_product = rows_.size() * n;
    ops::ElementJudge judge([&](std::size_t at) {
      return element_name(rows_[at % of_product / n], static_cast<std::int64_t>(at % n),
                          static_cast<std::int64_t>(at / of_product));
    });
    for (std::size_t at = 0; at < expected_.size(); ++at) {
      ops::Expected expected = expected_[at];
      expected.bound *= 1.0 + arithmetic_.extra_roundings / roundings(problem_);
      const std::size_t first = offsets_of(case_, static_cast<std::int64_t>(at / of_product)).c;
      judge.look_at(at,
                    c[first + place(rows_[at % of_product / n], static_cast<std::int64_t>(at % n))],
                    expected);
    }
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    if (!judged_in_part().empty()) also(first_unwritten(c));
    also(first_changed_gap(c));
    also(ops::first_changed(host_.a, operands_.a.download(), "the input A"));
    also(ops::first_changed(host_.b, operands_.b.download(), "the input B"));
    also(operands_.first_trespass());
    return verdict;
  }

  std::string judged_in_part() const override {
    if (static_cast<std::int64_t>(rows_.size()) == problem_.m) return "";
    return fmt::format("{} of {} rows beside the reference, the others for being numbers",
                       rows_.size(), problem_.m);
  }

  double flops() const override { return sgemm::flops(case_); }
  double minimal_bytes() const override { return sgemm::minimal_bytes(case_); }

 private:
  std::int64_t products() const { return case_.batch.count; }

  // Where C(i,j) of the first product lies in memory.
  std::size_t place(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(problem_.layout == Layout::row_major ? i * problem_.ldc + j
                                                                         : i + j * problem_.ldc);
  }

  std::string element_name(std::int64_t i, std::int64_t j, std::int64_t product) const {
    return fmt::format("C({},{}){}", i, j,
                       products() == 1 ? "" : fmt::format(" of product {}", product));
  }

  void compute_expected() {
    if (!expected_.empty()) return;
    for (std::int64_t product = 0; product < products(); ++product) {
      const auto more = reference(problem_, host_, rows_, offsets_of(case_, product));
      expected_.insert(expected_.end(), more.begin(), more.end());
    }
  }

  // What lies between two lines of C in memory, in its matrices or between two of them.
  std::string first_changed_gap(const std::vector<float>& c) const {
    const bool by_rows = problem_.layout == Layout::row_major;
    const auto lines = static_cast<std::size_t>(by_rows ? problem_.m : problem_.n),
               length = static_cast<std::size_t>(by_rows ? problem_.n : problem_.m),
               ld = static_cast<std::size_t>(problem_.ldc);
    std::size_t at = 0;  // behind the last element of C so far
    const auto changed = [&](std::size_t end) {
      const auto gap = [&](const std::vector<float>& v) {
        return std::span(v).subspan(at, end - at);
      };
      return ops::first_changed(gap(host_.c), gap(c), "a gap between two lines of C");
    };
    if (length == 0) return changed(c.size());
    for (std::int64_t product = 0; product < products(); ++product) {
      const std::size_t first = offsets_of(case_, product).c;
      for (std::size_t line = 0; line < lines; ++line) {
        const std::string failure = changed(first + line * ld);
        if (!failure.empty()) return failure;
        at = first + line * ld + length;
      }
    }
    return changed(c.size());
  }

  // Operands are finite here, so that an element that is no number was never written, or is wrong.
  std::string first_unwritten(const std::vector<float>& c) const {
    for (std::int64_t product = 0; product < products(); ++product) {
      const float* const of_product = c.data() + offsets_of(case_, product).c;
      for (std::int64_t i = 0; i < problem_.m; ++i) {
        for (std::int64_t j = 0; j < problem_.n; ++j) {
          const float value = of_product[place(i, j)];
          if (std::isfinite(value)) continue;
          return fmt::format("{} is {}, which is no number", element_name(i, j, product), value);
        }
      }
    }
    return "";
  }

  void fill() {
    const Problem::Footprint f = elements_of(case_);
    const float low = case_.filling == Filling::positive ? 0.0f : -1.0f;
    const auto make = [&](std::vector<float>& v, std::int64_t elements, std::uint64_t seed) {
      v.resize(static_cast<std::size_t>(elements));
      fill_uniform(v, seed, low, 1.0f);
      if (case_.filling == Filling::wide) std::ranges::transform(v, v.begin(), widened);
    };
    make(host_.a, f.a_elements, 1);
    make(host_.b, f.b_elements, 2);
    make(host_.c, f.c_elements, 3);
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    if (case_.nan_in_unread) {
      if (problem_.beta == 0.0f) host_.c.assign(host_.c.size(), kNan);
      if (problem_.alpha == 0.0f) {
        host_.a.assign(host_.a.size(), kNan);
        host_.b.assign(host_.b.size(), kNan);
      }
    }
    if (problem_.beta == 0.0f) poison_c();
    if (case_.filling == Filling::specials) {
      host_.a[7] = kNan;
      host_.a[host_.a.size() / 2] = kInf;
      host_.b[host_.b.size() / 3] = -kInf;
      host_.c[11] = kInf;
    }
  }

  // Every element of C; the gaps between lines keep their values.
  void poison_c() {
    for (std::int64_t product = 0; product < products(); ++product) {
      float* const c = host_.c.data() + offsets_of(case_, product).c;
      for (std::int64_t i = 0; i < problem_.m; ++i) {
        for (std::int64_t j = 0; j < problem_.n; ++j) c[place(i, j)] = ops::poison();
      }
    }
  }

  GemmCase case_;
  const Problem& problem_ = case_.problem;
  HostOperands host_;
  std::vector<std::int64_t> rows_;  // of each C, which are judged
  DeviceOperands operands_;
  ladder::Arithmetic arithmetic_;
  std::vector<ops::Expected> expected_;  // product by product
};

}  // namespace

std::unique_ptr<ops::Trial> make_trial(const GemmCase& c, runtime::Target target) {
  return std::make_unique<GemmTrial>(c, target);
}

}  // namespace warpladder::sgemm
