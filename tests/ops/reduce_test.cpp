// Reductions: the reference by hand values, the judge by planted faults, the same bits in every
// run.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "lab/verify.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ops::Reduced of(Function function, const std::vector<float>& in) {
  return ops::reduced(function, in);
}

TEST(ReduceReference, ByHand) {
  const std::vector<float> v{3, -1, 4, -1, 5};
  EXPECT_EQ(of(Function::sum, v).value.value, 10);
  EXPECT_EQ(of(Function::mean, v).value.value, 2);
  EXPECT_EQ(of(Function::min, v).value.value, -1);
  EXPECT_EQ(of(Function::max, v).value.value, 5);
  EXPECT_EQ(of(Function::argmin, v).place, 1);
  EXPECT_EQ(of(Function::argmax, v).place, 4);
  EXPECT_EQ(of(Function::min, v).value.bound, 0);
  // 3 levels and 12 more, of the 14 that the absolute values make.
  EXPECT_DOUBLE_EQ(of(Function::sum, v).value.bound, 15 * 14 / 16777216.0);
}

TEST(ReduceReference, OfNothing) {
  EXPECT_EQ(of(Function::sum, {}).value.value, 0);
  EXPECT_TRUE(std::isnan(of(Function::mean, {}).value.value));
  EXPECT_EQ(of(Function::min, {}).value.value, kInfinity);
  EXPECT_EQ(of(Function::max, {}).value.value, -kInfinity);
  EXPECT_EQ(of(Function::argmin, {}).place, -1);
  EXPECT_EQ(of(Function::argmax, {}).place, -1);
}

TEST(ReduceReference, NansInfinitiesAndTies) {
  for (const Function f : {Function::sum, Function::mean, Function::min, Function::max}) {
    EXPECT_TRUE(std::isnan(of(f, {1, kNan, 2}).value.value)) << parts::name(f);
  }
  EXPECT_EQ(of(Function::argmin, {1, kNan, -kInfinity, kNan}).place, 1);
  EXPECT_EQ(of(Function::argmax, {1, kNan, kInfinity, kNan}).place, 1);
  EXPECT_EQ(of(Function::argmin, {2, 1, 1}).place, 1);
  EXPECT_EQ(of(Function::argmax, {-0.0f, 0.0f}).place, 0);
  EXPECT_EQ(of(Function::argmax, {-kInfinity, -kInfinity}).place, 0);
}

TEST(Reduce, RefusesImpossibleSizes) {
  EXPECT_THROW(ops::validate(Problem{Function::sum, -1}), Error);
  EXPECT_THROW(ops::validate(Problem{Function::sum, std::numeric_limits<std::int64_t>::max()}),
               Error);
  EXPECT_NO_THROW(ops::validate(Problem{Function::sum, 0}));
}

TEST(Reduce, ZerosHaveAnOrder) {
  // Judged by value, zeros are equal; which one comes out is promised all the same.
  const runtime::Target cpu = runtime::Target::cpu;
  for (const ladder::AnyRung* rung : ladder::rungs_of("reduce")) {
    const device::Buffer<float> in(cpu, std::vector<float>{0.0f, -0.0f, -0.0f, 0.0f});
    const device::Buffer<float> out(cpu, 1);
    const device::Buffer<std::uint64_t> scratch(cpu, scratch_words(4));
    const device::Buffer<std::uint64_t> flags(cpu, std::vector<std::uint64_t>(kFlagWords));
    device::Stream stream(cpu);
    for (const Function f : {Function::min, Function::max}) {
      const Call call{{f, 4}, in.data(), out.data(), nullptr, scratch.data(), flags.data()};
      rung->launcher(runtime::Flavour::plain)(call, stream);
      EXPECT_EQ(std::signbit(*out.data()), f == Function::min) << rung->id;
    }
  }
}

TEST(Reduce, GivesTheSameBitsInEveryRun) {
  for (const runtime::Target target : {runtime::Target::cpu, runtime::Target::gpu}) {
    if (!device::availability(target).available) continue;
    const auto flavour =
        target == runtime::Target::gpu ? runtime::Flavour::gpu : runtime::Flavour::plain;
    const std::size_t n = 300007;
    device::Stream stream(target);
    const device::Buffer<float> in(target, n), out(target, 1);
    device::fill_uniform(stream, in.data(), n, 5, -1.0f, 1.0f);
    const device::Buffer<std::uint64_t> scratch(target, scratch_words(n));
    const device::Buffer<std::uint64_t> flags(target, std::vector<std::uint64_t>(kFlagWords));
    const Call call{{Function::sum, n}, in.data(),   out.data(), nullptr,
                    scratch.data(),     flags.data()};
    for (const ladder::AnyRung* rung : ladder::rungs_of("reduce")) {
      if (!ladder::why_not(*rung, flavour).empty()) continue;
      std::vector<std::uint32_t> bits;
      for (unsigned run = 0; run < 5; ++run) {
        stream.executor_threads = 1 + run % 3;
        rung->launcher(flavour)(call, stream);
        stream.synchronize();
        bits.push_back(std::bit_cast<std::uint32_t>(out.download()[0]));
      }
      EXPECT_EQ(std::ranges::count(bits, bits[0]), 5) << rung->id;
    }
  }
}

// What a rung with a fault would do, one fault each.
enum class Fault { none, last_left_out, last_tie, nan_lost, chain, flag_left, to_the_input };
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  const std::int64_t n = call.problem.n - (planted == Fault::last_left_out && call.problem.n > 0);
  std::vector<float> in(call.in, call.in + n);
  if (planted == Fault::nan_lost)
    std::ranges::replace_if(
        in, [](float x) { return x != x; }, 0.0f);
  const ops::Reduced right = ops::reduced(call.problem.function, in);
  if (call.value) *call.value = static_cast<float>(right.value.value);
  if (call.place) *call.place = right.place;
  if (planted == Fault::last_tie && call.place && n > 0) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (in[i] == in[right.place]) *call.place = i;
    }
  }
  if (planted == Fault::chain && call.problem.function == Function::sum) {
    *call.value = 0;
    for (const float x : in) *call.value += x;
  }
  if (planted == Fault::flag_left) call.flags[2] = 1;
  if (planted == Fault::to_the_input && n > 0) const_cast<float*>(call.in)[0] += 1.0f;
}

std::size_t failures() {
  ladder::AnyRung rung;
  rung.op = "reduce";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("reduce"), &rung}};
  return lab::verify(request)[0].failures();
}

TEST(ReduceJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  EXPECT_EQ(failures(), 0);
  for (const Fault fault : {Fault::last_left_out, Fault::last_tie, Fault::nan_lost, Fault::chain,
                            Fault::flag_left, Fault::to_the_input}) {
    planted = fault;
    EXPECT_GT(failures(), 0) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace warpladder::reduce
