#pragma once
// The header of a Matrix Market file: the banner, comments and the line of sizes. A part of
// base/matrix_market.hpp, which reads and writes whole files.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/matrix_market.hpp"

namespace warpladder {

inline constexpr std::string_view kMatrixMarketBlanks = " \t\r";  // what separates words

struct MatrixMarketHeader {
  MatrixMarketFormat format = MatrixMarketFormat::coordinate;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;  // that must follow, one a line
};

// Takes the lines of the header one after the other.
class MatrixMarketHeaderParser {
 public:
  explicit MatrixMarketHeaderParser(std::string name) : name_(std::move(name)) {}

  // `line` without its '\n'. True once the header is complete.
  bool take_line(std::string_view line);
  // The text ends before the header does.
  [[noreturn]] void fail_at_end() const;

  const MatrixMarketHeader& header() const { return header_; }
  std::int64_t lines() const { return lines_; }
  // Whether take_line() threw because of that.
  bool is_complex() const { return is_complex_; }

 private:
  void take_banner(std::string_view line);
  void take_sizes(std::string_view line);
  void count_dense_entries();
  void require_credible_rows() const;
  [[noreturn]] void fail(const std::string& reason) const;

  std::string name_;
  MatrixMarketHeader header_;
  std::int64_t lines_ = 0;
  bool is_complex_ = false;
};

// "--a 'm.mtx', line 7: reason"
std::string matrix_market_sentence(std::string_view name, std::int64_t line,
                                   std::string_view reason);

}  // namespace warpladder
