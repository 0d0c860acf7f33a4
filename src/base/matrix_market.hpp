#pragma once
// Sparse matrices in NIST's Matrix Market format, plain or gzip (told by the first two bytes, not
// by the name). Errors are one sentence that begins with the argument (may be empty) and the file,
// and names the first line at fault.
//
// Coordinate and array files of real (or double), integer and pattern fields are read; general,
// symmetric and skew-symmetric ones. A banner that leaves the field out means real, one that leaves
// the symmetry out means general. Lines end with LF or CRLF; blank lines and comments, which begin
// with '%' and may follow an entry, may stand anywhere after the banner. One line holds one entry.
//
// - A value is the float nearest to the decimal number, without a double in between. Numbers that
//   are too small become 0; numbers that are too large, nan and inf are refused. A pattern's
//   entries are 1.
// - Coordinate entries may come in any order. Those of one place are added up in double, in the
//   file's order, and the sum is rounded to float. A zero that is written is stored.
// - An array is dense: its zeros are not stored. Symmetric ones hold the lower triangle column by
//   column, skew-symmetric ones the same without the diagonal.
// - A symmetric or skew-symmetric coordinate file should hold the lower triangle. The upper one is
//   read as well. Both in one file are refused, because a pair could count once or twice. A
//   diagonal entry of a skew-symmetric matrix must be 0.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/csr_matrix.hpp"

namespace warpladder {

enum class MatrixMarketFormat { coordinate, array };
enum class MatrixMarketField { real, integer, pattern };
enum class MatrixMarketSymmetry { general, symmetric, skew_symmetric };

struct MatrixMarket {
  CsrMatrix matrix;  // whole: a symmetric file's other half is in it
  MatrixMarketFormat format = MatrixMarketFormat::coordinate;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::int64_t stored_entries = 0;  // in the file
  std::int64_t duplicates = 0;      // of these, those added to an earlier one of their place
  std::int64_t explicit_zeros = 0;  // of the matrix's values, those that are 0
};

// How a file is read; the result does not depend on it.
struct MatrixMarketReading {
  std::size_t block_bytes = std::size_t{1} << 20;  // parsed at once; no line may be longer
  unsigned threads = 0;                            // 0: one for each of the machine's
};

// Whether a matrix with this many entries may claim so many rows or columns. Row offsets take
// memory for the claim alone.
inline constexpr std::int64_t kSizeBelieved = std::int64_t{1} << 24, kSizePerEntry = 1024;
constexpr bool is_credible_size(std::int64_t rows_or_columns, std::int64_t entries) {
  return rows_or_columns <= kSizeBelieved || rows_or_columns / kSizePerEntry <= entries;
}

// `path` may be a pipe. Memory grows with the entries that arrive, never with the claimed sizes.
// More than 2^24 rows need an entry for every 1024 of them (is_credible_size()).
MatrixMarket read_matrix_market(const std::string& path, std::string_view argument = {},
                                const MatrixMarketReading& reading = {});

// The same from memory; `name` begins the sentences.
MatrixMarket parse_matrix_market(std::span<const std::byte> bytes, std::string_view name,
                                 const MatrixMarketReading& reading = {});

// Whether the banner says complex or hermitian, which are refused. Throws for other faults of the
// banner. False for a file that cannot be read; reading it says why.
bool is_complex_matrix_market(const std::string& path, std::string_view argument = {});

// A general real coordinate file, row by row, in the fewest digits that read as the same floats.
// The file appears whole or not at all (base/atomic_file.hpp).
void write_matrix_market(const std::string& path, const CsrMatrix& matrix,
                         std::string_view argument = {});

}  // namespace warpladder
