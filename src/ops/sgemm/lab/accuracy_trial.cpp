#include "ops/sgemm/lab/accuracy_trial.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/lab/cases.hpp"
#include "ops/sgemm/lab/device_operands.hpp"

namespace warpladder::sgemm {
namespace {

// Of a batch so many products are measured, the first and the last among them.
constexpr std::int64_t kMeasuredProducts = 64;

// A matrix of rows×columns that was drawn by rows, as it lies in memory.
void place_matrix(const std::vector<float>& drawn, std::int64_t rows, std::int64_t columns,
                  bool by_rows, float* to) {
  if (by_rows) {
    std::ranges::copy(drawn, to);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      to[j * rows + i] = drawn[static_cast<std::size_t>(i * columns + j)];
    }
  }
}

class Trial final : public ops::AccuracyTrial {
 public:
  Trial(const ops::AccuracyProblem& drawn, const GemmCase& c, runtime::Target target)
      : case_(c),
        rows_(judged_rows(c)),
        operands_(c, target),
        poison_(operands_.c.size(), ops::poison()) {
    const std::int64_t count = c.batch.count, measured = std::min(count, kMeasuredProducts);
    for (std::int64_t i = 0; i < measured; ++i) {
      products_.push_back(measured == 1 ? 0 : i * (count - 1) / (measured - 1));
    }
    draw(drawn);
  }

  void provide_workspace(std::size_t bytes) override { operands_.provide_workspace(bytes); }
  void reset() override {
    operands_.c.upload(poison_);
    operands_.spoil_workspace();
  }

  ladder::AnyCall call() const override { return operands_.call(); }

  ops::Errors measure() override {
    const std::vector<float> c = operands_.c.download();
    const Problem& p = case_.problem;
    ops::ErrorMeter meter;
    for (std::size_t i = 0; i < products_.size(); ++i) {
      const ProductTruth& truth = truths_[i];
      const float* const of_product = c.data() + offsets_of(case_, products_[i]).c;
      const auto n = static_cast<std::size_t>(p.n);
      for (std::size_t at = 0; at < truth.value.size(); ++at) {
        const std::int64_t row = rows_[at / n], column = static_cast<std::int64_t>(at % n);
        const bool by_rows = p.layout == Layout::row_major;
        meter.look_at(of_product[by_rows ? row * p.ldc + column : row + column * p.ldc],
                      truth.value[at], truth.magnitude[at]);
      }
    }
    return meter.errors();
  }

  std::string judged_in_part() const override {
    std::string text;
    if (static_cast<std::int64_t>(rows_.size()) < case_.problem.m) {
      text = fmt::format("{} of {} rows of C", rows_.size(), case_.problem.m);
    }
    if (static_cast<std::int64_t>(products_.size()) < case_.batch.count) {
      text += fmt::format("{}{} of {} products", text.empty() ? "" : " in ", products_.size(),
                          case_.batch.count);
    }
    return text;
  }

 private:
  // Every product has operands of its own, but for one that all share.
  void draw(const ops::AccuracyProblem& drawn) {
    const Problem& p = case_.problem;
    const bool row_major = p.layout == Layout::row_major;
    std::vector<float> a(operands_.a.size()), b(operands_.b.size());
    HostOperands first;
    for (std::int64_t product = 0; product < case_.batch.count; ++product) {
      const std::uint64_t seed = drawn.seed + (static_cast<std::uint64_t>(product) << 32);
      HostOperands x = draw_operands(drawn.distribution, p.m, p.n, p.k, seed);
      if (product == 0) first = x;
      if (product > 0 && case_.batch.stride_a == 0) x.a = first.a;
      if (product > 0 && case_.batch.stride_b == 0) x.b = first.b;
      const Offsets offsets = offsets_of(case_, product);
      place_matrix(x.a, p.m, p.k, row_major != p.trans_a, a.data() + offsets.a);
      place_matrix(x.b, p.k, p.n, row_major != p.trans_b, b.data() + offsets.b);
      if (std::ranges::binary_search(products_, product)) {
        truths_.push_back(product_truth(compact(p.m, p.n, p.k), x, rows_));
      }
    }
    operands_.a.upload(a);
    operands_.b.upload(b);
  }

  GemmCase case_;
  std::vector<std::int64_t> rows_;
  DeviceOperands operands_;
  std::vector<float> poison_;
  std::vector<std::int64_t> products_;  // those that are measured
  std::vector<ProductTruth> truths_;
};

}  // namespace

std::unique_ptr<ops::AccuracyTrial> make_accuracy_trial(const ops::AccuracyProblem& drawn,
                                                        runtime::Target target) {
  if (drawn.shape.size() != 3) throw_bad_input("sgemm: a shape is written MxNxK");
  GemmCase c = gemm_case_of_shape(drawn.shape[0], drawn.shape[1], drawn.shape[2],
                                  drawn.variant.empty() ? kVariants[0].name : drawn.variant);
  c.filling = is_moderate(drawn.distribution) ? Filling::uniform : Filling::wide;
  const Problem::Footprint f = elements_of(c);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements);
  // On the host and, at the worst, on the device beside it; of C also the truth.
  constexpr double kTruth = sizeof(DoubleDouble) + sizeof(double);
  require_memory(2 * sizeof(float) * operands +
                     (3 * sizeof(float) + kTruth) * static_cast<double>(f.c_elements) +
                     static_cast<double>(workspace_bytes(c.problem) + prepared_bytes(c.problem)),
                 fmt::format("accuracy of sgemm of {}", c.name));
  return std::make_unique<Trial>(drawn, c, target);
}

}  // namespace warpladder::sgemm
