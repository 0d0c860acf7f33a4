#include "ops/sgemv/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace warpladder::sgemv {
namespace {

constexpr std::int64_t kMostElements = std::numeric_limits<std::int64_t>::max() / 8;

void check_size(const char* name, std::int64_t value) {
  if (value < 0) {
    throw_bad_input(fmt::format("sgemv: {} must not be negative, it is {}", name, value));
  }
}

// Elements from the first to the last of a vector, with the gaps that its increment leaves.
std::int64_t vector_extent(const char* name, std::int64_t size, std::int64_t increment) {
  if (increment == 0) throw_bad_input(fmt::format("sgemv: inc{} must not be 0", name));
  if (size == 0) return 0;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(size - 1, increment, &last) || last > kMostElements ||
      last < -kMostElements) {
    throw_bad_input(fmt::format("sgemv: {} of {} elements with inc{} = {} is too large to address",
                                name, size, name, increment));
  }
  return (last < 0 ? -last : last) + 1;
}

std::int64_t matrix_extent(const Problem& p) {
  if (p.m == 0 || p.n == 0) return 0;
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(lines(p) - 1, p.lda, &elements) ||
      __builtin_add_overflow(elements, length(p), &elements) || elements > kMostElements) {
    throw_bad_input(fmt::format(
        "sgemv: A of {}x{} with leading dimension {} is too large to address", p.m, p.n, p.lda));
  }
  return elements;
}

}  // namespace

double flops(const Problem& p) { return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n); }

double minimal_bytes(const Problem& p) {
  const auto a = static_cast<double>(p.m) * static_cast<double>(p.n),
             x = static_cast<double>(terms(p)), y = static_cast<double>(outputs(p));
  return 4.0 * (a + x + y * (p.beta == 0.0f ? 1.0 : 2.0));
}

void validate(const Problem& p) { footprint(p); }

Footprint footprint(const Problem& p) {
  check_size("m", p.m);
  check_size("n", p.n);
  if (const std::int64_t least = std::max<std::int64_t>(1, length(p)); p.lda < least) {
    throw_bad_input(fmt::format("sgemv: lda is {}, but a {} matrix of {}x{} needs at least {}",
                                p.lda, p.layout == Layout::row_major ? "row-major" : "column-major",
                                p.m, p.n, least));
  }
  return {matrix_extent(p), vector_extent("x", terms(p), p.incx),
          vector_extent("y", outputs(p), p.incy)};
}

Problem compact(std::int64_t m, std::int64_t n, Layout layout, bool trans, float alpha,
                float beta) {
  Problem p{m, n, layout, trans, alpha, beta};
  p.lda = std::max<std::int64_t>(1, length(p));
  return p;
}

}  // namespace warpladder::sgemv
