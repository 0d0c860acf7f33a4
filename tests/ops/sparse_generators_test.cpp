// Each generator beside what its matrix is by definition: entry by entry where it is regular, in
// counts and shares where it is random.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "base/testing.hpp"
#include "ops/spmv/lab/generators.hpp"
#include "ops/spmv/lab/matrix_source.hpp"
#include "ops/spmv/lab/row_statistics.hpp"

namespace warpladder::spmv {
namespace {

using testing::sentence_of;

using Rows = std::vector<std::vector<std::int32_t>>;

Rows rows_of(const CsrMatrix& m) {
  Rows rows;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    rows.emplace_back(m.column_indices.begin() + m.row_offsets[i],
                      m.column_indices.begin() + m.row_offsets[i + 1]);
  }
  return rows;
}

// What base/csr_matrix.hpp promises, or why not.
std::string fault_of(const CsrMatrix& m) {
  if (static_cast<std::int64_t>(m.row_offsets.size()) != m.rows + 1) return "offsets miss rows";
  if (m.row_offsets.front() != 0 || m.row_offsets.back() != m.nnz()) return "offsets miss entries";
  if (m.column_indices.size() != m.values.size()) return "columns and values differ in number";
  for (std::int64_t i = 0; i < m.rows; ++i) {
    if (m.row_offsets[i] > m.row_offsets[i + 1]) return "offsets descend";
    for (std::int64_t at = m.row_offsets[i]; at < m.row_offsets[i + 1]; ++at) {
      if (m.column_indices[at] < 0 || m.column_indices[at] >= m.columns) return "outside";
      if (at > m.row_offsets[i] && m.column_indices[at - 1] >= m.column_indices[at]) {
        return "a row is not sorted, or has a column twice";
      }
    }
  }
  const auto is_outside = [](float value) { return !(value >= -1.0f && value < 1.0f); };
  return std::ranges::any_of(m.values, is_outside) ? "a value is outside [-1, 1)" : "";
}

// The entries for which `is_stored` holds, one by one.
CsrMatrix expect_exactly(const std::string& spec, std::int64_t rows, std::int64_t columns,
                         const std::function<bool(std::int64_t, std::int64_t)>& is_stored) {
  const CsrMatrix m = generate(spec);
  EXPECT_EQ(fault_of(m), "") << spec;
  EXPECT_EQ(m.rows, rows) << spec;
  EXPECT_EQ(m.columns, columns) << spec;
  Rows wanted(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (is_stored(i, j)) wanted[i].push_back(static_cast<std::int32_t>(j));
    }
  }
  EXPECT_EQ(rows_of(m), wanted) << spec;
  return m;
}

bool has_symmetric_pattern(const CsrMatrix& m) {
  std::set<std::pair<std::int64_t, std::int64_t>> entries;
  const Rows rows = rows_of(m);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (const std::int32_t j : rows[i]) entries.emplace(i, j);
  }
  return std::ranges::all_of(entries, [&](const auto& e) {
    return entries.contains({e.second, e.first});
  });
}

// Small, and of every kind.
const std::vector<std::string> kSmall{"stencil2d:n=40",
                                      "stencil3d:n=13",
                                      "banded:rows=3000,band=7",
                                      "uniform:rows=3000,columns=500,per_row=9",
                                      "uniform:rows=2100,columns=20,per_row=15",
                                      "rmat:scale=11,edge=40",
                                      "dense_rows:rows=2500,per_row=3,dense=5",
                                      "arrow:rows=3000",
                                      "empty_rows:rows=5000,run=40,per_row=6",
                                      "single_row:columns=3000",
                                      "single_column:rows=3000",
                                      "power_law:rows=5000,per_row=6"};

TEST(SparseGenerators, AllKindsAreTried) {
  for (const Generator& each : generators()) {
    EXPECT_TRUE(std::ranges::any_of(kSmall, [&](const std::string& spec) {
      return spec.starts_with(each.name + ":");
    })) << each.name;
  }
}

TEST(SparseGenerators, KeepTheFormOfCsr) {
  for (const std::string& spec : kSmall) EXPECT_EQ(fault_of(generate(spec)), "") << spec;
}

