#include "ops/spmv/lab/run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "base/matrix_market.hpp"
#include "ops/spmv/lab/dispatch.hpp"
#include "ops/spmv/lab/matrix_source.hpp"
#include "ops/spmv/lab/operands.hpp"

namespace warpladder::spmv {
namespace {

using ops::NamedArray;

struct Arrays {
  std::string a_name;
  CsrMatrix a;
  std::optional<NamedArray> x, y;
  float alpha, beta;
};

Problem problem_of(const Arrays& r) {
  const std::string a = fmt::format("{} is {}x{}", r.a_name, r.a.rows, r.a.columns);
  if (r.x && size_of_vector(*r.x) != r.a.columns) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} columns", a,
                                r.x->name, r.x->array.shape[0], r.a.columns));
  }
  if (!r.x && !is_credible_size(r.a.columns, r.a.nnz())) {
    throw_bad_input(fmt::format("{} with {} entries: an x of ones would be larger by far; give --x",
                                a, r.a.nnz()));
  }
  require_old(r.y, "--y", r.beta);
  if (r.y && size_of_vector(*r.y) != r.a.rows) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} rows", a,
                                r.y->name, r.y->array.shape[0], r.a.rows));
  }
  return spmv::problem_of(r.a, r.alpha, r.beta);
}

// x, y and the result have one dimension. x is all ones unless it is given.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "spmv");
  const float alpha = values.number("alpha"), beta = values.number("beta");
  const std::string& matrix = values.text("a");
  const Arrays r{file_subject(std::string_view(matrix).substr(0, kShownBytes), "--a"),
                 load_matrix(matrix, "--a"),
                 values.optional_array("x"),
                 values.optional_array("y"),
                 alpha,
                 beta};
  const Problem p = problem_of(r);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  // In words of 4 bytes: values, columns and offsets, of 64 bits at most, both vectors.
  const auto rows = static_cast<double>(p.rows), columns = static_cast<double>(p.columns);
  require_memory(ops::host_bytes(target, 2.0 * static_cast<double>(p.nnz) + 3.0 * rows + columns,
                                 2.0 * rows + columns),
                 fmt::format("spmv of {}x{} with {} entries", p.rows, p.columns, p.nnz));

  const std::vector<float> ones(r.x ? 0 : static_cast<std::size_t>(p.columns), 1.0f);
  const std::vector<float> none(r.y ? 0 : static_cast<std::size_t>(p.rows), 0.0f);
  const Operands operands(target, p, r.a, r.x ? r.x->array.data : ones,
                          r.y ? r.y->array.data : none);
  const Call call = operands.call();
  const ops::Seconds seconds = timed(rung, flavour, call, options);
  return {.rung = &rung,
          .flavour = flavour,
          .shape = {p.rows, p.columns},
          .time_s = seconds.launch,
          .out = {{p.rows}, false, operands.y.download()},
          .preparation_s = seconds.preparation,
          .details = {{"alpha", alpha}, {"beta", beta}, {"matrix", matrix}, {"nnz", r.a.nnz()}}};
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{
      .command = "spmv",
      .summary = "y = alpha A x + beta y, A sparse",
      .flags = {{"a", "FILE|SPEC", "A Matrix Market file, or a generator's text (see inspect)",
                 true},
                {"x", "FILE", "float32 .npy file (default: ones)"},
                ops::old_flag("y"),
                ops::alpha_flag(),
                ops::beta_flag()},
      .run = run};
  return capability;
}

}  // namespace warpladder::spmv
