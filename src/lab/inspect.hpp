#pragma once
// What a sparse matrix looks like, in numbers and in cells. Drawing is matrix_picture.hpp's part,
// printing the caller's.

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
  // As wide and high as the matrix is: `fine` of square cells, `coarse` of characters, which are
  // twice as high as they are wide.
  spmv::DensityGrid fine, coarse;
};

Inspection inspect(const CsrMatrix& matrix, std::string name);

}  // namespace warpladder::lab