TEST(SparseGenerators, TheCheckOfTheFormFindsFaults) {
  const CsrMatrix good = generate("banded:rows=5,band=3");
  CsrMatrix bad = good;
  std::swap(bad.column_indices[0], bad.column_indices[1]);
  EXPECT_NE(fault_of(bad), "");
  bad = good;
  bad.column_indices[1] = bad.column_indices[0];
  EXPECT_NE(fault_of(bad), "");
  bad = good;
  bad.column_indices.back() = 5;
  EXPECT_NE(fault_of(bad), "");
  bad = good;
  bad.values[3] = 1.0f;
  EXPECT_NE(fault_of(bad), "");
  bad = good;
  ++bad.row_offsets.back();
  EXPECT_NE(fault_of(bad), "");
}

TEST(SparseGenerators, SameTextSameBitsOnAnyNumberOfThreads) {
  for (const std::string& spec : kSmall) {
    const CsrMatrix one = spmv::generate(spec, {}, 1);
    for (const unsigned threads : {0u, 2u, 5u}) {
      EXPECT_EQ(spmv::generate(spec, {}, threads), one) << spec << " on " << threads;
    }
  }
}

// Results name specs, so that a spec must stay the same matrix. These came with the first version.
TEST(SparseGenerators, SameTextSameMatrixForEver) {
  const CsrMatrix m = generate("uniform:rows=3,columns=20,per_row=4,seed=7");
  EXPECT_EQ(rows_of(m), (Rows{{4, 9, 10, 16}, {1, 2, 14, 19}, {0, 5, 9, 17}}));
  EXPECT_EQ(m.values[0], 0x1.d181e8p-1f);
}

TEST(SparseGenerators, SeedsDiffer) {
  for (const std::string& spec : kSmall) {
    const CsrMatrix a = generate(spec), b = generate(spec + ",seed=2");
    EXPECT_NE(a.values, b.values) << spec;
    const bool is_regular = !spec.starts_with("uniform") && !spec.starts_with("rmat") &&
                            !spec.starts_with("dense_rows") && !spec.starts_with("empty_rows") &&
                            !spec.starts_with("power_law");
    EXPECT_EQ(a.column_indices == b.column_indices, is_regular) << spec;
  }
}

TEST(SparseGenerators, ValuesAreUniform) {
  const CsrMatrix m = generate("single_row:columns=100000");
  double sum = 0, squares = 0;
  for (const float value : m.values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / 100000, 0, 0.01);
  EXPECT_NEAR(squares / 100000, 1.0 / 3, 0.01);
}

TEST(SparseGenerators, Stencil2dByHand) {
  //  0 1 2
  //  3 4 5
  //  6 7 8
  EXPECT_EQ(rows_of(generate("stencil2d:n=3")), (Rows{{0, 1, 3},
                                                      {0, 1, 2, 4},
                                                      {1, 2, 5},
                                                      {0, 3, 4, 6},
                                                      {1, 3, 4, 5, 7},
                                                      {2, 4, 5, 8},
                                                      {3, 6, 7},
                                                      {4, 6, 7, 8},
                                                      {5, 7, 8}}));
}

TEST(SparseGenerators, StencilsJoinPointsOneStepApart) {
  const auto far = [](std::int64_t i, std::int64_t j, std::int64_t n) {
    return std::abs(i % n - j % n) + std::abs(i / n % n - j / n % n) +
           std::abs(i / n / n - j / n / n);
  };
  for (const std::int64_t n : {0, 1, 2, 3, 4, 6}) {
    const CsrMatrix plane =
        expect_exactly("stencil2d:n=" + std::to_string(n), n * n, n * n,
                       [&](std::int64_t i, std::int64_t j) { return far(i, j, n) <= 1; });
    const CsrMatrix space =
        expect_exactly("stencil3d:n=" + std::to_string(n), n * n * n, n * n * n,
                       [&](std::int64_t i, std::int64_t j) { return far(i, j, n) <= 1; });
    EXPECT_EQ(plane.nnz(), 5 * n * n - 4 * n);
    EXPECT_EQ(space.nnz(), 7 * n * n * n - 6 * n * n);
    EXPECT_TRUE(has_symmetric_pattern(plane) && has_symmetric_pattern(space));
  }
}

TEST(SparseGenerators, BandedIsAllOfTheBand) {
  for (const std::int64_t rows : {0, 1, 2, 9}) {
    for (const std::int64_t band : {1, 3, 5, 17, 19, 101}) {
      const CsrMatrix m = expect_exactly(
          "banded:rows=" + std::to_string(rows) + ",band=" + std::to_string(band), rows, rows,
          [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) <= (band - 1) / 2; });
      EXPECT_TRUE(has_symmetric_pattern(m));
    }
  }
  EXPECT_EQ(generate("banded:rows=4,band=9223372036854775807").nnz(), 16);
}

