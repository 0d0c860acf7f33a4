#include "base/matrix_market_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "base/decimal.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {
namespace {

constexpr std::int64_t kMaxColumns = std::numeric_limits<std::int32_t>::max();

template <typename Value>
struct Word {
  std::string_view text;
  Value value;
};
constexpr Word<MatrixMarketFormat> kFormats[] = {{"coordinate", MatrixMarketFormat::coordinate},
                                                 {"array", MatrixMarketFormat::array}};
constexpr Word<MatrixMarketField> kFields[] = {{"real", MatrixMarketField::real},
                                               {"double", MatrixMarketField::real},
                                               {"integer", MatrixMarketField::integer},
                                               {"unsigned-integer", MatrixMarketField::integer},
                                               {"pattern", MatrixMarketField::pattern}};
constexpr Word<MatrixMarketSymmetry> kSymmetries[] = {
    {"general", MatrixMarketSymmetry::general},
    {"symmetric", MatrixMarketSymmetry::symmetric},
    {"skew-symmetric", MatrixMarketSymmetry::skew_symmetric}};

// Whether `word` is in the list; if so, `value` is what it stands for.
template <typename Value, std::size_t kCount>
bool look_up(const Word<Value> (&words)[kCount], std::string_view word, Value& value) {
  const auto* const found = std::ranges::find(words, word, &Word<Value>::text);
  if (found == std::end(words)) return false;
  value = found->value;
  return true;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The words of a line, up to a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t first = line.find_first_not_of(kMatrixMarketBlanks, at);
    if (first == std::string_view::npos || line[first] == '%') break;
    at = std::min(line.find_first_of(" \t\r%", first), line.size());
    words.push_back(line.substr(first, at - first));
  }
  return words;
}

}  // namespace

std::string matrix_market_sentence(std::string_view name, std::int64_t line,
                                   std::string_view reason) {
  return std::string(name) + ", line " + std::to_string(line) + ": " + std::string(reason);
}

void MatrixMarketHeaderParser::fail(const std::string& reason) const {
  throw_bad_input(matrix_market_sentence(name_, lines_, reason));
}

void MatrixMarketHeaderParser::fail_at_end() const {
  if (lines_ == 0) throw_bad_input(name_ + " is empty (0 bytes), so it is no Matrix Market file");
  fail("the file ends before the line of sizes");
}

bool MatrixMarketHeaderParser::take_line(std::string_view line) {
  ++lines_;
  if (lines_ == 1) {
    take_banner(line);
    return false;
  }
  const std::size_t first = line.find_first_not_of(kMatrixMarketBlanks);
  if (first == std::string_view::npos || line[first] == '%') return false;
  take_sizes(line);
  return true;
}

void MatrixMarketHeaderParser::take_banner(std::string_view line) {
  constexpr std::string_view kBanner = "%%matrixmarket";
  const std::string text = lower_case(line);
  if (!text.starts_with(kBanner)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    throw_bad_input(name_ + " is no Matrix Market file: it begins with " +
                    in_quotes(line, kShownBytes) + ", not with '%%MatrixMarket'");
  }
  auto words = words_of(std::string_view(text).substr(kBanner.size()));
  const auto shown = [](std::string_view word) { return in_quotes(word, kShownBytes); };

  if (words.empty()) fail("the banner ends where the object, matrix, should be");
  if (words[0] != "matrix") fail("the object is " + shown(words[0]) + ", but only matrix is read");
  if (words.size() < 2) fail("the banner ends where the format should be");
  if (!look_up(kFormats, words[1], header_.format)) {
    fail("the format is " + shown(words[1]) + ", but only coordinate and array are read");
  }
  std::size_t next = 2;
  MatrixMarketSymmetry symmetry{};
  const bool has_field = next < words.size() && words[next] != "hermitian" &&
                         !look_up(kSymmetries, words[next], symmetry);
  if (has_field) {
    is_complex_ = words[next] == "complex";
    if (is_complex_) fail("the field is 'complex', but only real numbers are read");
    if (!look_up(kFields, words[next], header_.field)) {
      fail("the field is " + shown(words[next]) + ", but only real, integer and pattern are read");
    }
    ++next;
  }
  if (next < words.size()) {
    is_complex_ = words[next] == "hermitian";
    if (is_complex_) {
      fail(
          "the symmetry is 'hermitian', which is for complex numbers, but only real ones are read");
    }
    if (!look_up(kSymmetries, words[next], header_.symmetry)) {
      fail("the symmetry is " + shown(words[next]) +
           ", but only general, symmetric and skew-symmetric are read");
    }
    ++next;
  }
  if (next < words.size()) fail("the banner goes on with " + shown(words[next]));
  if (header_.field == MatrixMarketField::pattern) {
    if (header_.format == MatrixMarketFormat::array) {
      fail("an array has values, so its field cannot be pattern");
    }
    if (header_.symmetry == MatrixMarketSymmetry::skew_symmetric) {
      fail("a pattern has no signs, so it cannot be skew-symmetric");
    }
  }
}

