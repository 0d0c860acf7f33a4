#pragma once
// A call as a rung sees it. Rungs get this through rung.hpp.

#include "ops/sgemv/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemv {
inline namespace WARPLADDER_FLAVOUR {

// What a rung gets, whatever the storage: A as lines, each in one piece. Sums run along the lines,
// with y[i] the product of line i with x, or across them. Across, y is the sum of all lines, each
// times its element of x. Along: `lines` outputs of `length` terms; across: `length` outputs of
// `lines` terms. At least one output; no terms where BLAS forbids reading A and x (alpha == 0).
struct Gemv {
  std::int64_t lines, length, ld;
  const float* a;
  const float* x;  // its element 0: element i lies at i·incx, also where incx is negative
  std::int64_t incx;
  float* y;  // as x
  std::int64_t incy;
  float alpha, beta;
  std::int64_t most_pieces;
  std::uint64_t* flags;
  float* scratch;
};

inline Gemv gemv_of(const Call& call) {
  const Problem& p = call.problem;
  const auto element0 = [](auto* lowest, std::int64_t size, std::int64_t increment) {
    return increment < 0 ? lowest + (1 - size) * increment : lowest;
  };
  const bool across = across_lines(p), read = p.alpha != 0.0f;
  return {across && !read ? 0 : lines(p),
          across || read ? length(p) : 0,
          p.lda,
          call.a,
          element0(call.x, terms(p), p.incx),
          p.incx,
          element0(call.y, outputs(p), p.incy),
          p.incy,
          p.alpha,
          p.beta,
          most_pieces(p),
          call.flags,
          call.scratch};
}

// Whether A may be read by four elements, and x too.
inline bool vectors_allowed(const Gemv& g) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(g.a) | reinterpret_cast<std::uintptr_t>(g.x);
  return address % 16 == 0 && g.incx == 1 && (g.length | g.ld) % 4 == 0;
}

// Element i of y after the product: beta == 0 must not read it.
__device__ __forceinline__ void store_scaled(const Gemv& g, std::int64_t i, float sum) {
  float* y = g.y + i * g.incy;
  *y = g.beta == 0.0f ? g.alpha * sum : g.alpha * sum + g.beta * *y;
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline unsigned to_grid(std::int64_t blocks) { return static_cast<unsigned>(blocks); }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv
