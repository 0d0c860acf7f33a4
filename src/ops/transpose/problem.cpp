#include "ops/transpose/problem.hpp"

#include <algorithm>

namespace warpladder::transpose {
namespace {

using runtime::number;
using runtime::refuse_argument;
using runtime::Status;

struct Operand {
  const char* name;
  std::int64_t lines, line, ld, batch, stride;
};

Status check_operand(const Operand& x, std::int64_t* elements) {
  std::int64_t matrix = 0;
  if (!runtime::extent_of(x.lines, x.line, x.ld, &matrix) ||
      !runtime::extent_of(matrix ? x.batch : 0, matrix, x.stride, elements)) {
    return refuse_argument("transpose: %s of %lld times %lldx%lld is too large to address", x.name,
                           number(x.batch), number(x.lines), number(x.line));
  }
  if (x.batch > 1 && x.stride < matrix) {
    return refuse_argument("transpose: stride_%s is %lld, but a matrix takes %lld elements", x.name,
                           number(x.stride), number(matrix));
  }
  return {};
}

}  // namespace

double minimal_bytes(const Problem& p) {
  return 8.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) *
         static_cast<double>(p.batch);
}

Status check(const Problem& p, Problem::Footprint* footprint) noexcept {
  const struct {
    const char* name;
    std::int64_t value, least;
    const char* why;
  } sizes[] = {{"rows", p.rows, 0, ""},
               {"columns", p.columns, 0, ""},
               {"batch", p.batch, 0, ""},
               {"ld_in", p.ld_in, std::max<std::int64_t>(1, p.columns), ", the columns"},
               {"ld_out", p.ld_out, std::max<std::int64_t>(1, p.rows), ", the rows"}};
  for (const auto& [name, value, least, why] : sizes) {
    if (value < least) {
      return refuse_argument("transpose: %s is %lld, but must be at least %lld%s", name,
                             number(value), number(least), why);
    }
  }
  Problem::Footprint taken{};
  const Operand in{"in", p.rows, p.columns, p.ld_in, p.batch, p.stride_in},
      out{"out", p.columns, p.rows, p.ld_out, p.batch, p.stride_out};
  if (const Status status = check_operand(in, &taken.in_elements); !status.ok()) return status;
  if (const Status status = check_operand(out, &taken.out_elements); !status.ok()) return status;
  if (footprint) *footprint = taken;
  return {};
}

Problem compact(std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  Problem p{
      rows, columns, std::max<std::int64_t>(1, columns), std::max<std::int64_t>(1, rows), batch,
      0,    0};
  if (batch > 1) p.stride_in = p.stride_out = rows * columns;
  return p;
}

}  // namespace warpladder::transpose
