// Reductions along an axis: the judge by planted faults, the same bits in every run, bad sizes.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.hpp"
#include "lab/verify.hpp"
#include "ops/counting.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {
namespace {

TEST(ReduceAxis, RefusesImpossibleSizes) {
  EXPECT_EQ(ops::footprint(Problem{Function::sum, Lines::rows, 3, 4, 6}), 16);
  EXPECT_EQ(ops::footprint(Problem{Function::sum, Lines::rows, 0, 4, 4}), 0);
  EXPECT_THROW(ops::footprint(Problem{Function::sum, Lines::rows, -1, 4, 4}), Error);
  EXPECT_THROW(ops::footprint(Problem{Function::sum, Lines::rows, 3, 4, 3}), Error);
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_THROW(ops::footprint(Problem{Function::sum, Lines::rows, kHuge, 4, 4}), Error);
}

// Long rows and short ones, and strips, of which 04_split takes another way than of the shapes in
// the common prediction test.
TEST(ReduceAxisPredictions, HoldForLongAndShortLines) {
  const ops::Operator& op = ops::find_operator("reduce_axis");
  const ladder::AnyRung& rung = ladder::find_rung("reduce_axis", "04_split");
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{128, 2048},
                                                 {128, 4096},
                                                 {128, 8192},
                                                 {2048, 640},
                                                 {16384, 128}}) {
    for (const char* variant : {"row_sum", "row_argmax", "column_sum", "column_argmax"}) {
      const auto trial = op.case_of_shape(shape, variant).prepare(runtime::Target::cpu);
      EXPECT_TRUE(rung.predict(trial->call(), runtime::Machine()) == ops_tests::count(rung, *trial))
          << variant << ' ' << shape[0] << 'x' << shape[1];
    }
  }
}

TEST(ReduceAxis, GivesTheSameBitsInEveryRun) {
  for (const runtime::Target target : {runtime::Target::cpu, runtime::Target::gpu}) {
    if (!device::availability(target).available) continue;
    const auto flavour =
        target == runtime::Target::gpu ? runtime::Flavour::gpu : runtime::Flavour::plain;
    const Problem wide{Function::sum, Lines::rows, 3, 90001, 90001},
        tall{Function::sum, Lines::columns, 9000, 12, 12};
    for (const Problem& p : {wide, tall}) {
      device::Stream stream(target);
      const device::Buffer<float> in(target, static_cast<std::size_t>(ops::footprint(p))),
          out(target, static_cast<std::size_t>(p.results()));
      device::fill_uniform(stream, in.data(), in.size(), 5, -1.0f, 1.0f);
      const device::Buffer<std::uint64_t> flags(
          target, std::vector<std::uint64_t>(flag_words(device::machine(target))));
      const Call call{p, in.data(), out.data(), nullptr, flags.data()};
      for (const ladder::AnyRung* rung : ladder::rungs_of("reduce_axis")) {
        if (!ladder::why_not(*rung, flavour).empty()) continue;
        std::vector<std::vector<std::uint32_t>> runs;
        for (unsigned run = 0; run < 4; ++run) {
          stream.executor_threads = 1 + run % 3;
          rung->launcher(flavour)(call, stream);
          stream.synchronize();
          auto& bits = runs.emplace_back();
          for (const float x : out.download()) bits.push_back(std::bit_cast<std::uint32_t>(x));
        }
        EXPECT_EQ(std::ranges::count(runs, runs[0]), 4) << rung->id;
      }
    }
  }
}

// What a rung with a fault would do, one fault each.
enum class Fault { none, last_left_out, last_tie, flag_left, behind, to_the_input };
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  const Problem& p = call.problem;
  const bool rows = p.lines == Lines::rows;
  for (std::int64_t i = 0; i < p.results(); ++i) {
    std::vector<float> line;
    for (std::int64_t k = 0; k < p.length() - (planted == Fault::last_left_out); ++k) {
      line.push_back(call.in[rows ? i * p.ld + k : k * p.ld + i]);
    }
    const ops::Reduced right = ops::reduced(p.function, line);
    if (!is_place(p.function)) {
      call.values[i] = static_cast<float>(right.value.value);
      continue;
    }
    call.places[i] = right.place;
    for (std::size_t k = 0; planted == Fault::last_tie && k < line.size(); ++k) {
      if (line[k] == line[static_cast<std::size_t>(right.place)]) {
        call.places[i] = static_cast<std::int64_t>(k);
      }
    }
  }
  if (planted == Fault::flag_left)
    call.flags[flag_words(device::machine(runtime::Target::cpu)) - 1] = 1;
  if (planted == Fault::behind && !is_place(p.function)) call.values[p.results()] = 1;
  if (planted == Fault::to_the_input && p.rows * p.columns > 0) const_cast<float*>(call.in)[0] = 7;
}

std::size_t failures() {
  ladder::AnyRung rung;
  rung.op = "reduce_axis";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("reduce_axis"), &rung}};
  return lab::verify(request)[0].failures();
}

TEST(ReduceAxisJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  EXPECT_EQ(failures(), 0);
  for (const Fault fault : {Fault::last_left_out, Fault::last_tie, Fault::flag_left, Fault::behind,
                            Fault::to_the_input}) {
    planted = fault;
    EXPECT_GT(failures(), 0) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace warpladder::reduce_axis
