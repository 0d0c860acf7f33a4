#include "ops/reduce_axis/lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "ops/lab/reduction.hpp"
#include "ops/reduce_axis/lab/dispatch.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {
namespace {

using device::Buffer;

// A matrix in either order; the result is a vector. Places count along the axis.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "reduce_axis");
  const Function function = ops::function_of(values.text("op"));
  const std::string& axis = values.text("axis");
  if (axis != "0" && axis != "1") {
    throw_bad_input(fmt::format("--axis must be 0 or 1, not {}", in_quotes(axis, kShownBytes)));
  }
  if (!options.has_out) throw_bad_input("--axis leaves a vector; --out must say where to");
  const ops::NamedArray a = values.array("a");
  const ops::Matrix stored = matrix_of(a);
  // Fortran order is the row-major storage of the transpose, whose columns are the rows.
  const bool fortran = a.array.fortran_order;
  const ops::Matrix by_rows = stored.transposed_if(fortran);
  const bool rows = (axis == "1") != fortran;
  const Problem p{function, rows ? Lines::rows : Lines::columns, by_rows.rows, by_rows.columns,
                  std::max<std::int64_t>(1, by_rows.columns)};
  ops::require_values(function, p.results(), p.length(), a.name);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  const auto results = static_cast<std::size_t>(p.results());
  require_memory(ops::host_bytes(target, static_cast<double>(a.array.data.size()), 0),
                 fmt::format("reduce of {}", stored.text()));

  const bool place = is_place(function);
  const Buffer<float> in(target, a.array.data), out(target, place ? 0 : results);
  const Buffer<std::int64_t> places(target, place ? results : 0);
  Buffer<std::uint64_t> flags(target, flag_words(device::machine(target)));
  flags.fill_bytes(0);
  const Call call{p, in.data(), out.data(), places.data(), flags.data()};
  const double time_s = timed(rung, flavour, call, options).launch;
  return {.rung = &rung,
          .flavour = flavour,
          .shape = {stored.rows, stored.columns},
          .time_s = time_s,
          .out = {{p.results()}, false, out.download()},
          .places = places.download(),
          .details = {{"function", parts::name(function)}}};
}

}  // namespace

// Shares its command with reduce, whose flags it lists too.
const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{
      .command = ops::kReduceCommand,
      .summary = "Each line of a matrix",
      .flags = {ops::array_flag("a"),
                ops::function_flag(),
                {"axis", "0|1", "Of a matrix: 0 leaves a value for each column, 1 for each row"}},
      .needs_out = false,
      .selected_by = "axis",
      .run = run};
  return capability;
}

}  // namespace warpladder::reduce_axis
