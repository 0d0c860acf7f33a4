#include "ops/transpose/lab/run.hpp"

#include <fmt/format.h>

#include "base/host_memory.hpp"
#include "ops/transpose/lab/dispatch.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {
namespace {

// A matrix in either order, which is also the order of the result.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "transpose");
  const ops::NamedArray a = values.array("a");
  const ops::Matrix stored = matrix_of(a);
  // Fortran order is the row-major storage of the transpose, of the input and of the result.
  const bool fortran = a.array.fortran_order;
  const ops::Matrix by_rows = stored.transposed_if(fortran);
  const Problem p = compact(by_rows.rows, by_rows.columns);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  const auto elements = static_cast<double>(a.array.data.size());
  require_memory(ops::host_bytes(target, 2 * elements, elements),
                 fmt::format("transpose of {}", stored.text()));

  const device::Buffer<float> in(target, a.array.data), out(target, a.array.data.size());
  const Call call{p, in.data(), out.data()};
  const double time_s = timed(rung, flavour, call, options).launch;
  return {.rung = &rung,
          .flavour = flavour,
          .shape = {stored.rows, stored.columns},
          .time_s = time_s,
          .out = {{stored.columns, stored.rows}, fortran, out.download()}};
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{.command = "transpose",
                                             .summary = "The transpose of a matrix, bit for bit",
                                             .flags = {ops::array_flag("a")},
                                             .run = run};
  return capability;
}

}  // namespace warpladder::transpose
