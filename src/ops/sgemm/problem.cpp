#include "ops/sgemm/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace warpladder::sgemm {
namespace {

void check_size(const char* name, std::int64_t value) {
  if (value < 0)
    throw_bad_input(fmt::format("sgemm: {} must not be negative, it is {}", name, value));
}

void check_ld(const Problem& p, const char* name, std::int64_t ld, StoredShape shape) {
  const std::int64_t least = least_ld(p, shape);
  if (ld < least) {
    throw_bad_input(fmt::format("sgemm: {} is {}, but a {} matrix of {}x{} needs at least {}", name,
                                ld, p.layout == Layout::row_major ? "row-major" : "column-major",
                                shape.rows, shape.columns, least));
  }
}

// Elements from the first to the last, with the gaps between lines that ld leaves.
std::int64_t extent(const Problem& p, const char* name, std::int64_t ld, StoredShape shape) {
  if (shape.rows == 0 || shape.columns == 0) return 0;
  const bool row_major = p.layout == Layout::row_major;
  const std::int64_t lines = row_major ? shape.rows : shape.columns;
  const std::int64_t line = row_major ? shape.columns : shape.rows;
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(lines - 1, ld, &elements) ||
      __builtin_add_overflow(elements, line, &elements) ||
      elements > std::numeric_limits<std::int64_t>::max() / 8) {
    throw_bad_input(
        fmt::format("sgemm: {} of {}x{} with leading dimension {} is too large to address", name,
                    shape.rows, shape.columns, ld));
  }
  return elements;
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

std::size_t workspace_bytes(const Problem& p) {
  const auto lines = static_cast<std::size_t>(p.m + p.n);
  const std::size_t depth =
      (static_cast<std::size_t>(std::max<std::int64_t>(p.k, 1)) + 63) / 64 * 64;
  constexpr std::size_t kPairBytes = 8, kPerLine = 32, kRounding = 4096;
  return lines * (depth * kPairBytes + kPerLine) + kRounding;
}

void validate(const Problem& p) {
  check_size("m", p.m);
  check_size("n", p.n);
  check_size("k", p.k);
  check_ld(p, "lda", p.lda, stored_a(p));
  check_ld(p, "ldb", p.ldb, stored_b(p));
  check_ld(p, "ldc", p.ldc, stored_c(p));
}

Footprint footprint(const Problem& p) {
  validate(p);
  return {extent(p, "A", p.lda, stored_a(p)), extent(p, "B", p.ldb, stored_b(p)),
          extent(p, "C", p.ldc, stored_c(p))};
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
