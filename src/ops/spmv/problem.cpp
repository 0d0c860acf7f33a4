#include "ops/spmv/problem.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/error.hpp"

namespace warpladder::spmv {

double flops(const Problem& p) { return 2.0 * static_cast<double>(p.nnz); }

double minimal_bytes(const Problem& p) {
  const auto rows = static_cast<double>(p.rows), columns = static_cast<double>(p.columns),
             nnz = static_cast<double>(p.nnz);
  return 8.0 * nnz + (p.wide_offsets ? 8.0 : 4.0) * (rows + 1.0) + 4.0 * columns +
         4.0 * rows * (p.beta == 0.0f ? 1.0 : 2.0);
}

void validate(const Problem& p) {
  const auto check = [](const char* name, std::int64_t value, std::int64_t most) {
    if (value < 0)
      throw_bad_input(fmt::format("spmv: {} must not be negative, it is {}", name, value));
    if (value > most) {
      throw_bad_input(fmt::format("spmv: {} must not be above {}, it is {}", name, most, value));
    }
  };
  constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();
  check("rows", p.rows, p.wide_offsets ? std::numeric_limits<std::int64_t>::max() / 16 : kMost32);
  check("columns", p.columns, kMost32);
  check("nnz", p.nnz, p.wide_offsets ? std::numeric_limits<std::int64_t>::max() / 16 : kMost32);
  if (p.nnz > 0 && (p.rows == 0 || p.columns == 0)) {
    throw_bad_input(
        fmt::format("spmv: a matrix of {}x{} has no place for nnz = {}", p.rows, p.columns, p.nnz));
  }
}

}  // namespace warpladder::spmv
