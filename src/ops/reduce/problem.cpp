#include "ops/reduce/problem.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"

namespace warpladder::reduce {

double minimal_bytes(const Problem& p) { return 4.0 * static_cast<double>(p.n); }

void validate(const Problem& p) {
  if (p.n < 0) throw_bad_input(fmt::format("reduce: n is {}, but must be at least 0", p.n));
  if (p.n > std::numeric_limits<std::int64_t>::max() / 8) {
    throw_bad_input(fmt::format("reduce: {} values are too many to address", p.n));
  }
}

}  // namespace warpladder::reduce
