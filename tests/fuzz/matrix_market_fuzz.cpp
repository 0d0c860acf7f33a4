// Any bytes either parse to a matrix that keeps its promises, or are refused with an Error; so do
// they cut into small blocks. Build with clang++ -fsanitize=fuzzer,address,undefined
// -fno-sanitize-recover=all and run it on a copy of tests/fuzz/corpus/matrix_market, since
// libFuzzer adds files to its first directory. With other compilers, replay_main.cpp runs the
// corpus alone.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/matrix_market.hpp"

namespace {

using namespace warpladder;

// Unlike assert, holds in release builds; libFuzzer reports the abort with the input.
void require(bool condition) {
  if (!condition) std::abort();
}

void check(const MatrixMarket& file) {
  const CsrMatrix& matrix = file.matrix;
  require(matrix.rows >= 0 && matrix.columns >= 0);
  require(matrix.row_offsets.size() == static_cast<std::size_t>(matrix.rows) + 1);
  require(matrix.row_offsets.front() == 0 && matrix.row_offsets.back() == matrix.nnz());
  require(matrix.column_indices.size() == matrix.values.size());
  std::int64_t zeros = 0;
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
    require(matrix.row_offsets[row] <= matrix.row_offsets[row + 1]);
    std::int64_t before = -1;
    for (std::int64_t i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
      const std::int64_t column = matrix.column_indices[static_cast<std::size_t>(i)];
      require(before < column && column < matrix.columns);
      before = column;
    }
  }
  for (const float value : matrix.values) {
    require(std::isfinite(value));
    zeros += value == 0;
  }
  require(zeros == file.explicit_zeros);
  const bool is_whole = file.format == MatrixMarketFormat::coordinate &&
                        file.symmetry == MatrixMarketSymmetry::general;
  if (is_whole) require(file.stored_entries - file.duplicates == matrix.nnz());
  require(file.duplicates >= 0 && matrix.nnz() <= 2 * (file.stored_entries - file.duplicates));
}

void check(const Error& error) {
  const std::string_view sentence = error.what();
  require(error.code() == ErrorCode::bad_input);
  require(sentence.starts_with("input ") || sentence.starts_with("input, line ") ||
          sentence.starts_with("input: "));
  for (const char c : sentence) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  require(sentence.size() < 500);
}

struct Outcome {
  MatrixMarket file;
  std::string sentence;  // of the refusal
};

Outcome read(std::span<const std::byte> bytes, std::size_t block_bytes) {
  Outcome out;
  try {
    out.file = parse_matrix_market(bytes, "input", {block_bytes, 1});
    check(out.file);
  } catch (const Error& error) {
    check(error);
    out.sentence = error.what();
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  constexpr std::size_t kLarge = std::size_t{1} << 16, kSmall = 100;
  const Outcome whole = read(bytes, kLarge);
  const Outcome cut = read(bytes, kSmall);
  // Lines have a limit of their own there, which damage behind it must not hide.
  const auto says = [](const Outcome& outcome, std::string_view words) {
    return outcome.sentence.find(words) != std::string::npos;
  };
  if (says(cut, "is longer than 99 bytes")) return 0;
  if (says(cut, "is no Matrix Market file") && says(whole, " gzip file")) return 0;
  require(whole.sentence == cut.sentence);
  require(whole.file.matrix == cut.file.matrix);
  return 0;
}
