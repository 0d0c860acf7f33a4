// Every rung, on every case of its operator, in every flavour that can run here.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/explain.hpp"
#include "lab/verify.hpp"

namespace warpladder {
namespace {

struct RungAndTarget {
  lab::Selected selected;
  runtime::Target target;
  std::string name() const {
    const char* const on = target == runtime::Target::gpu ? "_gpu" : "_cpu";
    return selected.op->name() + "_" + selected.rung->id + on;
  }
};

void PrintTo(const RungAndTarget& r, std::ostream* out) { *out << r.name(); }

std::vector<RungAndTarget> all() {
  std::vector<RungAndTarget> list;
  for (const lab::Selected& selected : lab::select({})) {
    for (const auto target : {runtime::Target::cpu, runtime::Target::gpu}) {
      list.push_back({selected, target});
    }
  }
  return list;
}

std::string test_name(const testing::TestParamInfo<RungAndTarget>& info) {
  return info.param.name();
}

class EveryRung : public testing::TestWithParam<RungAndTarget> {};

TEST_P(EveryRung, IsRightOnEveryCase) {
  const auto& [selected, target] = GetParam();
  if (const auto there = device::availability(target); !there.available)
    GTEST_SKIP() << there.why_not;

  lab::VerifyRequest request;
  request.rungs = {selected};
  request.target = target;
  request.checking = lab::Checking::both;
  std::string why_not;
  bool has_run = false;
  for (const lab::VerifyRow& row : lab::verify(request)) {
    if (!row.skipped.empty()) {
      why_not = row.skipped;
      continue;
    }
    has_run = true;
    EXPECT_EQ(row.cases.size() + row.not_taken, selected.op->cases().size());
    EXPECT_FALSE(row.cases.empty());
    for (const lab::CaseResult& result : row.cases) {
      EXPECT_EQ(result.failure, "")
          << row.rung << ' ' << lab::name(row.flavour) << " on " << result.name;
    }
  }
  if (!has_run) GTEST_SKIP() << why_not;
}

INSTANTIATE_TEST_SUITE_P(, EveryRung, testing::ValuesIn(all()), test_name);

// A rung's header predicts its counts; the executor holds it to them.
struct Predicting {
  lab::Selected selected;
};
void PrintTo(const Predicting& p, std::ostream* out) { *out << p.selected.rung->full_name(); }

class Prediction : public testing::TestWithParam<Predicting> {};

TEST_P(Prediction, HoldsInTheExecutor) {
  const auto [op, rung] = GetParam().selected;
  const std::vector<std::vector<std::int64_t>> shapes = op->predicted_shapes();
  std::vector<std::pair<std::vector<std::int64_t>, std::string>> problems;
  for (const std::string& variant : op->predicted_variants()) {
    for (const auto& shape : shapes) problems.emplace_back(shape, variant);
  }
  std::size_t problems_had = 0;
  for (const auto& [shape, variant] : problems) {
    SCOPED_TRACE(testing::Message() << variant << " of " << shape.front() << "...");
    std::unique_ptr<ops::Trial> trial;
    try {
      trial = op->case_of_shape(shape, variant).prepare(runtime::Target::cpu);
    } catch (const Error&) {
      continue;  // a shape that this variant does not have
    }
    ++problems_had;
    if (!ladder::why_not(*rung, trial->call()).empty()) continue;
    device::Stream stream(runtime::Target::cpu);
    std::vector<executor::KernelCounts> counts;
    trial->provide_workspace(rung->workspace_for(trial->call(), runtime::Machine()));
    trial->reset();
    const auto prepare = rung->preparation(runtime::Flavour::counted);
    if (prepare) prepare(trial->call(), stream);
    stream.record_counts = &counts;
    rung->launcher(runtime::Flavour::counted)(trial->call(), stream);
    const ladder::Totals predicted = rung->predict(trial->call(), runtime::Machine());
    const ladder::Totals counted = ladder::totals_of(counts);
    for (const lab::TotalField& field : lab::total_fields()) {
      const std::uint64_t total = predicted.*field.value;
      if (total == ladder::kNotPredicted) continue;
      EXPECT_EQ(total, counted.*field.value) << field.name;
    }
    EXPECT_TRUE(ladder::agrees(counted, predicted));
  }
  EXPECT_GE(problems_had, shapes.size());
}

std::vector<Predicting> with_predictions() {
  std::vector<Predicting> list;
  for (const lab::Selected& selected : lab::select({})) {
    if (selected.rung->predict) list.push_back({selected});
  }
  return list;
}

std::string prediction_name(const testing::TestParamInfo<Predicting>& info) {
  return info.param.selected.op->name() + "_" + info.param.selected.rung->id;
}

INSTANTIATE_TEST_SUITE_P(, Prediction, testing::ValuesIn(with_predictions()), prediction_name);

}  // namespace
}  // namespace warpladder
