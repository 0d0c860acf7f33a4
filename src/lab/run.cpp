#include "lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/matrix_market.hpp"
#include "base/npy_header.hpp"
#include "lab/selection.hpp"
#include "ops/lab/checked.hpp"
#include "ops/reduce/lab/dispatch.hpp"
#include "ops/reduce_axis/lab/dispatch.hpp"
#include "ops/sgemm/lab/dispatch.hpp"
#include "ops/sgemv/lab/dispatch.hpp"
#include "ops/spmv/lab/dispatch.hpp"
#include "ops/spmv/lab/operands.hpp"
#include "ops/transpose/lab/dispatch.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::lab {
namespace {

using device::Buffer;
using sgemm::Problem;

struct Matrix {
  std::int64_t rows, columns;
  Matrix transposed_if(bool condition) const { return condition ? Matrix{columns, rows} : *this; }
  std::string text() const { return fmt::format("{}x{}", rows, columns); }
};

void require_dimensions(const NamedArray& x, std::size_t dimensions, const char* kind) {
  const auto& shape = x.array.shape;
  if (shape.size() != dimensions) {
    throw_bad_input(fmt::format("{} has {} {} {}, but a {} has {}", x.name, shape.size(),
                                shape.size() == 1 ? "dimension:" : "dimensions:",
                                format_npy_shape(shape), kind, dimensions));
  }
}

Matrix matrix_of(const NamedArray& x) {
  require_dimensions(x, 2, "matrix");
  return {x.array.shape[0], x.array.shape[1]};
}

std::int64_t size_of_vector(const NamedArray& x) {
  require_dimensions(x, 1, "vector");
  return x.array.shape[0];
}

// "--a 'A.npy' is 3x4, transposed 4x3": what the user sees in the file, and what is multiplied.
std::string describe(const NamedArray& x, bool transposed) {
  const Matrix stored = matrix_of(x);
  const std::string note = transposed ? ", transposed " + stored.transposed_if(true).text() : "";
  return fmt::format("{} is {}{}", x.name, stored.text(), note);
}

// What --beta multiplies is there if and only if --beta asks for it.
void require_old(const std::optional<NamedArray>& old, const char* argument, float beta) {
  if (!old && beta != 0.0f) {
    throw_bad_input(
        fmt::format("--beta is {:g}, so {} must say what it multiplies", beta, argument));
  }
  if (old && beta == 0.0f) throw_bad_input(old->name + " would be ignored, because --beta is 0");
}

Problem problem_of(const RunSgemmRequest& r) {
  const Matrix a = matrix_of(r.a).transposed_if(r.trans_a);
  const Matrix b = matrix_of(r.b).transposed_if(r.trans_b);
  if (a.columns != b.rows) {
    throw_bad_input(
        fmt::format("{} and {}: the {} columns of the one do not fit the {} rows of the other",
                    describe(r.a, r.trans_a), describe(r.b, r.trans_b), a.columns, b.rows));
  }
  require_old(r.c, "--c", r.beta);
  if (r.c) {
    const Matrix c = matrix_of(*r.c);
    if (c.rows != a.rows || c.columns != b.columns) {
      throw_bad_input(fmt::format("{}, but {} and {}: their product is {}x{}",
                                  describe(*r.c, false), describe(r.a, r.trans_a),
                                  describe(r.b, r.trans_b), a.rows, b.columns));
    }
  }
  // Fortran order is the storage of the transpose by rows: nothing is copied, the flag is flipped.
  return sgemm::compact(a.rows, b.columns, a.columns, sgemm::Layout::row_major,
                        r.trans_a != r.a.array.fortran_order, r.trans_b != r.b.array.fortran_order,
                        r.alpha, r.beta);
}

sgemv::Problem problem_of(const RunSgemvRequest& r) {
  const Matrix stored = matrix_of(r.a), a = stored.transposed_if(r.trans_a);
  if (const std::int64_t x = size_of_vector(r.x); x != a.columns) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} columns",
                                describe(r.a, r.trans_a), r.x.name, x, a.columns));
  }
  require_old(r.y, "--y", r.beta);
  if (r.y && size_of_vector(*r.y) != a.rows) {
    throw_bad_input(fmt::format("{}, but {} has {} elements: they do not fit its {} rows",
                                describe(r.a, r.trans_a), r.y->name, r.y->array.shape[0], a.rows));
  }
  const auto layout =
      r.a.array.fortran_order ? sgemv::Layout::column_major : sgemv::Layout::row_major;
  return sgemv::compact(stored.rows, stored.columns, layout, r.trans_a, r.alpha, r.beta);
}

