#include "ops/spmv/lab/row_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "base/with_commas.hpp"
#include "ops/spmv/pattern.hpp"

namespace warpladder::spmv {
namespace {

// Consecutive numbers cut into equal parts: i lies in part i * parts / count.
std::int64_t first_of_part(std::int64_t part, std::int64_t parts, std::int64_t count) {
  return (part * count + parts - 1) / parts;
}

std::size_t bin_of(std::int64_t length) {
  return std::bit_width(static_cast<std::uint64_t>(length));
}

std::vector<LengthBin> histogram_of(const std::vector<std::int64_t>& lengths,
                                    std::int64_t longest) {
  std::vector<LengthBin> bins(bin_of(longest) + 1);
  for (std::size_t i = 1; i < bins.size(); ++i) {
    bins[i].shortest = std::int64_t{1} << (i - 1);
    bins[i].longest = 2 * (bins[i].shortest - 1) + 1;  // never passes 2^63 - 1
  }
  for (const std::int64_t length : lengths) {
    LengthBin& bin = bins[bin_of(length)];
    ++bin.rows;
    bin.nnz += length;
  }
  return bins;
}

// The length at `place` of the sorted ones; reorders them.
std::int64_t at_place(std::vector<std::int64_t>& lengths, std::size_t place) {
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(lengths.begin(), at, lengths.end());
  return *at;
}

std::int64_t percentile(std::vector<std::int64_t>& lengths, std::size_t percent) {
  return at_place(lengths, (lengths.size() * percent + 99) / 100 - 1);
}

}  // namespace

RowStatistics row_statistics(std::span<const std::int64_t> row_offsets, std::int64_t columns) {
  RowStatistics s;
  s.columns = columns;
  s.rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
  if (s.rows <= 0) return s;

  std::vector<std::int64_t> lengths(static_cast<std::size_t>(s.rows));
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = row_offsets[i + 1] - row_offsets[i];
  s.nnz = row_offsets.back() - row_offsets.front();
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  s.shortest = shortest;
  s.longest = longest;
  s.histogram = histogram_of(lengths, longest);
  s.empty_rows = s.histogram.front().rows;

  const auto count = static_cast<double>(s.rows);
  s.mean = static_cast<double>(s.nnz) / count;
  double squares = 0;
  for (const std::int64_t length : lengths) {
    const double off = static_cast<double>(length) - s.mean;
    squares += off * off;
  }
  s.standard_deviation = std::sqrt(squares / count);
  if (s.nnz > 0) s.coefficient_of_variation = s.standard_deviation / s.mean;

  const std::int64_t upper = at_place(lengths, lengths.size() / 2);
  const std::int64_t lower = at_place(lengths, (lengths.size() - 1) / 2);
  s.median = (static_cast<double>(lower) + static_cast<double>(upper)) / 2;
  s.percentile_90 = percentile(lengths, 90);
  s.percentile_99 = percentile(lengths, 99);
  return s;
}

std::string summary(const RowStatistics& s) {
  return fmt::format(
      "{}, {}, {}; to a row {:.4g} on average, {} at most; {} {} empty; coefficient of variation "
      "{:.2f}",
      count_of(s.rows, "row"), count_of(s.columns, "column"), count_of(s.nnz, "nonzero"), s.mean,
      with_commas(static_cast<std::uint64_t>(s.longest)), count_of(s.empty_rows, "row"),
      s.empty_rows == 1 ? "is" : "are", s.coefficient_of_variation);
}

std::int64_t bandwidth(const CsrMatrix& matrix) {
  std::int64_t widest = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t first = matrix.row_offsets[row], last = matrix.row_offsets[row + 1];
    if (first == last) continue;
    // A row is sorted: one of its ends lies farthest from the diagonal.
    for (const std::int64_t at : {first, last - 1}) {
      widest = std::max(widest, std::abs(row - matrix.column_indices[at]));
    }
  }
  return widest;
}

double sectors_of_x(const CsrMatrix& matrix) {
  const auto sample = std::make_unique<PatternSample>();
  constexpr std::int64_t kRun = PatternSample::kRun;
  const std::int64_t runs = sampled_runs(matrix.nnz()).runs;
  for (std::int64_t run = 0; run < runs; ++run) {
    const std::int64_t first = first_of_part(run, runs, matrix.nnz() - kRun + 1);
    std::copy_n(matrix.column_indices.begin() + first, kRun, sample->columns[run]);
  }
  sample->runs = runs;
  return sectors_of_x(*sample);
}

double DensityGrid::density_at(std::int64_t row, std::int64_t column) const {
  const auto size_of = [](std::int64_t part, std::int64_t parts, std::int64_t count) {
    return static_cast<double>(first_of_part(part + 1, parts, count) -
                               first_of_part(part, parts, count));
  };
  return static_cast<double>(nnz_at(row, column)) / size_of(row, rows, matrix_rows) /
         size_of(column, columns, matrix_columns);
}

DensityGrid density_grid(const CsrMatrix& matrix, std::int64_t most_rows,
                         std::int64_t most_columns) {
  DensityGrid grid{std::min(matrix.rows, most_rows),
                   std::min(matrix.columns, most_columns),
                   matrix.rows,
                   matrix.columns,
                   {}};
  grid.nnz.resize(static_cast<std::size_t>(grid.rows * grid.columns));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t first = matrix.row_offsets[row], last = matrix.row_offsets[row + 1];
    if (first == last) continue;
    std::int64_t* const cells = &grid.nnz[row * grid.rows / grid.matrix_rows * grid.columns];
    for (std::int64_t at = first; at < last; ++at) {
      ++cells[matrix.column_indices[at] * grid.columns / grid.matrix_columns];
    }
  }
  return grid;
}

}  // namespace warpladder::spmv
