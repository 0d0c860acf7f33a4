#pragma once
// What decides how fast a sparse matrix can be multiplied. It is how long its rows are, how far
// from the diagonal they reach, and where in the matrix the stored entries lie.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/csr_matrix.hpp"

namespace warpladder::spmv {

// The rows of shortest to longest entries: 0, 1, 2 to 3, 4 to 7 and so on.
struct LengthBin {
  std::int64_t shortest = 0, longest = 0;
  std::int64_t rows = 0, nnz = 0;

  bool operator==(const LengthBin&) const = default;
};

// Of a matrix without rows, all are 0.
struct RowStatistics {
  std::int64_t rows = 0, columns = 0, nnz = 0;
  std::int64_t empty_rows = 0, shortest = 0, longest = 0;
  double mean = 0, median = 0;  // of an even number of rows: between the two in the middle
  // The least length that 90 (99) of 100 rows do not exceed.
  std::int64_t percentile_90 = 0, percentile_99 = 0;
  double standard_deviation = 0;        // of these rows, not estimated for others
  double coefficient_of_variation = 0;  // standard_deviation / mean; 0 if nothing is stored
  std::vector<LengthBin> histogram;     // from 0 to the bin of the longest, none left out
};

// `row_offsets` as in CsrMatrix.
RowStatistics row_statistics(std::span<const std::int64_t> row_offsets, std::int64_t columns);

// One sentence of what decides between the rungs, without a full stop.
std::string summary(const RowStatistics& s);

// The greatest |row - column| of a stored entry; 0 if there is none.
std::int64_t bandwidth(const CsrMatrix& matrix);

// How many sectors of x, of eight floats, 32 neighbouring stored entries touch. It is the mean of
// up to 4,096 such runs, evenly spread; 0 if there is none. 32 / 8 = 4 is the least for distinct
// columns.
double sectors_of_x(const CsrMatrix& matrix);

// A matrix cut into rows x columns cells that are as equal as can be, none of them empty. Entry
// (i, j) lies in cell (i * rows / matrix_rows, j * columns / matrix_columns).
struct DensityGrid {
  std::int64_t rows = 0, columns = 0;
  std::int64_t matrix_rows = 0, matrix_columns = 0;
  std::vector<std::int64_t> nnz;  // rows * columns, row by row

  std::int64_t nnz_at(std::int64_t row, std::int64_t column) const {
    return nnz[static_cast<std::size_t>(row * columns + column)];
  }
  // Stored entries as a share of the cell's places.
  double density_at(std::int64_t row, std::int64_t column) const;
};

// No more cells than asked for, nor than the matrix has rows and columns.
DensityGrid density_grid(const CsrMatrix& matrix, std::int64_t most_rows,
                         std::int64_t most_columns);

}  // namespace warpladder::spmv