spmv::Problem problem_of(const RunSpmvRequest& r) {
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

// C has no transpose flag, so here Fortran order costs a copy.
std::vector<float> by_rows(const NpyArray& x, std::size_t rows, std::size_t columns) {
  std::vector<float> out(x.data.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] = x.data[i + j * rows];
  }
  return out;
}

runtime::Flavour flavour_of(const ladder::AnyRung& rung, runtime::Target target) {
  const runtime::Flavour flavour = flavours_on(target, false).front();
  if (const std::string why_not = ladder::why_not(rung, flavour); !why_not.empty()) {
    throw_resource(fmt::format("{} cannot run on the {}: {}", rung.full_name(),
                               device::name(target), why_not));
  }
  return flavour;
}

struct Seconds {
  double launch = 0.0, preparation = 0.0;
};
Seconds timed(const ladder::AnyRung& rung, runtime::Flavour flavour, ladder::AnyCall call,
              const RunOptions& options) {
  if (const std::string why_not = ladder::why_not(rung, call); !why_not.empty()) {
    throw_bad_input(fmt::format("{} cannot run this: {}", rung.full_name(), why_not));
  }
  device::Stream stream(options.target);
  stream.executor_threads = options.executor_threads;
  const auto seconds_of = [&](ladder::Launcher launch) {
    device::Timer timer(stream);
    timer.start();
    launch(call, stream);
    timer.stop();
    stream.synchronize();
    return timer.seconds();
  };
  Seconds seconds;
  const ladder::Launcher prepare = rung.preparation(flavour);
  if (prepare) seconds.preparation = seconds_of(prepare);
  seconds.launch = seconds_of(rung.launcher(flavour));
  return seconds;
}

// On the CPU the operands' device memory is host memory, too.
double host_bytes(runtime::Target target, double device_elements, double host_elements) {
  const double on_device = target == runtime::Target::cpu ? device_elements : 0.0;
  return sizeof(float) * (on_device + host_elements);
}

}  // namespace

RunResult run_sgemm(const RunSgemmRequest& r) {
  const Problem p = problem_of(r);
  const sgemm::Problem::Footprint f = ops::footprint(p);
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : sgemm::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  const auto c_elements = static_cast<double>(f.c_elements);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements);
  const std::size_t workspace_bytes =
      rung.arithmetic.tensor_cores() ? sgemm::workspace_bytes(p) : 0;
  const double in_workspace = static_cast<double>(workspace_bytes) / sizeof(float);
  require_memory(host_bytes(target, operands + c_elements + in_workspace, c_elements),
                 fmt::format("sgemm of {}x{}x{}", p.m, p.n, p.k));

  const Buffer<float> a(target, r.a.array.data), b(target, r.b.array.data);
  Buffer<float> c(target, static_cast<std::size_t>(f.c_elements));
  if (r.c && r.c->array.fortran_order) {
    c.upload(by_rows(r.c->array, static_cast<std::size_t>(p.m), static_cast<std::size_t>(p.n)));
  } else if (r.c) {
    c.upload(r.c->array.data);
  }
  const device::Memory workspace(target, workspace_bytes);
  const sgemm::Call call{p, a.data(), b.data(), c.data(), workspace.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung, flavour, {p.m, p.n, p.k}, time_s, {{p.m, p.n}, false, c.download()}, {}};
}

