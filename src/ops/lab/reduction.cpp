#include "ops/lab/reduction.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"

namespace warpladder::ops {
namespace {

Expected sum_of(std::span<const float> in) {
  double sum = 0, absolute = 0;
  for (const float x : in) {
    sum += static_cast<double>(x);
    absolute += std::fabs(static_cast<double>(x));
  }
  const auto levels = static_cast<double>(std::bit_width(in.size())) + 12.0;
  return {sum, levels * 0x1p-24 * absolute};
}

// Whether b is to be reported rather than a, which stands before it.
bool wins(float b, float a, bool greatest) {
  if (std::isnan(a)) return false;
  return std::isnan(b) || (greatest ? b > a : b < a);
}

}  // namespace

Reduced reduced(parts::Function function, std::span<const float> in) {
  using parts::Function;
  const bool greatest = function == Function::max || function == Function::argmax;
  const double none =
      greatest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (function == Function::sum) return {sum_of(in)};
  if (function == Function::mean) {
    if (in.empty()) return {{std::numeric_limits<double>::quiet_NaN(), 0}};
    const Expected sum = sum_of(in);
    const auto n = static_cast<double>(in.size());
    // n itself is rounded to fp32, and the quotient once more.
    return {{sum.value / n, (sum.bound + 0x1p-23 * std::fabs(sum.value)) / n}};
  }
  if (in.empty()) return {{none, 0}};
  std::size_t place = 0;
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (wins(in[i], in[place], greatest)) place = i;
  }
  return {{static_cast<double>(in[place]), 0}, static_cast<std::int64_t>(place)};
}

RunFlag function_flag() {
  return {"op", "NAME",
          "sum, mean, min, max, argmin, argmax, or for a whole array an expression of a and b "
          "(default: sum)",
          false, "sum"};
}

parts::Function function_of(const std::string& text) {
  for (const parts::Function f : parts::kFunctions) {
    if (text == parts::name(f)) return f;
  }
  throw_bad_input(fmt::format(
      "--op {} is not a reduction; those are: {}, or an expression with "
      "--identity",
      in_quotes(text, kShownBytes),
      known_names(text, {std::begin(parts::kFunctionNames), std::end(parts::kFunctionNames)})));
}

void require_values(parts::Function function, std::int64_t lines, std::int64_t length,
                    const std::string& subject) {
  if (length > 0 || lines == 0 || function == parts::Function::sum) return;
  throw_bad_input(fmt::format("{} has no values, of which there is no {}; the sum is 0", subject,
                              parts::name(function)));
}

}  // namespace warpladder::ops
