#pragma once
// Matrices and fillings: one list for tests, verify and bench.

#include <string>
#include <vector>

#include "base/csr_matrix.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

enum class Filling {
  uniform,   // in [-1, 1)
  specials,  // NaN and infinities among values, x and y
};

struct SpmvCase {
  std::string name;
  std::string matrix;  // a file or a generator's text (matrix_source.hpp); empty: that of `shape`
  std::vector<std::int64_t> shape;
  bool wide_offsets = false;
  float alpha = 1.0f, beta = 0.0f;
  Filling filling = Filling::uniform;
  // Elements by which operands lie off a 256-byte boundary.
  int misalign_offsets = 0, misalign_columns = 0, misalign_values = 0, misalign_x = 0,
      misalign_y = 0;
};

// The matrix of a shape ROWSxCOLUMNSxPER_ROW: rows of PER_ROW neighbouring columns, which stay the
// same for 32 rows and then move on by 32. Throws Error(bad_input) where that does not fit.
CsrMatrix matrix_of_shape(const std::vector<std::int64_t>& shape);
CsrMatrix matrix_of(const SpmvCase& c);

SpmvCase plain_spmv_case(const std::string& matrix);
std::vector<SpmvCase> spmv_cases();

// Every .mtx and .mtx.gz in the folder that the environment's WARPLADDER_MATRICES names, in the
// order of their names. Those of complex numbers, which an fp32 product cannot take, are left out,
// and what is no regular file: a sentence each. Throws Error(bad_input) where the folder cannot be
// read, or a file's banner is at fault.
struct UserMatrices {
  std::vector<std::string> paths, left_out;
};
UserMatrices matrices_of_user();
// What bench runs unless it is told: five large ones from generators, and the user's.
std::vector<std::string> bench_matrices();

}  // namespace warpladder::spmv
