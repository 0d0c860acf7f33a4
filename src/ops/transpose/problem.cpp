#include "ops/transpose/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace warpladder::transpose {
namespace {

void check_least(const char* name, std::int64_t value, std::int64_t least, const char* why) {
  if (value < least) {
    throw_bad_input(
        fmt::format("transpose: {} is {}, but must be at least {}{}", name, value, least, why));
  }
}

std::int64_t extent(const char* name, std::int64_t lines, std::int64_t line, std::int64_t ld,
                    std::int64_t batch, std::int64_t stride) {
  if (lines == 0 || line == 0 || batch == 0) return 0;
  std::int64_t matrix = 0, all = 0;
  if (__builtin_mul_overflow(lines - 1, ld, &matrix) ||
      __builtin_add_overflow(matrix, line, &matrix) ||
      __builtin_mul_overflow(batch - 1, stride, &all) ||
      __builtin_add_overflow(all, matrix, &all) ||
      all > std::numeric_limits<std::int64_t>::max() / 8) {
    throw_bad_input(fmt::format("transpose: {} of {} times {}x{} is too large to address", name,
                                batch, lines, line));
  }
  if (batch > 1 && stride < matrix) {
    throw_bad_input(fmt::format("transpose: stride_{} is {}, but a matrix takes {} elements", name,
                                stride, matrix));
  }
  return all;
}

}  // namespace

double minimal_bytes(const Problem& p) {
  return 8.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) *
         static_cast<double>(p.batch);
}

void validate(const Problem& p) { footprint(p); }

Footprint footprint(const Problem& p) {
  check_least("rows", p.rows, 0, "");
  check_least("columns", p.columns, 0, "");
  check_least("batch", p.batch, 0, "");
  check_least("ld_in", p.ld_in, std::max<std::int64_t>(1, p.columns), ", the columns");
  check_least("ld_out", p.ld_out, std::max<std::int64_t>(1, p.rows), ", the rows");
  return {extent("in", p.rows, p.columns, p.ld_in, p.batch, p.stride_in),
          extent("out", p.columns, p.rows, p.ld_out, p.batch, p.stride_out)};
}

Problem compact(std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  Problem p{
      rows, columns, std::max<std::int64_t>(1, columns), std::max<std::int64_t>(1, rows), batch,
      0,    0};
  if (batch > 1) p.stride_in = p.stride_out = rows * columns;
  return p;
}

}  // namespace warpladder::transpose
