// The operator that tools/new_operator.py writes, beyond what every rung's test holds it to.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "lab/verify.hpp"
#include "ops/lab/run.hpp"
#include "ops/scratch_operator/lab/reference.hpp"

namespace warpladder::scratch_operator {
namespace {

TEST(NewOperator, HasTheRungsOfBothTools) {
  const auto rungs = ladder::rungs_of("scratch_operator");
  ASSERT_EQ(rungs.size(), 2u);
  EXPECT_EQ(rungs[0]->id, "01_one_per_thread");
  EXPECT_EQ(rungs[1]->id, "new_rung");
  EXPECT_EQ(rungs[1]->idea, "as the template has it");
}

TEST(NewOperator, ReferenceIsRightByHand) {
  const float in[] = {2.0f, -0.5f, 0.0f};
  EXPECT_EQ(expected({3, 1.5f}, in, 0).value, 3.0);
  EXPECT_EQ(expected({3, 1.5f}, in, 1).value, -0.75);
  EXPECT_EQ(expected({3, 1.5f}, in, 2).value, 0.0);
  EXPECT_LE(expected({3, 1.5f}, in, 0).bound, 3.0 * 0x1p-23);
}

enum class Fault { none, last_left_out, inexact, behind, to_the_input };
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  const Problem& p = call.problem;
  for (std::int64_t i = 0; i < p.n; ++i) {
    if (planted == Fault::last_left_out && i == p.n - 1) continue;
    call.out[i] = p.alpha * call.in[i] * (planted == Fault::inexact ? 1.000001f : 1.0f);
  }
  if (planted == Fault::behind) call.out[p.n] = 1;
  if (planted == Fault::to_the_input && p.n > 0) const_cast<float*>(call.in)[p.n / 3] = 7;
}

std::size_t failures() {
  ladder::AnyRung rung;
  rung.op = "scratch_operator";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("scratch_operator"), &rung}};
  std::size_t count = 0;
  for (const lab::VerifyRow& row : lab::verify(request)) {
    for (const lab::CaseResult& result : row.cases) count += !result.failure.empty();
  }
  return count;
}

TEST(NewOperator, JudgeCatchesPlantedFaults) {
  planted = Fault::none;
  EXPECT_EQ(failures(), 0u);
  for (const Fault fault :
       {Fault::last_left_out, Fault::inexact, Fault::behind, Fault::to_the_input}) {
    planted = fault;
    EXPECT_GT(failures(), 10u) << static_cast<int>(fault);
  }
}

TEST(NewOperator, RefusesANegativeSize) {
  EXPECT_THROW(ops::find_operator("scratch_operator").case_of_shape({-1}), Error);
}

TEST(NewOperator, RunsOnAnArray) {
  const ops::RunCapability& capability = *ops::find_operator("scratch_operator").run();
  EXPECT_EQ(capability.command, "scratch_operator");
  const std::string path = testing::TempDir() + "/new_operator_test.npy";
  const std::vector<std::int64_t> shape{2, 3};
  const std::vector<float> in{1, 2, 3, 4, 5, -6};
  write_npy(path, shape, in);
  ops::RunValues values;
  values.set("in", path);
  values.set("alpha", "0.5");
  for (const char* rung : {"", "01_one_per_thread", "scratch_operator/new_rung"}) {
    ops::RunOptions options;
    options.rung = rung;
    const ops::RunResult result = capability.run(values, options);
    EXPECT_EQ(result.out.shape, shape);
    EXPECT_EQ(result.out.data, (std::vector<float>{0.5f, 1, 1.5f, 2, 2.5f, -3}));
    EXPECT_EQ(std::get<double>(result.details.at("alpha")), 0.5);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace warpladder::scratch_operator
