// The operator sgemv beyond what all operators share. Roads that need shapes of their own, the same
// bits from any number of threads, the choice by shape, and the judge's planted faults.

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "lab/verify.hpp"
#include "ops/counting.hpp"
#include "ops/lab/checked.hpp"
#include "ops/sgemv/lab/dispatch.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {
namespace {

using ops_tests::count;

// Long sums, cut into pieces, and shapes of which 07_by_shape takes another way than of those in
// the common prediction test.
TEST(SgemvPredictions, HoldForLongAndThinShapes) {
  const ops::Operator& op = ops::find_operator("sgemv");
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{128, 16384},
                                                 {128, 1024},
                                                 {384, 4096},
                                                 {256, 16896},
                                                 {768, 4352}}) {
    for (const char* variant : {"row_n", "row_t"}) {
      const auto trial = op.case_of_shape(shape, variant).prepare(runtime::Target::cpu);
      for (const ladder::AnyRung* rung : ladder::rungs_of("sgemv")) {
        if (!rung->predict) continue;
        if (rung->id < "04") continue;
        EXPECT_TRUE(rung->predict(trial->call(), runtime::Machine()) == count(*rung, *trial))
            << rung->id << ' ' << variant << ' ' << shape[0] << 'x' << shape[1];
      }
    }
  }
}

// Whoever finishes a split sum adds up the pieces in one order.
TEST(SgemvRungs, GiveTheSameBitsWithAnyNumberOfThreads) {
  const ops::Operator& op = ops::find_operator("sgemv");
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{5, 20001}, {9000, 40}}) {
    for (const std::string& variant : op.variants()) {
      const auto trial = op.case_of_shape(shape, variant).prepare(runtime::Target::cpu);
      const Call& call = trial->call().as<Call>();
      const auto outputs_of = [&](const ladder::AnyRung& rung, unsigned threads) {
        device::Stream stream(runtime::Target::cpu);
        stream.executor_threads = threads;
        trial->reset();
        rung.launcher(runtime::Flavour::plain)(call, stream);
        std::vector<std::uint32_t> bits;
        for (std::int64_t i = 0; i < outputs(call.problem); ++i) {
          bits.push_back(std::bit_cast<std::uint32_t>(call.y[i]));
        }
        return bits;
      };
      for (const char* id : {"05_split", "06_flag_finish", "07_by_shape", "08_full_waves"}) {
        const ladder::AnyRung& rung = ladder::find_rung("sgemv", id);
        const auto once = outputs_of(rung, 1);
        EXPECT_EQ(once, outputs_of(rung, 4)) << id << ' ' << variant;
        EXPECT_EQ(once, outputs_of(rung, 3)) << id << ' ' << variant;
      }
    }
  }
}

TEST(SgemvDispatch, ChoosesByTarget) {
  EXPECT_EQ(choose(compact(4096, 4096), runtime::Target::gpu).id, "dispatch");
  EXPECT_EQ(choose(compact(8, 8), runtime::Target::cpu).id, "01_thread_per_output");
}

// What a rung with a fault would do, one fault each.
enum class Fault {
  none,
  left_out,
  term_left_out,
  forwards_whatever_the_increment,
  reads_y_with_beta_zero,
  scales_where_blas_does_nothing,
  in_the_gap,
  behind,
  to_the_input,
  flag_left_set,
};
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  const Problem& p = call.problem;
  const auto at = [](std::int64_t i, std::int64_t size, std::int64_t increment) {
    if (planted == Fault::forwards_whatever_the_increment) return i * std::abs(increment);
    return increment > 0 ? i * increment : (i - size + 1) * increment;
  };
  const std::int64_t rows = outputs(p), k = terms(p);
  if (planted == Fault::scales_where_blas_does_nothing && k == 0) {
    for (std::int64_t i = 0; i < rows; ++i) call.y[i] = 0;
  }
  if (rows == 0 || k == 0) return;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (planted == Fault::left_out && i == rows - 1) continue;
    double sum = 0;
    for (std::int64_t j = 0; j < k && p.alpha != 0.0f; ++j) {
      if (planted == Fault::term_left_out && i == 0 && j == k / 2) continue;
      const std::int64_t row = p.trans ? j : i, column = p.trans ? i : j;
      const float a =
          call.a[p.layout == Layout::row_major ? row * p.lda + column : row + column * p.lda];
      sum += static_cast<double>(a) * static_cast<double>(call.x[at(j, k, p.incx)]);
    }
    float& y = call.y[at(i, rows, p.incy)];
    const bool reads = p.beta != 0.0f || planted == Fault::reads_y_with_beta_zero;
    y = static_cast<float>((p.alpha == 0.0f ? 0.0 : static_cast<double>(p.alpha) * sum) +
                           (reads ? static_cast<double>(p.beta) * static_cast<double>(y) : 0.0));
  }
  if (planted == Fault::in_the_gap && p.incy == 3) call.y[1] = 1;
  if (planted == Fault::behind) call.y[ops::footprint(p).y_elements] = 1;
  if (planted == Fault::to_the_input) const_cast<float*>(call.a)[0] = 7;
  if (planted == Fault::flag_left_set && flag_words(p) > 0) call.flags[flag_words(p) - 1] = 1;
}

lab::VerifyRow verdict() {
  ladder::AnyRung rung;
  rung.op = "sgemv";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("sgemv"), &rung}};
  return lab::verify(request)[0];
}

TEST(SgemvJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  for (const lab::CaseResult& result : verdict().cases) EXPECT_EQ(result.failure, "");
  const std::map<Fault, const char*> words{
      {Fault::left_out, "was never written"},
      {Fault::term_left_out, "y(0) is "},
      {Fault::forwards_whatever_the_increment, "but should be"},
      {Fault::reads_y_with_beta_zero, "never written"},
      {Fault::scales_where_blas_does_nothing, "y changed"},
      {Fault::in_the_gap, "a gap between elements of y changed"},
      {Fault::behind, "outside y"},
      {Fault::to_the_input, "the input A changed"},
      {Fault::flag_left_set, "the flags are left set"},
  };
  for (const auto& [fault, sentence] : words) {
    planted = fault;
    std::size_t caught = 0;
    for (const lab::CaseResult& result : verdict().cases) {
      caught += result.failure.find(sentence) != std::string::npos;
    }
    EXPECT_GT(caught, 0) << sentence;
  }
}

// One term of 20,000 is less than the bound of their sum allows to be wrong; where sums are exact,
// nothing is.
TEST(SgemvJudge, MissesNoTermOfALongSum) {
  planted = Fault::term_left_out;
  std::size_t caught = 0;
  for (const lab::CaseResult& result : verdict().cases) {
    caught += result.name == "2x20000, integers" && !result.failure.empty();
  }
  EXPECT_EQ(caught, 1);
}

}  // namespace
}  // namespace warpladder::sgemv
