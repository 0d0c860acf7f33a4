#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/host_memory.hpp"
#include "base/parallel.hpp"
#include "base/random_fill.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/device_operands.hpp"
#include "ops/sgemm/lab/reference.hpp"
#include "ops/sgemm/lab/trial.hpp"

namespace warpladder::sgemm {
namespace {

constexpr std::uint64_t kSeedOfA = 1, kSeedOfB = 2, kSeedOfPlaces = 5;
constexpr float kLow = -1.0f, kHigh = 1.0f;

struct Element {
  std::int64_t product, i, j;
};

class SampledTrial final : public ops::Trial {
 public:
  SampledTrial(const GemmCase& c, runtime::Target target)
      : case_(c), operands_(c, target), samples_(sampled()) {
    device::Stream stream(target);
    device::fill_uniform(stream, operands_.a.data(), operands_.a.size(), kSeedOfA, kLow, kHigh);
    device::fill_uniform(stream, operands_.b.data(), operands_.b.size(), kSeedOfB, kLow, kHigh);
    stream.synchronize();
  }

  void provide_workspace(std::size_t bytes) override { operands_.provide_workspace(bytes); }
  void reset() override {
    operands_.c.fill_bytes(0xff);  // NaN
    operands_.spoil_workspace();
  }
  void expect(const ladder::Arithmetic& arithmetic) override { arithmetic_ = arithmetic; }
  ladder::AnyCall call() const override { return operands_.call(); }

  ops::Verdict judge() override {
    if (expected_.empty()) compute_expected();
    const std::vector<float> c = operands_.c.download();
    ops::ElementJudge judge([&](std::size_t at) { return name_of(samples_[at]); });
    for (std::size_t at = 0; at < samples_.size(); ++at) {
      ops::Expected expected = expected_[at];
      expected.bound *= 1.0 + arithmetic_.extra_roundings / roundings(problem_);
      judge.look_at(at, c[place(samples_[at])], expected);
    }
    ops::Verdict verdict = judge.verdict();
    if (verdict.passed()) verdict.failure = first_unwritten(c);
    if (verdict.passed()) verdict.failure = operands_.first_trespass();
    return verdict;
  }

  std::string judged_in_part() const override {
    if (static_cast<double>(samples_.size()) == elements()) return "";
    return fmt::format("{} elements of C beside the reference, the others for being numbers",
                       samples_.size());
  }

  double flops() const override { return sgemm::flops(case_); }
  double minimal_bytes() const override { return sgemm::minimal_bytes(case_); }

 private:
  double elements() const {
    return static_cast<double>(case_.batch.count) * static_cast<double>(problem_.m) *
           static_cast<double>(problem_.n);
  }

  // One element at random in each of as many equal parts of C, and the first and the last.
  std::vector<Element> sampled() const {
    constexpr std::int64_t kMost = 1024, kLeast = 32, kTerms = std::int64_t{1} << 24;
    const std::int64_t in_product = problem_.m * problem_.n, all = case_.batch.count * in_product;
    const std::int64_t count =
        std::min(all, std::clamp(kTerms / std::max<std::int64_t>(problem_.k, 1), kLeast, kMost));
    std::vector<Element> list;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t first = all / count * s + std::min(s, all % count),
                         length = all / count + (s < all % count ? 1 : 0);
      const std::uint32_t draw = random_block(kSeedOfPlaces, static_cast<std::uint64_t>(s)).word[0];
      const std::int64_t at = s == 0           ? 0
                              : s == count - 1 ? all - 1
                                               : first + static_cast<std::int64_t>(draw) % length;
      list.push_back({at / in_product, at % in_product / problem_.n, at % in_product % problem_.n});
    }
    return list;
  }

  std::size_t place(const Element& e) const {
    const bool by_rows = problem_.layout == Layout::row_major;
    const std::int64_t at = by_rows ? e.i * problem_.ldc + e.j : e.i + e.j * problem_.ldc;
    return offsets_of(case_, e.product).c + static_cast<std::size_t>(at);
  }

  std::string name_of(const Element& e) const {
    const std::string name = fmt::format("C({},{})", e.i, e.j);
    return case_.batch.count == 1 ? name : fmt::format("{} of product {}", name, e.product);
  }

  void compute_expected() {
    expected_.resize(samples_.size());
    parallel_for(samples_.size(), host_threads(),
                 [&](std::size_t at) { expected_[at] = expected_of(samples_[at]); });
  }

  // The operands' elements are made again, each from its place.
  ops::Expected expected_of(const Element& e) const {
    const Problem& p = problem_;
    const Offsets offsets = offsets_of(case_, e.product);
    const bool a_by_rows = (p.layout == Layout::row_major) != p.trans_a,
               b_by_rows = (p.layout == Layout::row_major) != p.trans_b;
    double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < p.k; ++k) {
      const std::int64_t in_a = a_by_rows ? e.i * p.lda + k : e.i + k * p.lda,
                         in_b = b_by_rows ? k * p.ldb + e.j : k + e.j * p.ldb;
      const float a = uniform_element(kSeedOfA, offsets.a + static_cast<std::uint64_t>(in_a), kLow,
                                      kHigh),
                  b = uniform_element(kSeedOfB, offsets.b + static_cast<std::uint64_t>(in_b), kLow,
                                      kHigh);
      const double product = static_cast<double>(a) * static_cast<double>(b);
      sum += product;
      magnitude += std::abs(product);
    }
    return expected_element(p, sum, magnitude, 0);
  }

  // Line by line as C lies in memory.
  std::string first_unwritten(const std::vector<float>& c) const {
    const bool by_rows = problem_.layout == Layout::row_major;
    const std::int64_t lines = by_rows ? problem_.m : problem_.n,
                       length = by_rows ? problem_.n : problem_.m;
    for (std::int64_t product = 0; product < case_.batch.count; ++product) {
      for (std::int64_t line = 0; line < lines; ++line) {
        const float* const first = c.data() + offsets_of(case_, product).c + line * problem_.ldc;
        const auto* const bad =
            std::find_if(first, first + length, [](float x) { return !std::isfinite(x); });
        if (bad == first + length) continue;
        const std::int64_t at = bad - first;
        return fmt::format(
            "{} is {}, which is no number",
            name_of(by_rows ? Element{product, line, at} : Element{product, at, line}), *bad);
      }
    }
    return "";
  }

  GemmCase case_;
  const Problem& problem_ = case_.problem;
  DeviceOperands operands_;
  std::vector<Element> samples_;
  ladder::Arithmetic arithmetic_;
  std::vector<ops::Expected> expected_;
};

}  // namespace

std::unique_ptr<ops::Trial> make_sampled_trial(const GemmCase& c, runtime::Target target) {
  const Problem::Footprint f = elements_of(c);
  const double result = sizeof(float) * static_cast<double>(f.c_elements);
  const double in_device =
      result +
      sizeof(float) * (static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements)) +
      static_cast<double>(workspace_bytes(c.problem));
  require_memory(result + (target == runtime::Target::cpu ? in_device : 0),
                 fmt::format("sgemm of {}", c.name));
  return std::make_unique<SampledTrial>(c, target);
}

}  // namespace warpladder::sgemm
