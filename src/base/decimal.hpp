#pragma once
// Reads decimal numbers to the nearest float.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace warpladder {

enum class DecimalFault { none, malformed, overflow };

// A number read from text; `end` is behind its last byte. Overflow is a number that fp32 cannot
// hold.
struct Decimal {
  const char* end;
  float value;
  DecimalFault fault;
};

constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Whether a nonzero number without a sign is so small, or so large, that no float is near.
inline bool is_below_one(const char* at, const char* end) {
  const char* const point = std::find_if(at, end, [](char c) { return !is_digit(c); });
  const char* const exponent = std::find_if(at, end, [](char c) { return c == 'e' || c == 'E'; });
  const char* const first =
      std::find_if(at, exponent, [](char c) { return is_digit(c) && c != '0'; });
  // Digits from the first nonzero one to the point; negative if the point comes first.
  const std::int64_t magnitude = first < point ? point - first : point + 1 - first;
  const char* power = exponent == end ? end : exponent + 1;
  const bool is_divisor = power != end && *power == '-';
  if (power != end && (*power == '-' || *power == '+')) ++power;
  // Bounded, so that it cannot overflow. No text is long enough to compensate such an exponent.
  constexpr std::int64_t kEnough = std::numeric_limits<std::int64_t>::max() / 32;
  std::int64_t written = 0;
  for (; power != end; ++power) {
    if (written < kEnough) written = 10 * written + (*power - '0');
  }
  return magnitude + (is_divisor ? -written : written) <= 0;
}

// Reads [+-] digits [. digits] [e [+-] digits] from `at` on; digits are needed before or after the
// point. The result is the nearest float, ties to even; numbers that are too small become 0.
// Infinity and NaN are not accepted.
inline Decimal read_decimal(const char* at, const char* end) {
  const bool is_negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  // from_chars would take a second sign, inf and nan.
  if (at == end || !(is_digit(*at) || *at == '.')) return {at, 0, DecimalFault::malformed};
  float value = 0;
  const auto [stop, error] = std::from_chars(at, end, value);
  if (error == std::errc::invalid_argument) return {at, 0, DecimalFault::malformed};
  if (error == std::errc::result_out_of_range) {
    if (!is_below_one(at, stop)) return {stop, 0, DecimalFault::overflow};
    value = 0;
  }
  return {stop, is_negative ? -value : value, DecimalFault::none};
}

}  // namespace warpladder
