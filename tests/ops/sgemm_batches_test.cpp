// Batches in sgemm's lab: how their details are read, where their matrices lie, what is judged.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.hpp"
#include "ladder/ladder.hpp"
#include "ops/lab/operator.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {
namespace {

const ops::Operator& sgemm_operator() { return ops::find_operator("sgemm"); }

TEST(Details, ByHand) {
  const GemmCase c =
      gemm_case_of_shape(2, 3, 4, "row_nt batch=5 stride_b=0 stride_c=10 arithmetic=cuda_cores");
  EXPECT_EQ(c.name, "2x3x4 NT batch=5 stride_b=0 stride_c=10 arithmetic=cuda_cores");
  EXPECT_TRUE(c.problem.trans_b);
  EXPECT_EQ(c.batch.count, 5);
  EXPECT_EQ(c.batch.stride_a, 8) << "packed";
  EXPECT_EQ(c.batch.stride_b, 0);
  EXPECT_EQ(c.batch.stride_c, 10);
  EXPECT_FALSE(c.batch.arrays);
  EXPECT_EQ(c.arithmetic, Arithmetic::cuda_cores);
  const Problem::Footprint f = elements_of(c);
  EXPECT_EQ(f.a_elements, 5 * 8);
  EXPECT_EQ(f.b_elements, 12);
  EXPECT_EQ(f.c_elements, 4 * 10 + 6);
  EXPECT_EQ(flops(c), 5 * 2.0 * 2 * 3 * 4);
  EXPECT_EQ(minimal_bytes(c), 4.0 * (5 * 8 + 12 + 5 * 6));
  const GemmCase one = gemm_case_of_shape(2, 3, 4, "row_nn");
  EXPECT_EQ(flops(one), flops(one.problem));
  EXPECT_EQ(minimal_bytes(one), minimal_bytes(one.problem));
}

TEST(Details, WhatIsWrongIsSaid) {
  for (const auto& [details, words] :
       {std::pair{"batch=0", "a batch has at least 1 product"},
        {"batch=x", "sgemm: batch"},
        {"batch=2 batch=3", "'batch=3' is given twice"},
        {"stride_a=4", "no batch=N is given"},
        {"arrays", "no batch=N is given"},
        {"batch=2 stride_a=7", "stride_a is 7, but a matrix has 8 elements"},
        {"batch=2 stride_c=0", "stride_c is 0, but a matrix has 6 elements"},
        {"batch=9223372036854775807", "too large to address"},
        {"batchs=2", "'batchs=2' is no detail of a problem"},
        {"arithmetic=tf32", "names no arithmetic"}}) {
    try {
      sgemm_operator().case_of_shape({2, 3, 4}, std::string("row_nn ") + details);
      FAIL() << details;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(ops::find_operator("transpose").require_variant("any batch=2"), Error);
}

// The three orders differ, so that a rung that takes one operand's order for another's is wrong.
TEST(Offsets, OfArraysAreThreeOrders) {
  const GemmCase c = gemm_case_of_shape(1, 1, 1, "row_nn batch=4 arrays");
  std::set<std::size_t> a, b, of_c;
  for (std::int64_t i = 0; i < 4; ++i) {
    const Offsets offsets = offsets_of(c, i);
    a.insert(offsets.a);
    b.insert(offsets.b);
    of_c.insert(offsets.c);
    EXPECT_EQ(offsets.a, 3 - i);
    EXPECT_EQ(offsets.b, (i + 1) % 4);
    EXPECT_EQ(offsets.c, i);
  }
  EXPECT_EQ(a.size() + b.size() + of_c.size(), 12u) << "each matrix once";
}

// The rung whose workspace holds one prepared B.
TEST(Prepared, TakesABatchThatSharesB) {
  const ladder::AnyRung& rung = ladder::find_rung("sgemm", "tc_11_prepared");
  const auto takes = [&](const std::string& variant) {
    const auto trial =
        sgemm_operator().case_of_shape({4, 4, 4}, variant).prepare(runtime::Target::cpu);
    return ladder::why_not(rung, trial->call()).empty();
  };
  EXPECT_TRUE(takes("row_nn"));
  EXPECT_TRUE(takes("row_nn batch=3 stride_b=0"));
  EXPECT_FALSE(takes("row_nn batch=3"));
  EXPECT_FALSE(takes("row_nn batch=3 stride_a=0"));
  EXPECT_FALSE(takes("row_nn batch=3 stride_b=0 arrays"));
  EXPECT_TRUE(takes("col_nn batch=3 stride_a=0")) << "operands are exchanged";
  EXPECT_FALSE(takes("col_nn batch=3 stride_b=0"));
}

TEST(Workspace, GrowsForWhoNeedsMore) {
  const auto trial = sgemm_operator().case_of_shape({4, 4, 4}).prepare(runtime::Target::cpu);
  const void* const before = trial->call().as<Call>().workspace;
  trial->provide_workspace(64);
  EXPECT_EQ(trial->call().as<Call>().workspace, before);
  trial->provide_workspace(1 << 20);
  trial->reset();
  const auto* const bytes = static_cast<const unsigned char*>(trial->call().as<Call>().workspace);
  EXPECT_EQ(bytes[0], 0xff);
  EXPECT_EQ(bytes[(1 << 20) - 1], 0xff);
}

void run_openblas(const ops::Trial& trial) {
  device::Stream stream(runtime::Target::cpu);
  ops::rivals_of("sgemm", runtime::Target::cpu)[0]->launch(trial.call(), stream);
}

TEST(SampledTrial, CatchesPlantedFaults) {
  for (const char* const variant : {"row_nn", "row_tt batch=3", "col_tn batch=2 stride_a=0"}) {
    const auto trial =
        sgemm_operator().sampled_case_of_shape({70, 90, 33}, variant).prepare(runtime::Target::cpu);
    trial->reset();
    EXPECT_FALSE(trial->judge().passed()) << "nothing was written";
    EXPECT_TRUE(trial->judged_in_part().starts_with("1024 elements of C")) << variant;
    run_openblas(*trial);
    EXPECT_EQ(trial->judge().failure, "") << variant;
    float* const c = trial->call().as<Call>().c;
    const float first = c[0];
    c[0] += 1;
    EXPECT_TRUE(trial->judge().failure.starts_with("C(0,0)")) << variant;
    c[0] = first;
    c[70 * 90 - 2] = NAN;
    EXPECT_FALSE(trial->judge().passed()) << variant << ": an element that is no number";
  }
}

// The same operands as those of the whole trial, judged by another road.
TEST(SampledTrial, AgreesWithTheWholeOne) {
  const char* const variant = "row_nt batch=3";
  const auto sampled =
      sgemm_operator().sampled_case_of_shape({9, 8, 50}, variant).prepare(runtime::Target::cpu);
  const auto whole =
      sgemm_operator().case_of_shape({9, 8, 50}, variant).prepare(runtime::Target::cpu);
  for (const auto* trial : {&sampled, &whole}) {
    (*trial)->reset();
    run_openblas(**trial);
    EXPECT_EQ((*trial)->judge().failure, "");
    EXPECT_EQ((*trial)->judged_in_part(), "");
  }
  EXPECT_DOUBLE_EQ(sampled->judge().worst_error_over_bound, whole->judge().worst_error_over_bound);
}

}  // namespace
}  // namespace warpladder::sgemm
