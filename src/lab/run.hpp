#pragma once
// Operators on the user's own arrays. Reading and writing files is the caller's part.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/csr_matrix.hpp"
#include "base/npy.hpp"
#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"
#include "parts/reduction_function.hpp"

namespace warpladder::lab {

struct NamedArray {
  std::string name;  // what an error's sentence calls it, e.g. "--a 'A.npy'"
  NpyArray array;
};

// Where to run, and by which rung (null: the one that dispatch chooses).
struct RunOptions {
  runtime::Target target = runtime::Target::cpu;
  const ladder::AnyRung* rung = nullptr;
  unsigned executor_threads = 0;
};

struct RunSgemmRequest {
  NamedArray a, b;
  std::optional<NamedArray> c;  // needed if beta is not 0, refused if it is
  bool trans_a = false, trans_b = false;
  float alpha = 1.0f, beta = 0.0f;
  RunOptions options;
};

struct RunSgemvRequest {
  NamedArray a, x;
  std::optional<NamedArray> y;  // needed if beta is not 0, refused if it is
  bool trans_a = false;
  float alpha = 1.0f, beta = 0.0f;
  RunOptions options;
};

struct RunSpmvRequest {
  std::string a_name;  // what an error's sentence calls it
  CsrMatrix a;
  std::optional<NamedArray> x;  // ones without it
  std::optional<NamedArray> y;  // needed if beta is not 0, refused if it is
  float alpha = 1.0f, beta = 0.0f;
  RunOptions options;
};

struct RunVectorAddRequest {
  NamedArray a, b;
  RunOptions options;
};

struct RunTransposeRequest {
  NamedArray a;
  RunOptions options;
};

struct RunReduceRequest {
  NamedArray a;
  parts::Function function = parts::Function::sum;
  std::optional<int> axis;  // of a matrix: 0 leaves a value for each column, 1 for each row
  RunOptions options;
};

struct RunResult {
  const ladder::AnyRung* rung = nullptr;
  runtime::Flavour flavour = runtime::Flavour::plain;
  // As the operator's shape_form() says; of a sparse matrix its rows and columns.
  std::vector<std::int64_t> shape;
  double time_s = 0.0;  // of the one launch, copies apart
  NpyArray out;
  std::vector<std::int64_t> places;  // instead of out.data, where the result is places
  double preparation_s = 0.0;        // of what the rung did once before, if anything
};

// All throw Error(bad_input) for arrays that do not fit together and Error(resource) for too
// little memory or a rung that cannot run on the target.

// Each operand may be in C or in Fortran order; the result is in C order.
RunResult run_sgemm(const RunSgemmRequest& request);
// A in C or in Fortran order; x, y and the result have one dimension.
RunResult run_sgemv(const RunSgemvRequest& request);
// x, y and the result have one dimension. A rung that prepares does so first.
RunResult run_spmv(const RunSpmvRequest& request);
// Arrays of any shape, both in the same order, which is also the result's.
RunResult run_vector_add(const RunVectorAddRequest& request);
// A matrix in either order, which is also the result's.
RunResult run_transpose(const RunTransposeRequest& request);
// All elements of an array of any shape; places count them in C order, which it then must have. The
// result is a scalar. With an axis, a matrix in either order; the result is a vector, places count
// along the axis. `options.rung` is one of "reduce", or with an axis of "reduce_axis".
RunResult run_reduce(const RunReduceRequest& request);

}  // namespace warpladder::lab
