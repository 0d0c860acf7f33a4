// Statistics beside values worked out by hand, and beside plain counting.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ops/spmv/lab/generators.hpp"
#include "ops/spmv/lab/row_statistics.hpp"

namespace warpladder::spmv {
namespace {

using Bins = std::vector<LengthBin>;

RowStatistics of_lengths(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return row_statistics(offsets, 100);
}

TEST(RowStatistics, ByHand) {
  const RowStatistics s = of_lengths({3, 0, 1, 8, 0});
  EXPECT_EQ(s.rows, 5);
  EXPECT_EQ(s.columns, 100);
  EXPECT_EQ(s.nnz, 12);
  EXPECT_EQ(s.empty_rows, 2);
  EXPECT_EQ(s.shortest, 0);
  EXPECT_EQ(s.longest, 8);
  EXPECT_DOUBLE_EQ(s.mean, 2.4);
  EXPECT_DOUBLE_EQ(s.median, 1);
  EXPECT_EQ(s.percentile_90, 8);
  EXPECT_EQ(s.percentile_99, 8);
  // Squares of 0.6, 2.4, 1.4, 5.6 and 2.4: 0.36 + 5.76 + 1.96 + 31.36 + 5.76 = 45.2.
  EXPECT_NEAR(s.standard_deviation, std::sqrt(45.2 / 5), 1e-12);
  EXPECT_NEAR(s.coefficient_of_variation, std::sqrt(45.2 / 5) / 2.4, 1e-12);
  EXPECT_EQ(s.histogram,
            (Bins{{0, 0, 2, 0}, {1, 1, 1, 1}, {2, 3, 1, 3}, {4, 7, 0, 0}, {8, 15, 1, 8}}));
}

TEST(RowStatistics, MedianOfAnEvenNumberLiesBetween) {
  EXPECT_DOUBLE_EQ(of_lengths({1, 4}).median, 2.5);
  EXPECT_DOUBLE_EQ(of_lengths({9, 2, 5, 4}).median, 4.5);
  EXPECT_DOUBLE_EQ(of_lengths({7}).median, 7);
}

TEST(RowStatistics, PercentilesAreLengthsThatRowsHave) {
  std::vector<std::int64_t> lengths(100);
  std::iota(lengths.begin(), lengths.end(), 1);
  std::swap(lengths[3], lengths[95]);
  EXPECT_EQ(of_lengths(lengths).percentile_90, 90);
  EXPECT_EQ(of_lengths(lengths).percentile_99, 99);
  lengths.push_back(101);  // 90.9 and 99.99 rows
  EXPECT_EQ(of_lengths(lengths).percentile_90, 91);
  EXPECT_EQ(of_lengths(lengths).percentile_99, 100);
}

TEST(RowStatistics, OfNothing) {
  const RowStatistics none = row_statistics(CsrMatrix{}.row_offsets, 4);
  EXPECT_EQ(none.rows, 0);
  EXPECT_EQ(none.columns, 4);
  EXPECT_TRUE(none.histogram.empty());
  const RowStatistics empty = of_lengths({0, 0});
  EXPECT_EQ(empty.empty_rows, 2);
  EXPECT_EQ(empty.mean, 0);
  EXPECT_EQ(empty.coefficient_of_variation, 0) << "not NaN";
  EXPECT_EQ(empty.histogram, (Bins{{0, 0, 2, 0}}));
}

TEST(RowStatistics, CountsPast32Bits) {
  constexpr std::int64_t kMany = 5'000'000'000;
  const RowStatistics s = of_lengths({kMany, kMany, 1});
  EXPECT_EQ(s.nnz, 2 * kMany + 1);
  EXPECT_EQ(s.longest, kMany);
  EXPECT_DOUBLE_EQ(s.median, static_cast<double>(kMany));
  EXPECT_EQ(s.histogram.back(),
            (LengthBin{std::int64_t{1} << 32, (std::int64_t{1} << 33) - 1, 2, 2 * kMany}));
  const RowStatistics most = of_lengths({std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(most.histogram.back().longest, std::numeric_limits<std::int64_t>::max());
}

TEST(Bandwidth, IsTheFarthestEntry) {
  EXPECT_EQ(bandwidth(CsrMatrix{}), 0);
  EXPECT_EQ(bandwidth(generate("banded:rows=50,band=9")), 4);
  EXPECT_EQ(bandwidth(generate("arrow:rows=50")), 49);
  EXPECT_EQ(bandwidth(generate("stencil2d:n=7")), 7);
  EXPECT_EQ(bandwidth(generate("stencil3d:n=5")), 25);
  // Row 0 reaches 2 to the right, row 3 reaches 3 to the left; row 2 is empty.
  EXPECT_EQ(bandwidth({4, 4, {0, 2, 3, 3, 5}, {0, 2, 1, 0, 3}, {1, 1, 1, 1, 1}}), 3);
}

TEST(DensityGrid, ByHand) {
  // 4 x 6 in 2 x 3 cells of 2 x 2: rows 0 and 1 hold (0,0) (0,1) (1,1) | (1,5), row 3 holds (3,2).
  const CsrMatrix m{4, 6, {0, 2, 4, 4, 5}, {0, 1, 1, 5, 2}, {1, 1, 1, 1, 1}};
  const DensityGrid grid = density_grid(m, 2, 3);
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.columns, 3);
  EXPECT_EQ(grid.nnz, (std::vector<std::int64_t>{3, 0, 1, 0, 1, 0}));
  EXPECT_DOUBLE_EQ(grid.density_at(0, 0), 0.75);
  EXPECT_DOUBLE_EQ(grid.density_at(0, 2), 0.25);
  EXPECT_DOUBLE_EQ(grid.density_at(1, 0), 0);
}

TEST(DensityGrid, CellsOfUnequalSizeCoverAll) {
  // A full matrix is full in every cell, however the sizes divide.
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{7, 5}, {3, 100}, {1, 1}}) {
    const CsrMatrix m =
        generate("uniform:rows=" + std::to_string(rows) + ",columns=" + std::to_string(columns) +
                 ",per_row=" + std::to_string(columns));
    for (std::int64_t cells = 1; cells < 9; ++cells) {
      const DensityGrid grid = density_grid(m, cells, cells);
      EXPECT_EQ(grid.rows, std::min(cells, rows));
      EXPECT_EQ(grid.columns, std::min(cells, columns));
      EXPECT_EQ(std::reduce(grid.nnz.begin(), grid.nnz.end()), rows * columns);
      for (std::int64_t i = 0; i < grid.rows; ++i) {
        for (std::int64_t j = 0; j < grid.columns; ++j) EXPECT_DOUBLE_EQ(grid.density_at(i, j), 1);
      }
    }
  }
}

TEST(DensityGrid, OfNothing) {
  EXPECT_TRUE(density_grid(CsrMatrix{}, 4, 4).nnz.empty());
  EXPECT_TRUE(density_grid(generate("single_row:columns=0"), 4, 4).nnz.empty());
}

TEST(SectorsOfX, ByHand) {
  const auto of_columns = [](std::vector<std::int32_t> columns) {
    CsrMatrix a;
    a.rows = 1;
    a.columns = 1 << 20;
    a.row_offsets = {0, static_cast<std::int64_t>(columns.size())};
    a.values.assign(columns.size(), 1.0f);
    a.column_indices = std::move(columns);
    return sectors_of_x(a);
  };
  std::vector<std::int32_t> together(32), apart(32), both;
  std::iota(together.begin(), together.end(), 64);
  for (int i = 0; i < 32; ++i) apart[static_cast<std::size_t>(i)] = 80 * i;
  EXPECT_EQ(of_columns(together), 4);
  EXPECT_EQ(of_columns(apart), 32);
  EXPECT_EQ(of_columns({apart.begin(), apart.end() - 1}), 0);  // no run of 32
  // Runs lie evenly: of 63 entries one run begins at the first.
  both = apart;
  both.insert(both.end(), together.begin(), together.end() - 1);
  EXPECT_EQ(of_columns(both), 32);
  // Two runs: entries 0 to 31, and 17 to 48 with 15 sectors of the first kind, 3 of the second.
  both = apart;
  both.insert(both.end(), together.begin(), together.end());
  EXPECT_EQ(of_columns(both), (32 + 18) / 2);
}

}  // namespace
}  // namespace warpladder::spmv
