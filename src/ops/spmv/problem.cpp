#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

using runtime::number;
using runtime::refuse_argument;

double flops(const Problem& p) { return 2.0 * static_cast<double>(p.nnz); }

double minimal_bytes(const Problem& p) {
  const auto rows = static_cast<double>(p.rows), columns = static_cast<double>(p.columns),
             nnz = static_cast<double>(p.nnz);
  return 8.0 * nnz + (p.wide_offsets ? 8.0 : 4.0) * (rows + 1.0) + 4.0 * columns +
         4.0 * rows * (p.beta == 0.0f ? 1.0 : 2.0);
}

runtime::Status check(const Problem& p) noexcept {
  constexpr std::int64_t kMost32 = INT32_MAX, kMost64 = INT64_MAX / 16;
  const struct {
    const char* name;
    std::int64_t value, most;
  } sizes[] = {{"rows", p.rows, p.wide_offsets ? kMost64 : kMost32},
               {"columns", p.columns, kMost32},
               {"nnz", p.nnz, p.wide_offsets ? kMost64 : kMost32}};
  for (const auto& [name, value, most] : sizes) {
    if (value < 0) {
      return refuse_argument("spmv: %s must not be negative, it is %lld", name, number(value));
    }
    if (value > most) {
      return refuse_argument("spmv: %s must not be above %lld, it is %lld", name, number(most),
                             number(value));
    }
  }
  if (p.nnz > 0 && (p.rows == 0 || p.columns == 0)) {
    return refuse_argument("spmv: a matrix of %lldx%lld has no place for nnz = %lld",
                           number(p.rows), number(p.columns), number(p.nnz));
  }
  return {};
}

}  // namespace warpladder::spmv
