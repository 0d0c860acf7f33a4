#pragma once
// Operators on the user's own arrays. Reading and writing files is the caller's part.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/npy.hpp"
#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::lab {

struct NamedArray {
  std::string name;  // what an error's sentence calls it, e.g. "--a 'A.npy'"
  NpyArray array;
};

// Where to run, and by which rung (null: the one that dispatch chooses).
struct RunOptions {
  device::Target target = device::Target::cpu;
  const ladder::Rung* rung = nullptr;
  unsigned executor_threads = 0;
};

struct RunSgemmRequest {
  NamedArray a, b;
  std::optional<NamedArray> c;  // needed if beta is not 0, refused if it is
  bool trans_a = false, trans_b = false;
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

struct RunResult {
  const ladder::Rung* rung = nullptr;
  device::Flavour flavour = device::Flavour::plain;
  std::vector<std::int64_t> shape;  // as the operator's shape_form() says
  double time_s = 0.0;              // of the one launch, copies apart
  NpyArray out;
};

// All throw Error(bad_input) for arrays that do not fit together and Error(resource) for too
// little memory or a rung that cannot run on the target.

// Each operand may be in C or in Fortran order; the result is in C order.
RunResult run_sgemm(const RunSgemmRequest& request);
// Arrays of any shape, both in the same order, which is also the result's.
RunResult run_vector_add(const RunVectorAddRequest& request);
// A matrix in either order, which is also the result's.
RunResult run_transpose(const RunTransposeRequest& request);

}  // namespace warpladder::lab