TEST(SparseGenerators, ArrowIsFirstRowFirstColumnDiagonal) {
  for (const std::int64_t rows : {0, 1, 2, 7}) {
    const CsrMatrix m =
        expect_exactly("arrow:rows=" + std::to_string(rows), rows, rows,
                       [](std::int64_t i, std::int64_t j) { return i == 0 || j == 0 || i == j; });
    EXPECT_TRUE(has_symmetric_pattern(m));
  }
}

TEST(SparseGenerators, OneRowOneColumn) {
  const auto always = [](std::int64_t, std::int64_t) { return true; };
  for (const std::int64_t n : {0, 1, 5}) {
    expect_exactly("single_row:columns=" + std::to_string(n), 1, n, always);
    expect_exactly("single_column:rows=" + std::to_string(n), n, 1, always);
  }
}

TEST(SparseGenerators, UniformHasAsManyInEachRow) {
  // Drawn from few columns and from many, by what is taken and by what is left out.
  for (const std::int64_t per_row : {0, 1, 3, 5, 6, 9, 10}) {
    const CsrMatrix m = generate("uniform:rows=50,columns=10,per_row=" + std::to_string(per_row));
    EXPECT_EQ(fault_of(m), "");
    const Rows rows = rows_of(m);
    for (const auto& row : rows) EXPECT_EQ(std::ssize(row), per_row);
  }
  EXPECT_EQ(generate("uniform:rows=7,per_row=2").columns, 7);
}

TEST(SparseGenerators, UniformPrefersNoColumn) {
  // 20000 draws of 3 (or 7) among 10 columns: each is expected in 6000 (14000) rows, give or take
  // 65 by chance.
  for (const std::int64_t per_row : {3, 7}) {
    const CsrMatrix m =
        generate("uniform:rows=20000,columns=10,per_row=" + std::to_string(per_row));
    std::vector<std::int64_t> seen(10, 0);
    for (const std::int32_t column : m.column_indices) ++seen[column];
    for (const std::int64_t count : seen) EXPECT_NEAR(count, 2000 * per_row, 5 * 65);
  }
}

TEST(SparseGenerators, RmatFallsIntoQuartersByItsChances) {
  const CsrMatrix m = generate("rmat:scale=20,edge=1");
  EXPECT_EQ(fault_of(m), "");
  EXPECT_EQ(m.rows, 1 << 20);
  EXPECT_EQ(m.columns, 1 << 20);
  EXPECT_LE(m.nnz(), 1 << 20);
  EXPECT_GE(m.nnz(), 0.95 * (1 << 20)) << "few twins";
  const DensityGrid quarters = density_grid(m, 2, 2);
  const auto share = [&](int row, int column) {
    return static_cast<double>(quarters.nnz_at(row, column)) / static_cast<double>(m.nnz());
  };
  EXPECT_NEAR(share(0, 0), 0.57, 0.02);
  EXPECT_NEAR(share(0, 1), 0.19, 0.01);
  EXPECT_NEAR(share(1, 0), 0.19, 0.01);
  EXPECT_NEAR(share(1, 1), 0.05, 0.01);
}

TEST(SparseGenerators, RmatMergesTwins) {
  // 4 places and 4000 edges: all are met, and met once.
  EXPECT_EQ(rows_of(generate("rmat:scale=1,edge=2000")), (Rows{{0, 1}, {0, 1}}));
  EXPECT_EQ(generate("rmat:scale=0,edge=5").nnz(), 1);
  EXPECT_EQ(generate("rmat:scale=3,edge=0").nnz(), 0);
}

TEST(SparseGenerators, DenseRowsAreSpread) {
  const CsrMatrix m = generate("dense_rows:rows=100,per_row=2,dense=4");
  EXPECT_EQ(m.nnz(), 4 * 100 + 96 * 2);
  const Rows rows = rows_of(m);
  std::vector<std::size_t> dense;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() == 100) dense.push_back(i);
  }
  EXPECT_EQ(dense, (std::vector<std::size_t>{12, 37, 62, 87}));
  EXPECT_EQ(generate("dense_rows:rows=6,per_row=1,dense=6").nnz(), 36);
  EXPECT_EQ(generate("dense_rows:rows=6,per_row=1,dense=0").nnz(), 6);
  EXPECT_EQ(generate("dense_rows:rows=0,per_row=0,dense=0").nnz(), 0);
}

