#include "lab/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpladder::lab {
namespace {

constexpr std::int64_t kFine = 128;                            // cells
constexpr std::int64_t kCoarseColumns = 72, kCoarseRows = 36;  // characters

// `most` shortened as the shorter side of the matrix is, though never to nothing.
std::int64_t in_proportion(std::int64_t most, std::int64_t side, std::int64_t longer_side) {
  if (side >= longer_side) return most;
  const double share = static_cast<double>(side) / static_cast<double>(longer_side);
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(most) * share));
}

spmv::DensityGrid grid_of(const CsrMatrix& matrix, std::int64_t most_rows,
                          std::int64_t most_columns) {
  return spmv::density_grid(matrix, in_proportion(most_rows, matrix.rows, matrix.columns),
                            in_proportion(most_columns, matrix.columns, matrix.rows));
}

}  // namespace

Inspection inspect(const CsrMatrix& matrix, std::string name) {
  return {std::move(name),
          spmv::row_statistics(matrix.row_offsets, matrix.columns),
          spmv::bandwidth(matrix),
          std::ranges::count(matrix.values, 0.0f),
          grid_of(matrix, kFine, kFine),
          grid_of(matrix, kCoarseRows, kCoarseColumns)};
}

}  // namespace warpladder::lab