RunResult run_sgemv(const RunSgemvRequest& r) {
  const sgemv::Problem p = problem_of(r);
  const sgemv::Problem::Footprint f = ops::footprint(p);
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : sgemv::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  const auto y_elements = static_cast<double>(f.y_elements);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.x_elements);
  require_memory(host_bytes(target, operands + y_elements, y_elements),
                 fmt::format("sgemv of {}x{}", p.m, p.n));

  const Buffer<float> a(target, r.a.array.data), x(target, r.x.array.data);
  Buffer<float> y(target, static_cast<std::size_t>(f.y_elements));
  if (r.y) {
    y.upload(r.y->array.data);
  } else {
    y.fill_bytes(0);  // the product of no terms, which the operator leaves to y as it is
  }
  Buffer<std::uint64_t> flags(target, static_cast<std::size_t>(sgemv::flag_words(p)));
  flags.fill_bytes(0);
  const Buffer<float> scratch(target, static_cast<std::size_t>(sgemv::scratch_elements(p)));
  const sgemv::Call call{p, a.data(), x.data(), y.data(), flags.data(), scratch.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung, flavour, {p.m, p.n}, time_s, {{sgemv::outputs(p)}, false, y.download()}, {}};
}

RunResult run_spmv(const RunSpmvRequest& r) {
  const spmv::Problem p = problem_of(r);
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : spmv::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  // In words of 4 bytes: values, columns and offsets, of 64 bits at most, both vectors.
  const auto rows = static_cast<double>(p.rows), columns = static_cast<double>(p.columns);
  require_memory(host_bytes(target, 2.0 * static_cast<double>(p.nnz) + 3.0 * rows + columns,
                            2.0 * rows + columns),
                 fmt::format("spmv of {}x{} with {} entries", p.rows, p.columns, p.nnz));

  const std::vector<float> ones(r.x ? 0 : static_cast<std::size_t>(p.columns), 1.0f);
  const std::vector<float> none(r.y ? 0 : static_cast<std::size_t>(p.rows), 0.0f);
  const spmv::Operands operands(target, p, r.a, r.x ? r.x->array.data : ones,
                                r.y ? r.y->array.data : none);
  const spmv::Call call = operands.call();
  const Seconds seconds = timed(rung, flavour, call, r.options);
  return {&rung,
          flavour,
          {p.rows, p.columns},
          seconds.launch,
          {{p.rows}, false, operands.y.download()},
          {},
          seconds.preparation};
}

RunResult run_vector_add(const RunVectorAddRequest& r) {
  const NpyArray &x = r.a.array, &y = r.b.array;
  if (x.shape != y.shape) {
    throw_bad_input(fmt::format("{} has the shape {} and {} the shape {}, but both must be equal",
                                r.a.name, format_npy_shape(x.shape), r.b.name,
                                format_npy_shape(y.shape)));
  }
  if (x.fortran_order != y.fortran_order && x.shape.size() > 1) {
    const auto order = [](const NpyArray& array) { return array.fortran_order ? "Fortran" : "C"; };
    throw_bad_input(fmt::format("{} is in {} order and {} in {} order, but both must be the same",
                                r.a.name, order(x), r.b.name, order(y)));
  }
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung =
      r.options.rung ? *r.options.rung : *ladder::rungs_of("vector_add").back();
  const runtime::Flavour flavour = flavour_of(rung, target);
  const auto n = static_cast<std::int64_t>(x.data.size());
  require_memory(host_bytes(target, 3.0 * static_cast<double>(n), static_cast<double>(n)),
                 fmt::format("vector_add of {} elements", n));

  const Buffer<float> a(target, x.data), b(target, y.data), c(target, x.data.size());
  const vector_add::Call call{n, a.data(), b.data(), c.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung, flavour, {n}, time_s, {x.shape, x.fortran_order, c.download()}, {}};
}

