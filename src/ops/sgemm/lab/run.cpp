#include "ops/sgemm/lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/host_function.hpp"
#include "ops/lab/with_cuda.hpp"
#include "ops/sgemm/lab/dispatch.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

// cuda_epilogue.cpp: the library's product with an epilogue; the seconds that it takes.
double multiply_with_epilogue(const Call& call, const std::string& expression,
                              const ops::RunOptions& options);

namespace {

using device::Buffer;
using ops::Matrix;
using ops::NamedArray;

struct Operands {
  NamedArray a, b;
  std::optional<NamedArray> c;
  bool trans_a, trans_b;
  float alpha, beta;
};

Problem problem_of(const Operands& o) {
  const Matrix a = matrix_of(o.a).transposed_if(o.trans_a);
  const Matrix b = matrix_of(o.b).transposed_if(o.trans_b);
  if (a.columns != b.rows) {
    throw_bad_input(
        fmt::format("{} and {}: the {} columns of the one do not fit the {} rows of the other",
                    describe(o.a, o.trans_a), describe(o.b, o.trans_b), a.columns, b.rows));
  }
  require_old(o.c, "--c", o.beta);
  if (o.c) {
    const Matrix c = matrix_of(*o.c);
    if (c.rows != a.rows || c.columns != b.columns) {
      throw_bad_input(fmt::format("{}, but {} and {}: their product is {}x{}",
                                  describe(*o.c, false), describe(o.a, o.trans_a),
                                  describe(o.b, o.trans_b), a.rows, b.columns));
    }
  }
  // Fortran order is the row-major storage of the transpose: flip the flag, copy nothing.
  return compact(a.rows, b.columns, a.columns, Layout::row_major,
                 o.trans_a != o.a.array.fortran_order, o.trans_b != o.b.array.fortran_order,
                 o.alpha, o.beta);
}

// C has no transpose flag, so Fortran order costs a copy.
std::vector<float> by_rows(const NpyArray& x, std::size_t rows, std::size_t columns) {
  std::vector<float> out(x.data.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] = x.data[i + j * rows];
  }
  return out;
}

// Null in a build without CUDA, which has no GPU to run on.
decltype(&multiply_with_epilogue) library_product() {
  return WARPLADDER_WITH_CUDA(&multiply_with_epilogue);
}

// What --epilogue asks for. On the CPU g++ compiles it, and it is applied to the finished C.
class Epilogue {
 public:
  Epilogue(const ops::RunValues& values, const ops::RunOptions& options) {
    if (!values.has("epilogue")) return;
    expression_ = values.text("epilogue");
    on_gpu_ = options.target == runtime::Target::gpu;
    if (!on_gpu_) {
      on_host_.emplace("--epilogue", expression_);
    } else if (!options.rung.empty()) {
      throw_bad_input(
          "--rung does not go with --epilogue on a GPU: the library chooses the kernel");
    }
  }
  // Runs the product; the epilogue with it, or on the host afterwards by finish().
  double time_s(const ladder::AnyRung& rung, runtime::Flavour flavour, const Call& call,
                const ops::RunOptions& options) const {
    const auto with_library = on_gpu_ ? library_product() : nullptr;
    if (with_library) return with_library(call, expression_, options);
    return timed(rung, flavour, call, options).launch;
  }
  void finish(ops::RunResult* result) const {
    if (on_host_) on_host_->apply(result->out.data);
    if (!expression_.empty()) result->details["epilogue"] = expression_;
  }

 private:
  std::string expression_;
  bool on_gpu_ = false;
  std::optional<ops::HostMap> on_host_;
};

// Each operand may be in C or in Fortran order. The result is in C order.
ops::RunResult run(const ops::RunValues& values, const ops::RunOptions& options) {
  const ladder::AnyRung* const forced = forced_rung(options, "sgemm");
  const float alpha = values.number("alpha"), beta = values.number("beta");
  const Epilogue epilogue(values, options);
  const Operands o{values.array("a"),
                   values.array("b"),
                   values.optional_array("c"),
                   values.has("transa"),
                   values.has("transb"),
                   alpha,
                   beta};
  const Problem p = problem_of(o);
  const Problem::Footprint f = ops::footprint(p);
  const runtime::Target target = options.target;
  const ladder::AnyRung& rung = forced ? *forced : choose(p, target);
  const runtime::Flavour flavour = ops::flavour_of(rung, target);
  const auto c_elements = static_cast<double>(f.c_elements);
  const double operands = static_cast<double>(f.a_elements) + static_cast<double>(f.b_elements);
  const std::size_t bytes = rung.arithmetic.tensor_cores() ? workspace_bytes(p) : 0,
                    of_prepared = rung.preparation(flavour) ? prepared_bytes(p) : 0;
  const double in_workspace = static_cast<double>(bytes + of_prepared) / sizeof(float);
  require_memory(ops::host_bytes(target, operands + c_elements + in_workspace, c_elements),
                 fmt::format("sgemm of {}x{}x{}", p.m, p.n, p.k));

  const Buffer<float> a(target, o.a.array.data), b(target, o.b.array.data);
  Buffer<float> c(target, static_cast<std::size_t>(f.c_elements));
  if (o.c && o.c->array.fortran_order) {
    c.upload(by_rows(o.c->array, static_cast<std::size_t>(p.m), static_cast<std::size_t>(p.n)));
  } else if (o.c) {
    c.upload(o.c->array.data);
  }
  Call call{p, a.data(), b.data(), c.data()};
  const device::Memory workspace(
      target, std::max(bytes, rung.workspace_for(call, device::machine(target))));
  call.workspace = workspace.data();
  const device::Memory prepared(target, of_prepared);
  call.prepared_b = prepared.data();
  const double time_s = epilogue.time_s(rung, flavour, call, options);
  ops::RunResult result{
      .rung = &rung,
      .flavour = flavour,
      .shape = {p.m, p.n, p.k},
      .time_s = time_s,
      .out = {{p.m, p.n}, false, c.download()},
      .details = {
          {"alpha", alpha}, {"beta", beta}, {"trans_a", o.trans_a}, {"trans_b", o.trans_b}}};
  epilogue.finish(&result);
  return result;
}

}  // namespace

const ops::RunCapability& run_capability() {
  static const ops::RunCapability capability{
      .command = "sgemm",
      .summary = "C = alpha op(A) op(B) + beta C",
      .flags = {ops::array_flag("a"),
                ops::array_flag("b"),
                ops::old_flag("c"),
                ops::alpha_flag(),
                ops::beta_flag(),
                {"transa", "", "Multiply by the transpose of A"},
                {"transb", "", "Multiply by the transpose of B"},
                {"epilogue", "EXPR", "Store this of each element x, e.g. 'x > 0 ? x : 0.1f*x'"}},
      .run = run};
  return capability;
}

}  // namespace warpladder::sgemm
