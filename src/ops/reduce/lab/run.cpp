#include "ops/reduce/lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "ops/lab/host_function.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/lab/with_cuda.hpp"
#include "ops/reduce/lab/dispatch.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {

// cuda_fold.cpp: the library's reduction with a function of the user's.
float reduce_with_library(const std::string& expression, float identity, const NpyArray& x,
                          double* time_s);

namespace {

using device::Buffer;

// Null in a build without CUDA, which has no GPU to run on.
decltype(&reduce_with_library) library_reduction() {
  return WARPLADDER_WITH_CUDA(&reduce_with_library);
}

// --op as an expression of a and b, which --identity comes with. On the CPU g++ compiles it.
ops::RunResult run_expression(const ops::RunValues& values, const ops::RunOptions& options) {
  const std::string& expression = values.text("op");
  const auto& names = parts::kFunctionNames;
  if (std::ranges::find(names, expression) != std::end(names)) {
    throw_bad_input(
        fmt::format("--identity goes with an expression of a and b, not with --op {}", expression));
  }
  if (!options.rung.empty()) throw_bad_input("--rung does not go with an expression for --op");
  static const ladder::AnyRung rung{.op = "reduce", .id = "expression", .idea = "", .accepts = ""};
  const bool on_gpu = options.target == runtime::Target::gpu;
  const float identity = values.number("identity");
  std::optional<ops::HostFold> fold;
  if (!on_gpu) fold.emplace("--op", expression);
  const ops::NamedArray a = values.array("a");
  double time_s = 0;
  float value = identity;
  if (fold) {
    const auto begin = std::chrono::steady_clock::now();
    value = fold->of(a.array.data, identity);
    time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } else if (const auto with_library = library_reduction()) {
    value = with_library(expression, identity, a.array, &time_s);
  }
  return {.rung = &rung,
          .flavour = on_gpu ? runtime::Flavour::gpu : runtime::Flavour::plain,
          .shape = {static_cast<std::int64_t>(a.array.data.size())},
          .time_s = time_s,
          .out = {{}, false, {value}},
          .details = {{"expression", expression}, {"identity", identity}, {"value", value}}};
}

// An array of any shape; the result is a scalar. Places count in C order, which the array then must
// have.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  if (values.has("identity")) return run_expression(values, options);
  const ladder::AnyRung* const forced = forced_rung(options, "reduce");
  const Function function = ops::function_of(values.text("op"));
  const ops::NamedArray a = values.array("a");
  const NpyArray& x = a.array;
  const bool place = is_place(function);
  if (place && x.fortran_order && x.shape.size() > 1) {
    throw_bad_input(
        fmt::format("{} is in Fortran order, but {} counts elements in C order: convert it with "
                    "numpy.ascontiguousarray(a)",
                    a.name, parts::name(function)));
  }
  const Problem p{function, static_cast<std::int64_t>(x.data.size())};
  ops::require_values(function, 1, p.n, a.name);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  require_memory(ops::host_bytes(target, static_cast<double>(p.n), 0),
                 fmt::format("reduce of {} values", p.n));

  const Buffer<float> in(target, x.data), value(target, place ? 0 : 1);
  const Buffer<std::int64_t> at(target, place ? 1 : 0);
  const Buffer<std::uint64_t> scratch(target, scratch_words(p.n));
  Buffer<std::uint64_t> flags(target, kFlagWords);
  flags.fill_bytes(0);
  const Call call{p, in.data(), value.data(), at.data(), scratch.data(), flags.data()};
  const double time_s = timed(rung, flavour, call, options).launch;
  ops::RunResult result{.rung = &rung,
                        .flavour = flavour,
                        .shape = {p.n},
                        .time_s = time_s,
                        .out = {{}, false, value.download()},
                        .places = at.download(),
                        .details = {{"function", parts::name(function)}}};
  if (place) {
    result.details["place"] = result.places.front();
  } else {
    result.details["value"] = result.out.data.front();
  }
  return result;
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{
      .command = ops::kReduceCommand,
      .summary = "All elements of an array, or each line of a matrix",
      .flags = {ops::array_flag("a"),
                ops::function_flag(),
                {"identity", "X", "What --op joins with anything, where --op is an expression"}},
      .needs_out = false,
      .run = run};
  return capability;
}

}  // namespace warpladder::reduce