TEST(SparseGenerators, EmptyRowsComeInRuns) {
  const Rows rows = rows_of(generate("empty_rows:rows=48,run=5,per_row=3"));
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_empty = i % 8 < 5 || i == 47;
    EXPECT_EQ(rows[i].empty(), is_empty) << i;
    EXPECT_LE(rows[i].size(), 3u);
    lengths.insert(rows[i].size());
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(generate("empty_rows:rows=9,run=9223372036854775807").nnz(), 0);
}

TEST(SparseGenerators, PowerLawFollowsZipf) {
  const CsrMatrix m = generate("power_law:rows=100000,per_row=8");
  const RowStatistics s = row_statistics(m.row_offsets, m.columns);
  EXPECT_EQ(s.empty_rows, 80000);
  EXPECT_NEAR(s.mean, 8, 0.01);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    lengths.push_back(m.row_offsets[i + 1] - m.row_offsets[i]);
  }
  std::ranges::sort(lengths, std::greater{});
  EXPECT_GT(lengths[0], 10000);
  for (const std::int64_t rank : {2, 3, 10, 100, 1000}) {
    EXPECT_EQ(lengths[rank - 1], lengths[0] / rank) << rank;
  }
  // The filled rows are everywhere: 2000 of 10000 in each tenth, give or take 40 by chance.
  for (std::int64_t tenth = 0; tenth < 10; ++tenth) {
    const auto first = m.row_offsets.begin() + tenth * 10000;
    std::int64_t filled = 0;
    for (std::int64_t i = 0; i < 10000; ++i) filled += first[i + 1] > first[i];
    EXPECT_NEAR(filled, 2000, 5 * 40);
  }
}

TEST(SparseGenerators, PowerLawAtItsEnds) {
  EXPECT_EQ(generate("power_law:rows=0").nnz(), 0);
  EXPECT_EQ(generate("power_law:rows=1,per_row=1").nnz(), 1);
  EXPECT_EQ(generate("power_law:rows=100,per_row=20").nnz(), 2000) << "all filled rows are full";
}

TEST(SparseGenerators, DefaultsAreInTheForm) {
  for (const Generator& each : generators()) {
    EXPECT_TRUE(names_generator(each.name) && names_generator(each.form())) << each.name;
    EXPECT_NE(each.idea, "") << each.name;
    EXPECT_EQ(each.keys.back().name, "seed") << each.name;
  }
  const auto form_of = [](std::string_view name) {
    return std::ranges::find(generators(), name, &Generator::name)->form();
  };
  EXPECT_EQ(form_of("banded"), "banded:rows=1000000,band=33,seed=1");
  EXPECT_EQ(form_of("uniform"), "uniform:rows=1000000,per_row=16,seed=1");
  EXPECT_EQ(generate("stencil3d").rows, 128 * 128 * 128);
  EXPECT_FALSE(names_generator("") || names_generator("band") || names_generator("=banded"));
}

