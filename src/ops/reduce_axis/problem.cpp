#include "ops/reduce_axis/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace warpladder::reduce_axis {

double minimal_bytes(const Problem& p) {
  const double of_result = is_place(p.function) ? 8.0 : 4.0;
  return 4.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) +
         of_result * static_cast<double>(p.results());
}

std::int64_t footprint(const Problem& p) {
  const auto check_least = [](const char* name, std::int64_t value, std::int64_t least,
                              const char* why) {
    if (value >= least) return;
    throw_bad_input(
        fmt::format("reduce_axis: {} is {}, but must be at least {}{}", name, value, least, why));
  };
  check_least("rows", p.rows, 0, "");
  check_least("columns", p.columns, 0, "");
  check_least("ld", p.ld, std::max<std::int64_t>(1, p.columns), ", the columns");
  if (p.rows == 0 || p.columns == 0) return 0;
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(p.rows - 1, p.ld, &elements) ||
      __builtin_add_overflow(elements, p.columns, &elements) ||
      elements > std::numeric_limits<std::int64_t>::max() / 8) {
    throw_bad_input(
        fmt::format("reduce_axis: {}x{} elements are too many to address", p.rows, p.columns));
  }
  return elements;
}

}  // namespace warpladder::reduce_axis
