#pragma once
// Makes a matrix in compressed sparse rows from entries in any order.

#include <cstdint>
#include <string>
#include <vector>

#include "base/csr_matrix.hpp"

namespace warpladder {

struct SparseEntry {
  std::int64_t row;
  std::int32_t column;
  float value;
};

// What an entry (i, j) beside the diagonal says of (j, i).
enum class Mirror { none, same, negated };

struct CsrAssembly {
  CsrMatrix matrix;
  std::int64_t duplicates =
      0;  // entries added to an earlier one of their place; mirrored: pairs once
  std::int64_t explicit_zeros = 0;
};

// Entries of one place are added up in double in the order of the chunks, and the sum is rounded.
// All indices must lie in the matrix. `chunks` are freed on the way. `name` begins the sentences:
// there is too little memory, or a sum is beyond fp32.
CsrAssembly assemble_csr(std::int64_t rows, std::int64_t columns,
                         std::vector<std::vector<SparseEntry>> chunks, Mirror mirror,
                         unsigned threads, const std::string& name);

}  // namespace warpladder
