#include "ops/vector_add/lab/run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/npy_header.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::vector_add {
namespace {

using device::Buffer;

void require_alike(const ops::NamedArray& a, const ops::NamedArray& b) {
  const NpyArray &x = a.array, &y = b.array;
  if (x.shape != y.shape) {
    throw_bad_input(fmt::format("{} has the shape {} and {} the shape {}, but both must be equal",
                                a.name, format_npy_shape(x.shape), b.name,
                                format_npy_shape(y.shape)));
  }
  if (x.fortran_order != y.fortran_order && x.shape.size() > 1) {
    const auto order = [](const NpyArray& array) { return array.fortran_order ? "Fortran" : "C"; };
    throw_bad_input(fmt::format("{} is in {} order and {} in {} order, but both must be the same",
                                a.name, order(x), b.name, order(y)));
  }
}

// Arrays of any shape, both in one order. The result has the same shape and order.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "vector_add");
  const ops::NamedArray a_array = values.array("a"), b_array = values.array("b");
  require_alike(a_array, b_array);
  const NpyArray& x = a_array.array;
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : *ladder::rungs_of("vector_add").back();
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  const auto n = static_cast<std::int64_t>(x.data.size());
  require_memory(ops::host_bytes(target, 3.0 * static_cast<double>(n), static_cast<double>(n)),
                 fmt::format("vector_add of {} elements", n));

  const Buffer<float> a(target, x.data), b(target, b_array.array.data), c(target, x.data.size());
  const Call call{n, a.data(), b.data(), c.data()};
  const double time_s = timed(rung, flavour, call, options).launch;
  return {.rung = &rung,
          .flavour = flavour,
          .shape = {n},
          .time_s = time_s,
          .out = {x.shape, x.fortran_order, c.download()}};
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{.command = "vector_add",
                                             .summary = "C = A + B, element by element",
                                             .flags = {ops::array_flag("a"), ops::array_flag("b")},
                                             .run = run};
  return capability;
}

}  // namespace warpladder::vector_add
