#include "ops/reduce_axis/problem.hpp"

#include <algorithm>

namespace warpladder::reduce_axis {

double minimal_bytes(const Problem& p) {
  const double of_result = is_place(p.function) ? 8.0 : 4.0;
  return 4.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) +
         of_result * static_cast<double>(p.results());
}

runtime::Status check(const Problem& p, Problem::Footprint* footprint) noexcept {
  using runtime::number;
  const struct {
    const char* name;
    std::int64_t value, least;
    const char* why;
  } sizes[] = {{"rows", p.rows, 0, ""},
               {"columns", p.columns, 0, ""},
               {"ld", p.ld, std::max<std::int64_t>(1, p.columns), ", the columns"}};
  for (const auto& [name, value, least, why] : sizes) {
    if (value < least) {
      return runtime::refuse_argument("reduce_axis: %s is %lld, but must be at least %lld%s", name,
                                      number(value), number(least), why);
    }
  }
  std::int64_t elements = 0;
  if (!runtime::extent_of(p.rows, p.columns, p.ld, &elements)) {
    return runtime::refuse_argument("reduce_axis: %lldx%lld elements are too many to address",
                                    number(p.rows), number(p.columns));
  }
  if (footprint) *footprint = elements;
  return {};
}

}  // namespace warpladder::reduce_axis
