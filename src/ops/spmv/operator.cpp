#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>

#include "base/host_memory.hpp"
#include "base/random_fill.hpp"
#include "ops/judge.hpp"
#include "ops/spmv/cases.hpp"
#include "ops/spmv/reference.hpp"

namespace warpladder::spmv {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint64_t next_matrix_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

// Row offsets, of whichever width.
class Offsets {
 public:
  Offsets(device::Target target, const std::vector<std::int64_t>& offsets, bool wide, int misalign)
      : wide_(wide) {
    const auto off = static_cast<std::size_t>(misalign);
    if (wide) {
      wide_offsets_ = device::Buffer<std::int64_t>(target, offsets, off);
    } else {
      narrow_ = device::Buffer<std::int32_t>(
          target, std::vector<std::int32_t>(offsets.begin(), offsets.end()), off);
    }
  }
  const void* data() const {
    return wide_ ? static_cast<const void*>(wide_offsets_.data()) : narrow_.data();
  }
  bool are_still(const std::vector<std::int64_t>& offsets) const {
    if (wide_) return wide_offsets_.download() == offsets && wide_offsets_.guards_intact();
    return std::ranges::equal(narrow_.download(), offsets) && narrow_.guards_intact();
  }

 private:
  bool wide_;
  device::Buffer<std::int64_t> wide_offsets_;
  device::Buffer<std::int32_t> narrow_;
};

class SpmvTrial final : public ops::Trial {
 public:
  SpmvTrial(const SpmvCase& c, device::Target target)
      : a_(filled(c)),
        problem_(problem_of(c, a_)),
        x_host_(values(a_.columns, 2)),
        y_host_(values(a_.rows, 3)),
        offsets_(target, a_.row_offsets, c.wide_offsets, c.misalign_offsets) {
    if (c.filling == Filling::specials) {
      x_host_[x_host_.size() / 3] = -kInf;
      y_host_[y_host_.size() / 2] = kNan;
    }
    if (problem_.alpha == 0.0f) x_host_.assign(x_host_.size(), kNan);  // which nobody may read
    if (problem_.beta == 0.0f) y_host_.assign(y_host_.size(), ops::poison());
    const auto off = [](int misalign) { return static_cast<std::size_t>(misalign); };
    columns_ = device::Buffer<std::int32_t>(target, a_.column_indices, off(c.misalign_columns));
    values_ = device::Buffer<float>(target, a_.values, off(c.misalign_values));
    x_ = device::Buffer<float>(target, x_host_, off(c.misalign_x));
    y_ = device::Buffer<float>(target, y_host_, off(c.misalign_y));
    flags_ = device::Buffer<std::uint64_t>(target, static_cast<std::size_t>(flag_words(problem_)));
    scratch_ =
        device::Buffer<std::int64_t>(target, static_cast<std::size_t>(scratch_words(problem_)));
    plan_ = device::Buffer<std::int64_t>(target, static_cast<std::size_t>(plan_words(problem_)));
    call_ = {problem_,  offsets_.data(), columns_.data(), values_.data(), x_.data(),
             y_.data(), flags_.data(),   scratch_.data(), plan_.data(),   next_matrix_id()};
  }

  void reset() override {
    y_.upload(y_host_);
    flags_.fill_bytes(0);
    scratch_.fill_bytes(0xff);
    plan_.fill_bytes(0xff);
  }

  const void* call() const override { return &call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) expected_ = reference(problem_, a_, x_host_, y_host_);
    const std::vector<float> y = y_.download();
    ops::ElementJudge judge([](std::size_t at) { return fmt::format("y({})", at); });
    for (std::size_t i = 0; i < expected_.size(); ++i) judge.look_at(i, y[i], expected_[i]);
    ops::Verdict verdict = judge.verdict();
    const auto require = [&](bool good, const char* failure) {
      if (!good && verdict.passed()) verdict.failure = failure;
    };
    require(std::ranges::none_of(flags_.download(), std::identity()), "the flags are left set");
    require(y_.guards_intact() && flags_.guards_intact() && scratch_.guards_intact() &&
                plan_.guards_intact(),
            "something was written outside y or the workspace");
    // Of a large matrix bringing the inputs back for each rung would take seconds.
    if (problem_.nnz > kLarge) return verdict;
    require(offsets_.are_still(a_.row_offsets), "the row offsets have changed");
    require(columns_.download() == a_.column_indices && columns_.guards_intact(),
            "the column indices have changed");
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    also(ops::first_changed(a_.values, values_.download(), "the input A"));
    also(ops::first_changed(x_host_, x_.download(), "the input x"));
    require(values_.guards_intact() && x_.guards_intact(),
            "something was written outside an input");
    return verdict;
  }

  std::string judged_in_part() const override {
    return problem_.nnz > kLarge ? "all of y, but not that A and x are as they were" : "";
  }
  double flops() const override { return spmv::flops(problem_); }
  double minimal_bytes() const override { return spmv::minimal_bytes(problem_); }

 private:
  static constexpr std::int64_t kLarge = std::int64_t{1} << 26;

  static CsrMatrix filled(const SpmvCase& c) {
    CsrMatrix a = matrix_of(c);
    if (c.filling == Filling::specials) {
      a.values[a.values.size() / 2] = kNan;
      a.values[a.values.size() / 5] = kInf;
    }
    return a;
  }
  static Problem problem_of(const SpmvCase& c, const CsrMatrix& a) {
    Problem p{a.rows, a.columns, a.nnz(), c.wide_offsets, c.alpha, c.beta};
    p.wide_offsets = c.wide_offsets || p.nnz > std::numeric_limits<std::int32_t>::max();
    validate(p);
    return p;
  }
  static std::vector<float> values(std::int64_t count, std::uint64_t seed) {
    std::vector<float> v(static_cast<std::size_t>(count));
    fill_uniform(v, seed, -1.0f, 1.0f);
    return v;
  }

  CsrMatrix a_;
  Problem problem_;
  std::vector<float> x_host_, y_host_;
  Offsets offsets_;
  device::Buffer<std::int32_t> columns_;
  device::Buffer<float> values_, x_, y_;
  device::Buffer<std::uint64_t> flags_;
  device::Buffer<std::int64_t> scratch_, plan_;
  Call call_;
  std::vector<ops::Expected> expected_;
};

ops::Case to_case(const SpmvCase& c) {
  return {c.name, [c](device::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<SpmvTrial>(c, target);
          }};
}

class Spmv final : public ops::Operator {
 public:
  std::string name() const override { return "spmv"; }
  std::string idea() const override { return "y = alpha A x + beta y, fp32, A sparse (CSR)"; }
  std::string shape_form() const override { return "ROWSxCOLUMNSxPER_ROW"; }
  std::vector<std::int64_t> default_shape() const override { return {4096, 4096, 32}; }
  bool takes_matrices() const override { return true; }
  std::vector<std::string> bench_matrices() const override { return spmv::bench_matrices(); }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const SpmvCase& c : spmv_cases()) list.push_back(to_case(c));
    return list;
  }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& shape, const std::string&) const override {
    SpmvCase c;
    c.name = fmt::format("{}", fmt::join(shape, "x"));
    c.shape = shape;
    return to_case(c);
  }
  ops::Case matrix_case(const std::string& matrix) const override {
    return to_case(plain_spmv_case(matrix));
  }
};

const bool declared = ops::declare(std::make_unique<Spmv>());

}  // namespace
}  // namespace warpladder::spmv
