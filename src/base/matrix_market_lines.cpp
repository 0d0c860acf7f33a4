#include "base/matrix_market_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/decimal.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {
namespace {

using Fault = MatrixMarketLines::Fault;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || c == '\n' || c == '%'; }

// Every line ends with '\n', so nothing below looks for the end of the text within a line.
class Parser {
 public:
  Parser(const TextBlock& block, const MatrixMarketHeader& header, MatrixMarketLines& out)
      : header_(header), out_(out), at_(block.text.data()), end_(at_ + block.text.size()) {}

  template <MatrixMarketFormat kFormat, MatrixMarketField kField>
  void parse() {
    while (at_ != end_) {
      ++out_.lines;
      skip_blanks();
      if (*at_ == '\n' || *at_ == '%') {
        skip_line();
        continue;
      }
      const bool is_entry =
          kFormat == MatrixMarketFormat::array ? take_dense<kField>() : take_entry<kField>();
      if (!is_entry) return;
    }
  }

 private:
  void skip_blanks() {
    while (is_blank(*at_)) ++at_;
  }
  void go_to_next_line() {
    at_ =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_))) + 1;
  }
  void skip_line() {
    go_to_next_line();
    const std::int64_t entry = out_.count();
    if (out_.skipped.empty() || out_.skipped.back().entry != entry) {
      out_.skipped.push_back({entry, 0});
    }
    ++out_.skipped.back().lines;
  }

  bool fail(const std::string& reason) {
    out_.fault = Fault{out_.lines, reason, true};
    return false;
  }
  std::string word_at(const char* first) const {
    const char* last = first;
    while (!ends_word(*last)) ++last;
    return in_quotes({first, last}, kShownBytes);
  }

  // The rest of a line that is complete.
  bool finish_line() {
    skip_blanks();
    if (*at_ == '\n') {
      ++at_;
      return true;
    }
    if (*at_ != '%') return fail("the line goes on with " + word_at(at_) + " after the entry");
    go_to_next_line();
    return true;
  }

  // An index from 1 to `size`, made 0-based.
  bool take_index(const char* what, std::int64_t size, std::int64_t& index) {
    const char* const first = at_;
    std::uint64_t value = 0;
    for (; is_digit(*at_); ++at_) value = 10 * value + static_cast<unsigned>(*at_ - '0');
    if (at_ == first || !ends_word(*at_)) {
      if (ends_word(*first))
        return fail("the line ends where the " + std::string(what) + " should be");
      return fail("the " + std::string(what) + " is " + word_at(first) +
                  ", which is not a whole number");
    }
    // Wraps only beyond 19 digits, of which some may be leading zeros.
    if (at_ - first > 19) value = saturated(first, at_);
    if (value - 1 >= static_cast<std::uint64_t>(size)) {
      return fail("the " + std::string(what) + " is " + word_at(first) + ", but " +
                  (size > 0 ? "1 to " + std::to_string(size) + " are there" : "there is none"));
    }
    index = static_cast<std::int64_t>(value - 1);
    skip_blanks();
    return true;
  }

  static std::uint64_t saturated(const char* first, const char* last) {
    while (first != last && *first == '0') ++first;
    if (last - first > 19) return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t value = 0;
    for (; first != last; ++first) value = 10 * value + static_cast<unsigned>(*first - '0');
    return value;
  }

  template <MatrixMarketField kField>
  bool take_value(float& value) {
    const char* const first = at_;
    const Decimal number = read_decimal(first, end_);
    at_ = number.end;
    const auto value_is = [&] { return "the value is " + word_at(first) + ", which "; };
    if (number.fault == DecimalFault::malformed || !ends_word(*at_)) {
      return fail(ends_word(*first)      ? "the line ends where the value should be"
                  : is_not_finite(first) ? value_is() + "is not finite"
                                         : value_is() + "is not a number");
    }
    if (number.fault == DecimalFault::overflow) {
      return fail(value_is() + "is beyond the range of fp32");
    }
    if (kField == MatrixMarketField::integer && !std::all_of(first, at_, is_part_of_integer)) {
      return fail(value_is() + "is not an integer");
    }
    value = number.value;
    return true;
  }

  static bool is_part_of_integer(char c) { return is_digit(c) || c == '-' || c == '+'; }
  // Any spelling of C's: nan, -NaN(7), inf, +Infinity.
  static bool is_not_finite(const char* at) {
    if (*at == '-' || *at == '+') ++at;
    const auto begins = [at](std::string_view word) {
      for (std::size_t i = 0; i < word.size(); ++i) {
        if ((at[i] | 0x20) != word[i]) return false;  // lower case
      }
      return true;
    };
    return begins("nan") || begins("inf");
  }

  template <MatrixMarketField kField>
  bool take_entry() {
    std::int64_t row = 0, column = 0;
    float value = 1;
    if (!take_index("row", header_.rows, row)) return false;
    if (!take_index("column", header_.columns, column)) return false;
    if (kField != MatrixMarketField::pattern && !take_value<kField>(value)) return false;
    if (!finish_line()) return false;
    if (header_.symmetry != MatrixMarketSymmetry::general && !take_place(row, column, value)) {
      return false;
    }
    out_.entries.push_back({row, static_cast<std::int32_t>(column), value});
    return true;
  }

  bool take_place(std::int64_t row, std::int64_t column, float value) {
    if (row == column) {
      if (header_.symmetry == MatrixMarketSymmetry::symmetric || value == 0) return true;
      return fail("a skew-symmetric matrix has zeros on its diagonal, but here is another value");
    }
    std::int64_t& first = row > column ? out_.first_below : out_.first_above;
    if (first == 0) first = out_.lines;
    return true;
  }

  template <MatrixMarketField kField>
  bool take_dense() {
    float value = 0;
    if (!take_value<kField>(value) || !finish_line()) return false;
    out_.dense.push_back(value);
    return true;
  }

  const MatrixMarketHeader& header_;
  MatrixMarketLines& out_;
  const char* at_;
  const char* end_;
};

}  // namespace

