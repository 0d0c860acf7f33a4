#include "ops/sgemm/problem.hpp"

#include <algorithm>

namespace warpladder::sgemm {
namespace {

using runtime::number;
using runtime::refuse_argument;
using runtime::Status;

struct Operand {
  const char *name, *ld_name;
  std::int64_t ld;
  StoredShape shape;
};

Status check_operand(const Problem& p, const Operand& x, std::int64_t* elements) {
  const std::int64_t least = least_ld(p, x.shape);
  const bool row_major = p.layout == Layout::row_major;
  if (x.ld < least) {
    return refuse_argument("sgemm: %s is %lld, but a %s matrix of %lldx%lld needs at least %lld",
                           x.ld_name, number(x.ld), row_major ? "row-major" : "column-major",
                           number(x.shape.rows), number(x.shape.columns), number(least));
  }
  const std::int64_t lines = row_major ? x.shape.rows : x.shape.columns,
                     line = row_major ? x.shape.columns : x.shape.rows;
  if (!runtime::extent_of(lines, line, x.ld, elements)) {
    return refuse_argument(
        "sgemm: %s of %lldx%lld with leading dimension %lld is too large to address", x.name,
        number(x.shape.rows), number(x.shape.columns), number(x.ld));
  }
  return {};
}

// Of lines as float pairs.
std::size_t split_bytes(std::int64_t lines, std::int64_t k, std::size_t of_element) {
  const std::size_t depth = (static_cast<std::size_t>(std::max<std::int64_t>(k, 1)) + 63) / 64 * 64;
  constexpr std::size_t kPerLine = 32, kRounding = 4096;
  return static_cast<std::size_t>(lines) * (depth * of_element + kPerLine) + kRounding;
}

}  // namespace

double flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

double minimal_bytes(const Problem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  return 4.0 * (m * k + k * n + m * n * (p.beta == 0.0f ? 1.0 : 2.0));
}

std::size_t workspace_bytes(const Problem& p) { return split_bytes(p.m + p.n, p.k, 8); }

std::size_t prepared_workspace_bytes(const Problem& p) {
  return p.k == 0 || p.alpha == 0.0f ? split_bytes(p.m + p.n, 0, 8) : split_bytes(p.m, p.k, 8);
}

std::size_t prepared_bytes(const Problem& p) { return split_bytes(p.n, p.k, 12); }

Status check(const Problem& p, Problem::Footprint* footprint) noexcept {
  const struct {
    const char* name;
    std::int64_t value;
  } sizes[] = {{"m", p.m}, {"n", p.n}, {"k", p.k}};
  for (const auto& [name, value] : sizes) {
    if (value < 0) {
      return refuse_argument("sgemm: %s must not be negative, it is %lld", name, number(value));
    }
  }
  const Operand operands[] = {{"A", "lda", p.lda, stored_a(p)},
                              {"B", "ldb", p.ldb, stored_b(p)},
                              {"C", "ldc", p.ldc, stored_c(p)}};
  std::int64_t elements[3];
  for (int i = 0; i < 3; ++i) {
    if (const Status status = check_operand(p, operands[i], &elements[i]); !status.ok()) {
      return status;
    }
  }
  if (footprint) *footprint = {elements[0], elements[1], elements[2]};
  return {};
}

Problem compact(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout, bool trans_a,
                bool trans_b, float alpha, float beta) {
  Problem p{m, n, k, layout, trans_a, trans_b, alpha, beta, 0, 0, 0};
  p.lda = least_ld(p, stored_a(p));
  p.ldb = least_ld(p, stored_b(p));
  p.ldc = least_ld(p, stored_c(p));
  return p;
}

}  // namespace warpladder::sgemm
