#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/host_memory.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/lab/accuracy_trial.hpp"
#include "ops/sgemm/lab/cases.hpp"
#include "ops/sgemm/lab/run.hpp"
#include "ops/sgemm/lab/trial.hpp"

namespace warpladder::sgemm {
namespace {

ops::Case to_case(const GemmCase& c) {
  return {c.name, [c](runtime::Target target) -> std::unique_ptr<ops::Trial> {
            return make_trial(c, target);
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
  std::vector<std::vector<std::int64_t>> explained_shapes() const override {
    return {default_shape(), {8, 1024, 512}, {1, 1024, 512}};
  }
  ops::Measure measure() const override { return ops::Measure::flops; }
  std::vector<std::int64_t> baseline_shape() const override { return {512, 512, 512}; }
  std::vector<std::string> variants() const override {
    std::vector<std::string> names;
    for (const Variant& v : kVariants) names.emplace_back(v.name);
    return names;
  }
  std::string details() const override { return kDetails; }
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
    const Problem::Footprint f = elements_of(c);
    // Operands on the host and on the device, a copy to compare with, and the truth about C.
    const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements) +
                            static_cast<double>(f.c_elements);
    require_memory(3 * sizeof(float) * operands +
                       sizeof(ops::Expected) * static_cast<double>(f.c_elements) +
                       static_cast<double>(workspace_bytes(c.problem) + prepared_bytes(c.problem)),
                   fmt::format("sgemm of {}", c.name));
    return to_case(c);
  }
  ops::Case sampled_case(const std::vector<std::int64_t>& s,
                         const std::string& variant) const override {
    const GemmCase c = gemm_case_of_shape(s[0], s[1], s[2], variant);
    elements_of(c);  // throws where they are too many to address
    return {c.name, [c](runtime::Target target) { return make_sampled_trial(c, target); }};
  }
};

const bool declared = ops::declare(std::make_unique<Sgemm>());

}  // namespace
}  // namespace warpladder::sgemm
