#include "ops/spmv/lab/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "base/matrix_market.hpp"
#include "base/random_fill.hpp"
#include "ops/spmv/lab/matrix_source.hpp"

namespace warpladder::spmv {
namespace {

class List {
 public:
  SpmvCase& add(const std::string& matrix) { return cases_.emplace_back(plain_spmv_case(matrix)); }
  SpmvCase& add(const std::string& matrix, const std::string& what) {
    SpmvCase& c = add(matrix);
    c.name += ", " + what;
    return c;
  }
  std::vector<SpmvCase> take() { return std::move(cases_); }

 private:
  std::vector<SpmvCase> cases_;
};

void add_patterns(List& list) {
  for (const char* matrix : {"uniform:rows=1,columns=1,per_row=1",
                             "uniform:rows=1,columns=1,per_row=0",
                             "uniform:rows=7,columns=3,per_row=2",
                             "uniform:rows=1000,per_row=5",
                             "uniform:rows=300,columns=5000,per_row=37",
                             "uniform:rows=20,columns=1000000,per_row=5",
                             "uniform:rows=5000,columns=40,per_row=1",
                             "stencil2d:n=60",
                             "stencil3d:n=14",
                             "banded:rows=2000,band=33",
                             "banded:rows=700,band=129",
                             "rmat:scale=11,edge=16",
                             "dense_rows:rows=4000,per_row=4,dense=3",
                             "arrow:rows=10000",
                             "dense_rows:rows=60000,per_row=17,dense=2",
                             "empty_rows:rows=9000",
                             "single_row:columns=30000",
                             "single_row:columns=5",
                             "single_column:rows=3000",
                             "power_law:rows=6000,per_row=6"}) {
    list.add(matrix);
  }
}

void add_settings(List& list) {
  const std::string skewed = "dense_rows:rows=1500,per_row=5,dense=2";
  SpmvCase* c = &list.add(skewed, "offsets of 64 bits");
  c->wide_offsets = true;
  c = &list.add(skewed, "alpha=-0.5 beta=2");
  c->alpha = -0.5f;
  c->beta = 2.0f;
  c = &list.add(skewed, "alpha=0 beta=3");
  c->alpha = 0.0f;
  c->beta = 3.0f;
  c = &list.add(skewed, "alpha=0");
  c->alpha = 0.0f;
  c = &list.add("empty_rows:rows=3000", "beta=0.25");
  c->beta = 0.25f;
  c = &list.add("uniform:rows=400,columns=50,per_row=0", "beta=2");
  c->beta = 2.0f;
  for (const int off : {1, 2, 3}) {
    c = &list.add("rmat:scale=9,edge=8", fmt::format("off alignment by {}", off));
    c->misalign_columns = c->misalign_values = c->misalign_x = c->misalign_y = off;
    c->misalign_offsets = 1;
  }
  c = &list.add(skewed, "values and columns aligned unlike");
  c->misalign_values = 1;
  c->misalign_columns = 2;
  c = &list.add(skewed, "NaN and infinities");
  c->filling = Filling::specials;
}

bool is_matrix_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".mtx") || name.ends_with(".mtx.gz");
}

}  // namespace

SpmvCase plain_spmv_case(const std::string& matrix) {
  SpmvCase c;
  // Of a file the name says enough.
  c.name = is_matrix_file(matrix) ? std::filesystem::path(matrix).filename().string() : matrix;
  c.matrix = matrix;
  return c;
}

CsrMatrix matrix_of_shape(const std::vector<std::int64_t>& shape) {
  const std::int64_t rows = shape[0], columns = shape[1], per_row = shape[2];
  if (rows < 0 || columns < 0 || per_row < 0 || per_row > columns ||
      columns > std::numeric_limits<std::int32_t>::max()) {
    throw_bad_input(
        fmt::format("spmv: a shape is ROWSxCOLUMNSxPER_ROW, with PER_ROW at most "
                    "COLUMNS, and those at most 2147483647; it is {}",
                    fmt::join(shape, "x")));
  }
  require_memory(16.0 * static_cast<double>(rows) * static_cast<double>(per_row) +
                     16.0 * static_cast<double>(rows),
                 fmt::format("spmv of {}", fmt::join(shape, "x")));
  CsrMatrix a;
  a.rows = rows;
  a.columns = columns;
  a.row_offsets.resize(static_cast<std::size_t>(rows) + 1);
  a.column_indices.resize(static_cast<std::size_t>(rows * per_row));
  a.values.resize(a.column_indices.size());
  const std::int64_t places = (columns - per_row) / 32 + 1;
  for (std::int64_t row = 0, at = 0; row < rows; ++row) {
    const std::int64_t first = row / 32 % places * 32;
    for (std::int64_t j = 0; j < per_row; ++j, ++at) {
      a.column_indices[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(first + j);
    }
    a.row_offsets[static_cast<std::size_t>(row) + 1] = at;
  }
  fill_uniform(a.values, 1, -1.0f, 1.0f);
  return a;
}

CsrMatrix matrix_of(const SpmvCase& c) {
  return c.shape.empty() ? load_matrix(c.matrix, "the matrix") : matrix_of_shape(c.shape);
}

UserMatrices matrices_of_user() {
  constexpr const char* kName = "WARPLADDER_MATRICES";
  UserMatrices matrices;
  const char* folder = std::getenv(kName);
  if (!folder || !*folder) return matrices;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!is_matrix_file(entry.path())) continue;
    const std::string path = entry.path().string();
    std::error_code absent;
    if (!entry.is_regular_file(absent)) {
      matrices.left_out.push_back(file_subject(path, kName) + " is no regular file");
    } else if (is_complex_matrix_market(path, kName)) {
      matrices.left_out.push_back(file_subject(path, kName) +
                                  " is complex, and only real matrices are read");
    } else {
      matrices.paths.push_back(path);
    }
  }
  if (error) {
    throw_bad_input(
        fmt::format("{}: {} cannot be read: {}", kName, in_quotes(folder), error.message()));
  }
  std::ranges::sort(matrices.paths);
  std::ranges::sort(matrices.left_out);
  return matrices;
}

std::vector<std::string> bench_matrices() {
  std::vector<std::string> matrices{"stencil2d:n=4096", "banded:rows=1000000,band=33",
                                    "uniform:rows=1000000,per_row=16", "rmat:scale=20,edge=16",
                                    "dense_rows:rows=1000000,per_row=8,dense=4"};
  for (std::string& path : matrices_of_user().paths) matrices.push_back(std::move(path));
  return matrices;
}

std::vector<SpmvCase> spmv_cases() {
  List list;
  add_patterns(list);
  add_settings(list);
  for (const std::string& path : matrices_of_user().paths) list.add(path);
  return list.take();
}

}  // namespace warpladder::spmv
