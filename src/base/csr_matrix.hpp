#pragma once
// A sparse matrix in compressed sparse rows (CSR), in host memory: fp32 values, 32-bit column
// indices, 64-bit row offsets.

#include <cstdint>
#include <vector>

namespace warpladder {

// Row i holds the stored entries row_offsets[i] to row_offsets[i + 1], both 0-based. Readers and
// generators sort each row by column and store no column twice; a stored value may be zero.
struct CsrMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> row_offsets = {0};  // rows + 1
  std::vector<std::int32_t> column_indices;     // nnz
  std::vector<float> values;                    // nnz

  std::int64_t nnz() const { return static_cast<std::int64_t>(values.size()); }

  bool operator==(const CsrMatrix&) const = default;
};

}  // namespace warpladder
