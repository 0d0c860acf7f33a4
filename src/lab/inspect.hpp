#pragma once
// A sparse matrix in numbers and in cells. matrix_picture.hpp draws it, and the caller prints it.

#include <cstdint>
#include <string>

#include "base/csr_matrix.hpp"
#include "ops/spmv/lab/row_statistics.hpp"

namespace warpladder::lab {

struct Inspection {
  std::string name;  // the file, or what the matrix was made from
  spmv::RowStatistics rows;
  std::int64_t bandwidth = 0;
  std::int64_t stored_zeros = 0;  // of the nonzeros, as sparse formats call what they store
  // In the matrix's proportions: `fine` has square cells, `coarse` has characters, which are twice
  // as high as wide.
  spmv::DensityGrid fine, coarse;
};

Inspection inspect(const CsrMatrix& matrix, std::string name);

}  // namespace warpladder::lab
