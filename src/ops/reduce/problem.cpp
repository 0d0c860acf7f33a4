#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {

double minimal_bytes(const Problem& p) { return 4.0 * static_cast<double>(p.n); }

runtime::Status check(const Problem& p) noexcept {
  using runtime::number;
  if (p.n < 0) {
    return runtime::refuse_argument("reduce: n is %lld, but must be at least 0", number(p.n));
  }
  if (p.n > INT64_MAX / 8) {
    return runtime::refuse_argument("reduce: n is %lld, too many values to address", number(p.n));
  }
  return {};
}

}  // namespace warpladder::reduce