RunResult run_transpose(const RunTransposeRequest& r) {
  const Matrix stored = matrix_of(r.a);
  const bool fortran = r.a.array.fortran_order;
  // Fortran order is the storage of the transpose by rows, of the input and of the result.
  const Matrix by_rows_of = stored.transposed_if(fortran);
  const transpose::Problem p = transpose::compact(by_rows_of.rows, by_rows_of.columns);
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : transpose::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  const auto elements = static_cast<double>(r.a.array.data.size());
  require_memory(host_bytes(target, 2 * elements, elements),
                 fmt::format("transpose of {}", stored.text()));

  const Buffer<float> in(target, r.a.array.data), out(target, r.a.array.data.size());
  const transpose::Call call{p, in.data(), out.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung,
          flavour,
          {stored.rows, stored.columns},
          time_s,
          {{stored.columns, stored.rows}, fortran, out.download()},
          {}};
}

namespace {

RunResult run_reduce_axis(const RunReduceRequest& r) {
  const Matrix stored = matrix_of(r.a);
  // Fortran order is the storage of the transpose by rows, whose columns are the rows.
  const bool fortran = r.a.array.fortran_order;
  const Matrix by_rows_of = stored.transposed_if(fortran);
  const bool rows = (*r.axis == 1) != fortran;
  const reduce_axis::Problem p{
      r.function, rows ? reduce_axis::Lines::rows : reduce_axis::Lines::columns, by_rows_of.rows,
      by_rows_of.columns, std::max<std::int64_t>(1, by_rows_of.columns)};
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : reduce_axis::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  const auto results = static_cast<std::size_t>(p.results());
  require_memory(host_bytes(target, static_cast<double>(r.a.array.data.size()), 0),
                 fmt::format("reduce of {}", stored.text()));

  const bool place = parts::is_place(r.function);
  const Buffer<float> in(target, r.a.array.data), values(target, place ? 0 : results);
  const Buffer<std::int64_t> places(target, place ? results : 0);
  Buffer<std::uint64_t> flags(target, reduce_axis::flag_words(device::machine(target)));
  flags.fill_bytes(0);
  const reduce_axis::Call call{p, in.data(), values.data(), places.data(), flags.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung,
          flavour,
          {stored.rows, stored.columns},
          time_s,
          {{p.results()}, false, values.download()},
          places.download()};
}

}  // namespace

RunResult run_reduce(const RunReduceRequest& r) {
  if (r.axis) return run_reduce_axis(r);
  const NpyArray& x = r.a.array;
  const bool place = parts::is_place(r.function);
  if (place && x.fortran_order && x.shape.size() > 1) {
    throw_bad_input(
        fmt::format("{} is in Fortran order, but {} counts elements in C order: convert it with "
                    "numpy.ascontiguousarray(a)",
                    r.a.name, parts::name(r.function)));
  }
  const reduce::Problem p{r.function, static_cast<std::int64_t>(x.data.size())};
  const runtime::Target target = r.options.target;
  const ladder::AnyRung& rung = r.options.rung ? *r.options.rung : reduce::choose(p, target);
  const runtime::Flavour flavour = flavour_of(rung, target);
  require_memory(host_bytes(target, static_cast<double>(p.n), 0),
                 fmt::format("reduce of {} values", p.n));

  const Buffer<float> in(target, x.data), value(target, place ? 0 : 1);
  const Buffer<std::int64_t> at(target, place ? 1 : 0);
  const Buffer<std::uint64_t> scratch(target, reduce::scratch_words(p.n));
  Buffer<std::uint64_t> flags(target, reduce::kFlagWords);
  flags.fill_bytes(0);
  const reduce::Call call{p, in.data(), value.data(), at.data(), scratch.data(), flags.data()};
  const double time_s = timed(rung, flavour, call, r.options).launch;
  return {&rung, flavour, {p.n}, time_s, {{}, false, value.download()}, at.download()};
}

}  // namespace warpladder::lab