void MatrixMarketHeaderParser::take_sizes(std::string_view line) {
  const bool is_array = header_.format == MatrixMarketFormat::array;
  const auto words = words_of(line);
  const std::size_t wanted = is_array ? 2 : 3;
  if (words.size() != wanted) {
    fail("the line of sizes has " + std::to_string(words.size()) +
         (words.size() == 1 ? " number" : " numbers") + ", but " +
         (is_array ? "an array's has 2: rows and columns"
                   : "a coordinate file's has 3: rows, columns and entries"));
  }
  constexpr const char* kNames[] = {"rows", "columns", "entries"};
  std::int64_t* const sizes[] = {&header_.rows, &header_.columns, &header_.entries};
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::string_view word = words[i];
    const std::string shown =
        std::string("the number of ") + kNames[i] + " is " + in_quotes(word, kShownBytes);
    if (!std::ranges::all_of(word, is_digit)) fail(shown + ", which is not a whole number");
    const auto error = std::from_chars(word.data(), word.data() + word.size(), *sizes[i]).ec;
    if (error != std::errc()) fail(shown + ", which overflows 64 bits");
  }
  if (header_.columns > kMaxColumns) {
    fail("the number of columns is " + std::to_string(header_.columns) +
         ", but column indices are 32-bit: at most " + std::to_string(kMaxColumns) + " are read");
  }
  if (header_.symmetry != MatrixMarketSymmetry::general && header_.rows != header_.columns) {
    fail("a symmetric or skew-symmetric matrix is square, but this one has " +
         std::to_string(header_.rows) + " rows and " + std::to_string(header_.columns) +
         " columns");
  }
  if (is_array) count_dense_entries();
  require_credible_rows();
}

void MatrixMarketHeaderParser::count_dense_entries() {
  const std::int64_t n = header_.rows;
  switch (header_.symmetry) {  // a square matrix has less than 2^31 rows here
    case MatrixMarketSymmetry::symmetric:
      header_.entries = n * (n + 1) / 2;
      return;
    case MatrixMarketSymmetry::skew_symmetric:
      header_.entries = n * (n - 1) / 2;
      return;
    case MatrixMarketSymmetry::general:
      if (__builtin_mul_overflow(n, header_.columns, &header_.entries)) {
        fail("an array of " + std::to_string(n) + " rows and " + std::to_string(header_.columns) +
             " columns overflows 64 bits");
      }
  }
}

void MatrixMarketHeaderParser::require_credible_rows() const {
  if (is_credible_size(header_.rows, header_.entries)) return;
  fail("the matrix is said to have " + std::to_string(header_.rows) + " rows and only " +
       std::to_string(header_.entries) + " entries, but more than " +
       std::to_string(kSizeBelieved) + " rows need an entry for every " +
       std::to_string(kSizePerEntry) + " of them");
}

}  // namespace warpladder
