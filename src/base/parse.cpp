#include "base/parse.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder {
namespace {

constexpr std::string_view kDigits = "0123456789";

[[noreturn]] void fail(std::string_view argument_name, std::string_view text,
                       const std::string& complaint) {
  throw_bad_input(std::string(argument_name) + " is " + in_quotes(text, kShownBytes) + ", " +
                  complaint);
}

// `text` is what the user typed, `part` the size inside it.
std::int64_t parse_part(std::string_view part, std::string_view text,
                        std::string_view argument_name) {
  const bool has_only_digits = part.find_first_not_of(kDigits) == std::string_view::npos;
  if (part.empty() || !has_only_digits) {
    const bool is_negative = part.size() > 1 && part[0] == '-' &&
                             part.find_first_not_of(kDigits, 1) == std::string_view::npos;
    fail(argument_name, text,
         is_negative    ? "but a size cannot be negative"
         : part.empty() ? "where a size is missing: a size is written in digits, as in 1024"
                        : "but a size is written in digits only, as in 1024");
  }
  std::int64_t size = 0;
  if (std::from_chars(part.data(), part.data() + part.size(), size).ec != std::errc()) {
    fail(argument_name, text,
         "which overflows: the largest size is " +
             std::to_string(std::numeric_limits<std::int64_t>::max()));
  }
  return size;
}

void require_text(std::string_view text, std::string_view argument_name, const char* example) {
  if (text.empty()) {
    throw_bad_input(std::string(argument_name) + " is empty; write it as in " + example);
  }
}

}  // namespace

std::int64_t parse_size(std::string_view text, std::string_view argument_name) {
  require_text(text, argument_name, "1024");
  return parse_part(text, text, argument_name);
}

std::vector<std::int64_t> parse_shape(std::string_view text, std::size_t expected_count,
                                      std::string_view argument_name) {
  std::string example = "512";
  for (std::size_t i = 1; i < expected_count; ++i) example += "x512";
  require_text(text, argument_name, example.c_str());

  std::vector<std::int64_t> shape;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find_first_of("xX,", first), text.size());
    shape.push_back(parse_part(text.substr(first, last - first), text, argument_name));
    first = last + 1;
  }
  if (shape.size() != expected_count) {
    fail(argument_name, text,
         "which has " + std::to_string(shape.size()) +
             (shape.size() == 1 ? " size where " : " sizes where ") +
             std::to_string(expected_count) + " are needed, as in " + example);
  }
  return shape;
}

float parse_float(std::string_view text, std::string_view argument_name) {
  require_text(text, argument_name, "0.5");
  // from_chars takes no plus sign; people write one.
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const std::string_view number = text.substr(has_plus ? 1 : 0);
  float value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    fail(argument_name, text, "which is outside the range of fp32");
  }
  if (error != std::errc() || stop != end) fail(argument_name, text, "which is not a number");
  return value;
}

double parse_duration(std::string_view text, std::string_view argument_name) {
  require_text(text, argument_name, "60s");
  constexpr double kYear = 366 * 86400.0;
  const std::size_t digits = std::min(text.find_first_not_of(".0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + digits, value);
  const bool is_number = error == std::errc() && stop == text.data() + digits;
  if (!is_number || scale == 0 || !(value > 0) || !(value * scale <= kYear)) {
    fail(argument_name, text, "but must be a time above 0, as in 60s, 5m or 1h");
  }
  return value * scale;
}

}  // namespace warpladder
