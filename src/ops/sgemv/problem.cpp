#include "ops/sgemv/problem.hpp"

#include <algorithm>

namespace warpladder::sgemv {
namespace {

using runtime::number;
using runtime::refuse_argument;
using runtime::Status;

// Elements from the first to the last of a vector, with the gaps that its increment leaves.
Status check_vector(const char* name, std::int64_t size, std::int64_t increment,
                    std::int64_t* elements) {
  if (increment == 0) return refuse_argument("sgemv: inc%s must not be 0", name);
  const bool negates = increment != INT64_MIN;
  const std::int64_t stride = increment < 0 && negates ? -increment : increment;
  if ((!negates && size > 1) || !runtime::extent_of(size, 1, stride, elements)) {
    return refuse_argument("sgemv: %s of %lld elements with inc%s = %lld is too large to address",
                           name, number(size), name, number(increment));
  }
  return {};
}

}  // namespace

double flops(const Problem& p) { return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n); }

double minimal_bytes(const Problem& p) {
  const auto a = static_cast<double>(p.m) * static_cast<double>(p.n),
             x = static_cast<double>(terms(p)), y = static_cast<double>(outputs(p));
  return 4.0 * (a + x + y * (p.beta == 0.0f ? 1.0 : 2.0));
}

Status check(const Problem& p, Problem::Footprint* footprint) noexcept {
  if (p.m < 0) return refuse_argument("sgemv: m must not be negative, it is %lld", number(p.m));
  if (p.n < 0) return refuse_argument("sgemv: n must not be negative, it is %lld", number(p.n));
  if (const std::int64_t least = std::max<std::int64_t>(1, length(p)); p.lda < least) {
    return refuse_argument("sgemv: lda is %lld, but a %s matrix of %lldx%lld needs at least %lld",
                           number(p.lda),
                           p.layout == Layout::row_major ? "row-major" : "column-major",
                           number(p.m), number(p.n), number(least));
  }
  Problem::Footprint taken{};
  if (!runtime::extent_of(lines(p), length(p), p.lda, &taken.a_elements)) {
    return refuse_argument(
        "sgemv: A of %lldx%lld with leading dimension %lld is too large to address", number(p.m),
        number(p.n), number(p.lda));
  }
  if (const Status x = check_vector("x", terms(p), p.incx, &taken.x_elements); !x.ok()) return x;
  if (const Status y = check_vector("y", outputs(p), p.incy, &taken.y_elements); !y.ok()) return y;
  if (footprint) *footprint = taken;
  return {};
}

Problem compact(std::int64_t m, std::int64_t n, Layout layout, bool trans, float alpha,
                float beta) {
  Problem p{m, n, layout, trans, alpha, beta};
  p.lda = std::max<std::int64_t>(1, length(p));
  return p;
}

}  // namespace warpladder::sgemv