TEST(SparseGenerators, RefuseInASentence) {
  const auto refusal = [](const std::string& spec) {
    return sentence_of([&] { generate(spec, "--a"); });
  };
  EXPECT_EQ(refusal("foo:rows=3"),
            "--a 'foo:rows=3' names no generator; the generators are: stencil2d, stencil3d, "
            "banded, uniform, rmat, dense_rows, arrow, empty_rows, single_row, single_column, "
            "power_law");
  EXPECT_EQ(refusal("arrow:row=3"),
            "--a 'arrow:row=3': arrow has no key 'row'; it has: rows, seed; did you mean rows?");
  EXPECT_EQ(refusal("arrow:"), "--a 'arrow:' lacks a key, as in arrow:rows=1000000,seed=1");
  EXPECT_SAYS("lacks a key", refusal("arrow:rows=3,"));
  EXPECT_EQ(refusal("arrow:rows"),
            "--a 'arrow:rows': 'rows' has no '='; write it as in arrow:rows=1000000,seed=1");
  EXPECT_EQ(refusal("arrow:rows=3,rows=3"),
            "--a 'arrow:rows=3,rows=3': rows is given more than once");
  EXPECT_SAYS("--a 'arrow:rows=x': rows is 'x', but", refusal("arrow:rows=x"));
  EXPECT_SAYS("rows is empty", refusal("arrow:rows="));
  EXPECT_SAYS("cannot be negative", refusal("arrow:rows=-4"));
  EXPECT_SAYS("digits only", refusal("arrow:rows=1e6"));
  EXPECT_SAYS("no key ' rows'", refusal("arrow: rows=3"));
  EXPECT_SAYS("overflows", refusal("arrow:rows=9223372036854775808"));
  for (const char* name : {"arrow", "banded", "uniform", "dense_rows", "empty_rows", "power_law"}) {
    EXPECT_SAYS(": rows is 2147483648, but the greatest is 2147483647, because column indices have",
                refusal(std::string(name) + ":rows=2147483648"));
  }
  EXPECT_SAYS("columns is 2147483648, but", refusal("single_row:columns=2147483648"));
  EXPECT_SAYS("columns is 2147483648, but", refusal("uniform:rows=3,columns=2147483648"));
  EXPECT_SAYS("n is 46341, but the greatest is 46340", refusal("stencil2d:n=46341"));
  EXPECT_SAYS("n is 1291, but the greatest is 1290", refusal("stencil3d:n=1291"));
  EXPECT_SAYS("n is 9223372036854775807, but", refusal("stencil3d:n=9223372036854775807"));
  EXPECT_SAYS("scale is 31, but the greatest is 30", refusal("rmat:scale=31"));
  EXPECT_SAYS("band is 4, but must be odd", refusal("banded:band=4"));
  EXPECT_SAYS("band is 0, but must be odd", refusal("banded:band=0"));
  EXPECT_SAYS("per_row is 16, but the greatest is 3, because there are no more columns",
              refusal("uniform:rows=3"));
  EXPECT_SAYS("per_row is 16, but the greatest is 5", refusal("uniform:columns=5"));
  EXPECT_SAYS("dense is 4, but the greatest is 3", refusal("dense_rows:rows=3,per_row=1"));
  EXPECT_SAYS("per_row is 8, but the greatest is 7", refusal("dense_rows:rows=7"));
  EXPECT_SAYS("run is 0, but the least is 1", refusal("empty_rows:run=0"));
  EXPECT_SAYS("per_row is 0, but the least is 1", refusal("empty_rows:per_row=0"));
  EXPECT_SAYS("per_row is 4, but the greatest is 3", refusal("empty_rows:rows=3"));
  EXPECT_SAYS("per_row is 0, but the least is 1", refusal("power_law:per_row=0"));
  EXPECT_SAYS("per_row is 8, but the greatest is 2, because four rows",
              refusal("power_law:rows=9"));
  EXPECT_SAYS(R"('arrow:\x1b[31m': '\x1b[31m')", refusal("arrow:\x1b[31m"));
  EXPECT_EQ(sentence_of([] { generate("arrow:rows="); }).find("'arrow:rows=': rows is empty"), 0u);
}

TEST(SparseGenerators, RefuseWhatTheMemoryCannotHold) {
  for (const char* spec :
       {"rmat:scale=30,edge=100000", "rmat:edge=9223372036854775807", "dense_rows:dense=1000000",
        "banded:rows=2000000000,band=2000000001", "uniform:rows=9223372036854775807,columns=16",
        "uniform:rows=2147483647,per_row=2147483647", "single_column:rows=9223372036854775807",
        "power_law:rows=2147483647,per_row=400000000"}) {
    EXPECT_SAYS("GB of memory", sentence_of([&] { generate(spec); }, ErrorCode::resource)) << spec;
  }
}

TEST(MatrixSource, TellsFilesFromSpecs) {
  EXPECT_EQ(load_matrix("banded:rows=5,band=3", "--a"), generate("banded:rows=5,band=3"));
  EXPECT_SAYS("--a 'bander' is neither a file nor a generator; the generators are: stencil2d, ",
              sentence_of([] { load_matrix("bander", "--a"); }));
  EXPECT_SAYS("--a '' is neither", sentence_of([] { load_matrix("", "--a"); }));
  EXPECT_SAYS("--a 'arrow:rows=x': rows is 'x'",
              sentence_of([] { load_matrix("arrow:rows=x", "--a"); }));
  for (const char* path : {"absent.mtx", "absent.mtx.gz", "absent/arrow"}) {
    const std::string sentence = sentence_of([&] { load_matrix(path, "--a"); });
    EXPECT_SAYS(path, sentence);
    EXPECT_EQ(sentence.find("generator"), std::string::npos) << "it was read as a file";
  }
}

TEST(MatrixSource, ReadsAFile) {
  const testing::TempDir folder;
  const std::string path = folder.file("m.mtx");
  testing::spill(path, "%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 0.5\n1 2 -4\n");
  const CsrMatrix m = load_matrix(path, "--a");
  EXPECT_EQ(m, (CsrMatrix{2, 3, {0, 1, 2}, {1, 2}, {-4.0f, 0.5f}}));
}

}  // namespace
}  // namespace warpladder::spmv