std::int64_t MatrixMarketLines::line_of(std::int64_t index) const {
  std::int64_t line = index + 1;
  for (const Skipped& some : skipped) {
    if (some.entry > index) break;
    line += some.lines;
  }
  return line;
}

std::string matrix_market_cut_line(const TextBlock& block) {
  return "the line is longer than " + std::to_string(block.text.size() - 1) +
         " bytes, the most that is read";
}

MatrixMarketLines parse_matrix_market_lines(const TextBlock& block,
                                            const MatrixMarketHeader& header,
                                            MatrixMarketLines& scratch) {
  scratch.entries.clear();
  scratch.dense.clear();
  MatrixMarketLines out;
  if (block.is_cut) {
    out.lines = 1;
    out.fault = Fault{1, matrix_market_cut_line(block), false};
    return out;
  }
  std::swap(out.entries, scratch.entries);
  std::swap(out.dense, scratch.dense);
  Parser parser(block, header, out);
  using enum MatrixMarketFormat;
  using enum MatrixMarketField;
  if (header.format == array) {
    header.field == integer ? parser.parse<array, integer>() : parser.parse<array, real>();
  } else if (header.field == pattern) {
    parser.parse<coordinate, pattern>();
  } else {
    header.field == integer ? parser.parse<coordinate, integer>()
                            : parser.parse<coordinate, real>();
  }
  // Of their own size: what grew by doubling stays with the next block.
  std::swap(out.entries, scratch.entries);
  std::swap(out.dense, scratch.dense);
  out.entries.assign(scratch.entries.begin(), scratch.entries.end());
  out.dense.assign(scratch.dense.begin(), scratch.dense.end());
  return out;
}

}  // namespace warpladder
