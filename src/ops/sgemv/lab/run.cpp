#include "ops/sgemv/lab/run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "ops/lab/checked.hpp"
#include "ops/sgemv/lab/dispatch.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {
namespace {

using device::Buffer;
using ops::Matrix;
using ops::NamedArray;

struct Operands {
  NamedArray a, x;
  std::optional<NamedArray> y;
  bool trans_a;
  float alpha, beta;
};

Problem problem_of(const Operands& o) {
  const Matrix stored = matrix_of(o.a), a = stored.transposed_if(o.trans_a);
  if (const std::int64_t x = size_of_vector(o.x); x != a.columns) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} columns",
                                describe(o.a, o.trans_a), o.x.name, x, a.columns));
  }
  require_old(o.y, "--y", o.beta);
  if (o.y && size_of_vector(*o.y) != a.rows) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} rows",
                                describe(o.a, o.trans_a), o.y->name, o.y->array.shape[0], a.rows));
  }
  const Layout layout = o.a.array.fortran_order ? Layout::column_major : Layout::row_major;
  return compact(stored.rows, stored.columns, layout, o.trans_a, o.alpha, o.beta);
}

// A may be in C or in Fortran order. x, y and the result have one dimension.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "sgemv");
  const float alpha = values.number("alpha"), beta = values.number("beta");
  const Operands o{values.array("a"),
                   values.array("x"),
                   values.optional_array("y"),
                   values.has("transa"),
                   alpha,
                   beta};
  const Problem p = problem_of(o);
  const Problem::Footprint f = ops::footprint(p);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  const auto y_elements = static_cast<double>(f.y_elements);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.x_elements);
  require_memory(ops::host_bytes(target, operands + y_elements, y_elements),
                 fmt::format("sgemv of {}x{}", p.m, p.n));

  const Buffer<float> a(target, o.a.array.data), x(target, o.x.array.data);
  Buffer<float> y(target, static_cast<std::size_t>(f.y_elements));
  if (o.y) {
    y.upload(o.y->array.data);
  } else {
    y.fill_bytes(0);  // without terms the operator leaves y as it is, and the product is 0
  }
  Buffer<std::uint64_t> flags(target, static_cast<std::size_t>(flag_words(p)));
  flags.fill_bytes(0);
  const Buffer<float> scratch(target, static_cast<std::size_t>(scratch_elements(p)));
  const Call call{p, a.data(), x.data(), y.data(), flags.data(), scratch.data()};
  const double time_s = timed(rung, flavour, call, options).launch;
  return {.rung = &rung,
          .flavour = flavour,
          .shape = {p.m, p.n},
          .time_s = time_s,
          .out = {{outputs(p)}, false, y.download()},
          .details = {{"alpha", alpha}, {"beta", beta}, {"trans_a", o.trans_a}}};
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{
      .command = "sgemv",
      .summary = "y = alpha op(A) x + beta y",
      .flags = {ops::array_flag("a"),
                ops::array_flag("x"),
                ops::old_flag("y"),
                ops::alpha_flag(),
                ops::beta_flag(),
                {"transa", "", "Multiply by the transpose of A"}},
      .run = run};
  return capability;
}

}  // namespace warpladder::sgemv
