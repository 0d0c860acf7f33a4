#include "ops/lab/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "base/random_fill.hpp"
#include "ops/lab/judge.hpp"
#include "ops/spmv/lab/cases.hpp"
#include "ops/spmv/lab/operands.hpp"
#include "ops/spmv/lab/reference.hpp"
#include "ops/spmv/lab/row_statistics.hpp"
#include "ops/spmv/lab/run.hpp"

namespace warpladder::spmv {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class SpmvTrial final : public ops::Trial {
 public:
  SpmvTrial(const SpmvCase& c, runtime::Target target)
      : a_(filled(c)),
        problem_(problem_of(a_, c.alpha, c.beta, c.wide_offsets)),
        x_(x_of(c, a_)),
        y_(y_of(c, a_)),
        device_(target, problem_, a_, x_, y_,
                {c.misalign_offsets, c.misalign_columns, c.misalign_values, c.misalign_x,
                 c.misalign_y}),
        call_(device_.call()) {}

  void reset() override {
    device_.y.upload(y_);
    device_.flags.fill_bytes(0);
    device_.scratch.fill_bytes(0xff);
    device_.plan.fill_bytes(0xff);
  }

  ladder::AnyCall call() const override { return call_; }

  ops::Verdict judge() override {
    if (expected_.empty()) expected_ = reference(problem_, a_, x_, y_);
    const std::vector<float> y = device_.y.download();
    ops::ElementJudge judge([](std::size_t at) { return fmt::format("y({})", at); });
    for (std::size_t i = 0; i < expected_.size(); ++i) judge.look_at(i, y[i], expected_[i]);
    ops::Verdict verdict = judge.verdict();
    const auto also = [&](const std::string& failure) {
      if (verdict.passed()) verdict.failure = failure;
    };
    const auto require = [&](bool good, const char* failure) { also(good ? "" : failure); };
    require(std::ranges::none_of(device_.flags.download(), std::identity()),
            "the flags are left set");
    require(device_.y.guards_intact() && device_.flags.guards_intact() &&
                device_.scratch.guards_intact() && device_.plan.guards_intact(),
            "something was written outside y or the workspace");
    // Of a large matrix bringing the inputs back for each rung would take seconds.
    if (problem_.nnz > kLarge) return verdict;
    require(device_.row_offsets.are_still(a_.row_offsets), "the row offsets have changed");
    require(device_.column_indices.download() == a_.column_indices &&
                device_.column_indices.guards_intact(),
            "the column indices have changed");
    also(ops::first_changed(a_.values, device_.values.download(), "the input A"));
    also(ops::first_changed(x_, device_.x.download(), "the input x"));
    require(device_.values.guards_intact() && device_.x.guards_intact(),
            "something was written outside an input");
    return verdict;
  }

  std::string judged_in_part() const override {
    return problem_.nnz > kLarge ? "all of y, but not that A and x are as they were" : "";
  }
  std::string remark() const override {
    const std::string rows = summary(row_statistics(a_.row_offsets, a_.columns));
    if (a_.nnz() < 32) return rows;
    return fmt::format("{}; 32 neighbouring nonzeros touch {:.1f} sectors of x", rows,
                       sectors_of_x(a_));
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
  static std::vector<float> values(std::int64_t count, std::uint64_t seed) {
    std::vector<float> v(static_cast<std::size_t>(count));
    fill_uniform(v, seed, -1.0f, 1.0f);
    return v;
  }
  // What nobody may read is not a number.
  static std::vector<float> x_of(const SpmvCase& c, const CsrMatrix& a) {
    if (c.alpha == 0.0f) return std::vector<float>(static_cast<std::size_t>(a.columns), kNan);
    std::vector<float> x = values(a.columns, 2);
    if (c.filling == Filling::specials) x[x.size() / 3] = -kInf;
    return x;
  }
  static std::vector<float> y_of(const SpmvCase& c, const CsrMatrix& a) {
    if (c.beta == 0.0f) return std::vector<float>(static_cast<std::size_t>(a.rows), ops::poison());
    std::vector<float> y = values(a.rows, 3);
    if (c.filling == Filling::specials) y[y.size() / 2] = kNan;
    return y;
  }

  CsrMatrix a_;
  Problem problem_;
  std::vector<float> x_, y_;
  Operands device_;
  Call call_;
  std::vector<ops::Expected> expected_;
};

ops::Case to_case(const SpmvCase& c) {
  return {c.name, [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return std::make_unique<SpmvTrial>(c, target);
          }};
}

class Spmv final : public ops::Operator {
 public:
  std::string name() const override { return "spmv"; }
  std::string idea() const override { return "y = alpha A x + beta y, fp32, A sparse (CSR)"; }
  std::string shape_form() const override { return "ROWSxCOLUMNSxPER_ROW"; }
  std::vector<std::int64_t> default_shape() const override { return {4096, 4096, 32}; }
  std::vector<std::vector<std::int64_t>> predicted_shapes() const override {
    return {{128, 128, 128}, {256, 128, 64}};
  }
  const ops::MatrixCapability* matrices() const override {
    static constexpr ops::MatrixCapability kMatrices{
        .bench_matrices = bench_matrices,
        .left_out = [] { return matrices_of_user().left_out; },
        .case_of = [](const std::string& matrix) { return to_case(plain_spmv_case(matrix)); }};
    return &kMatrices;
  }
  const ops::RunCapability* run() const override { return &run_capability(); }
  ops::Measure measure() const override { return ops::Measure::bytes; }
  std::vector<ops::Case> cases() const override {
    std::vector<ops::Case> list;
    for (const SpmvCase& c : spmv_cases()) list.push_back(to_case(c));
    return list;
  }
  // More than 2^31 entries, in rows that end on either side of it.
  std::vector<ops::Case> large_cases() const override {
    return {to_case(plain_spmv_case("banded:rows=66000000,band=33"))};
  }

 private:
  ops::Case plain_case(const std::vector<std::int64_t>& shape, const std::string&) const override {
    SpmvCase c;
    c.name = fmt::format("{}", fmt::join(shape, "x"));
    c.shape = shape;
    return to_case(c);
  }
};

const bool declared = ops::declare(std::make_unique<Spmv>());

}  // namespace
}  // namespace warpladder::spmv
