#include "lab/matrix_picture.hpp"

#include <gtest/gtest.h>

#include "ops/spmv/lab/generators.hpp"

namespace warpladder::lab {
namespace {

Inspection of(const std::string& spec) { return inspect(spmv::generate(spec), spec); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Inspect, GridsAreAsWideAndHighAsTheMatrix) {
  const auto expect_fine = [](const std::string& spec, std::int64_t rows, std::int64_t columns) {
    EXPECT_EQ(of(spec).fine.rows, rows) << spec;
    EXPECT_EQ(of(spec).fine.columns, columns) << spec;
  };
  expect_fine("banded:rows=1000", 128, 128);
  expect_fine("uniform:rows=500,columns=1000,per_row=1", 64, 128);
  expect_fine("uniform:rows=1000,columns=250,per_row=1", 128, 32);
  expect_fine("single_row:columns=1000", 1, 128);
  expect_fine("single_column:rows=1000", 128, 1);
  expect_fine("stencil2d:n=3", 9, 9);
  expect_fine("stencil2d:n=0", 0, 0);
  const Inspection square = of("banded:rows=1000");
  EXPECT_EQ(square.coarse.columns, 2 * square.coarse.rows) << "characters are high";
  EXPECT_EQ(square.bandwidth, 16);
  EXPECT_EQ(square.rows.longest, 33);
}

TEST(Shading, StepsAreFactorsOfFour) {
  // Cells of 1 x 1024 places with 1024, 256 + 1, 256, 64, 16, 4, 1 and 0 entries.
  spmv::DensityGrid grid{1, 8, 1, 8 * 1024, {1024, 257, 256, 64, 16, 4, 1, 0}};
  const Shading shading(grid);
  EXPECT_DOUBLE_EQ(shading.densest(), 1);
  std::vector<int> shades;
  for (std::int64_t column = 0; column < 8; ++column) shades.push_back(shading.at(0, column));
  EXPECT_EQ(shades, (std::vector<int>{5, 5, 4, 3, 2, 1, 1, 0}));
}

TEST(MatrixPicture, Texts) {
  EXPECT_EQ(label({0, 0, 0, 0}), "0");
  EXPECT_EQ(label({1, 1, 0, 0}), "1");
  EXPECT_EQ(label({1024, 2047, 0, 0}), "1,024–2,047");
  EXPECT_EQ(share_text(0, 7), "0 %");
  EXPECT_EQ(share_text(0, 0), "0 %");
  EXPECT_EQ(share_text(7, 7), "100 %");
  EXPECT_EQ(share_text(1, 8), "12.5 %");
  EXPECT_EQ(share_text(1, 100000), "< 0.1 %");
  EXPECT_EQ(share_text(99999, 100000), "> 99.9 %");
}

TEST(MatrixPicture, DrawsEveryStoredCell) {
  // Rows 0, 1, 2 of the fine grid: columns 0-1, 0-2, 1-2, each one stroke of the darkest shade.
  const std::string picture = svg(of("banded:rows=3,band=3"));
  EXPECT_EQ(count(picture, "M0 0h2v1h-2z"), 1u);
  EXPECT_EQ(count(picture, "M0 1h3v1h-3z"), 1u);
  EXPECT_EQ(count(picture, "M1 2h2v1h-2z"), 1u);
  EXPECT_EQ(count(picture, "<path class=\"s5\""), 1u);
  EXPECT_EQ(count(picture, "<path"), 1u);
}

TEST(MatrixPicture, DrawsBarsForRowsAndNonzeros) {
  // 100 rows of 2 to 3 entries (the first of 100): bars for those, and for 64 to 127.
  const std::string picture = svg(of("arrow:rows=100"));
  EXPECT_EQ(count(picture, "class=\"rows\""), 1u + 2u) << "with the one of the legend";
  EXPECT_EQ(count(picture, "class=\"nonzeros\""), 1u + 2u);
  EXPECT_EQ(count(picture, ">99.0 %<"), 1u);
  EXPECT_EQ(count(picture, ">64–127<"), 1u);
}

TEST(MatrixPicture, SameInspectionSameBytes) {
  for (const char* spec : {"rmat:scale=9", "stencil2d:n=0", "single_column:rows=50"}) {
    EXPECT_EQ(svg(of(spec)), svg(of(spec)));
  }
}

TEST(MatrixPicture, LongNamesKeepTheirEnd) {
  const std::string picture = svg(inspect(CsrMatrix{}, std::string(200, 'a') + "/größe.mtx"));
  EXPECT_EQ(count(picture, "a/größe.mtx</text>"), 1u);
  EXPECT_EQ(count(picture, ">…aaa"), 1u);
  EXPECT_EQ(count(picture, std::string(200, 'a')), 1u) << "whole only for who sees no picture";
}

}  // namespace
}  // namespace warpladder::lab
