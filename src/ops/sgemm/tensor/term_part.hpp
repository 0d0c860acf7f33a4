#pragma once
// What bfloat16 terms (parts/bfloat_terms.hpp) cannot represent is multiplied again in float64.

#include "ops/sgemm/gemm_tile.hpp"
#include "parts/bfloat_terms.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Lines of an operand, as far as they are multiplied: rows of A or columns of B.
struct TermPart {
  const float* data;
  std::int64_t along, across;  // between neighbours along k, and between lines
  std::int64_t lines, depth;
};

// `lines` lines from line0 on, of an operand whose lines lie along k in memory (is_along) or
// across, and `depth` of k from k0 on.
__device__ __forceinline__ TermPart part_of_lines(const float* data, std::int64_t ld, bool is_along,
                                                  std::int64_t line0, std::int64_t lines,
                                                  std::int64_t k0, std::int64_t depth) {
  const std::int64_t along = is_along ? 1 : ld, across = is_along ? ld : 1;
  return {data + line0 * across + k0 * along, along, across, lines, depth};
}

// The largest finite magnitude, as bits. `threads` go through the part, of which this is `thread`.
__device__ WARPLADDER_INLINE_ON_GPU unsigned largest_of_lane(const TermPart& x, int thread = 0,
                                                             int threads = 1) {
  unsigned most = 0;
  const bool is_along = x.along == 1;
  const std::int64_t fast = is_along ? x.depth : x.lines;
  WARPLADDER_NO_UNROLL
  for (std::int64_t e = thread; e < x.lines * x.depth; e += threads) {
    const std::int64_t k = is_along ? e % fast : e / fast, line = is_along ? e / fast : e % fast;
    const unsigned bits = __float_as_uint(x.data[k * x.along + line * x.across]) & 0x7fffffffu;
    if (bits < 0x7f800000u && bits > most) most = bits;
  }
  return most;
}

// Sums below this may be wrong for what the terms have lost. A lost share of a number changes a
// product by as much of the largest number on the other side.
__device__ __forceinline__ float least_exact_sum(std::int64_t depth, unsigned most_of_x,
                                                 unsigned most_of_y) {
  // 2^-25 of the sum may be lost, half of what rounding it may lose.
  constexpr float kShare = 0x1p25f * parts::kLostByTerms;
  const float each = static_cast<float>(depth) * kShare;
  return each * __uint_as_float(most_of_x) + each * __uint_as_float(most_of_y);
}

// The least sum that is right, of the lines from the lane's first ones on.
template <class C>
__device__ __forceinline__ float least_exact(TermPart x, TermPart y) {
  const auto of_lane = [](TermPart part, std::int64_t lines) {
    part.lines = max(std::int64_t{0}, min(part.lines, lines));
    return largest_of_lane(part);
  };
  return least_exact_sum(x.depth, __reduce_max_sync(0xffffffffu, of_lane(x, C::tile_x)),
                         __reduce_max_sync(0xffffffffu, of_lane(y, 2)));
}

// A sum again, in float64, rounded once.
__device__ WARPLADDER_INLINE_ON_GPU float multiply_again(const TermPart& x, const TermPart& y,
                                                         std::int64_t line_x, std::int64_t line_y) {
  const float *from_x = x.data + line_x * x.across, *from_y = y.data + line_y * y.across;
  double sum = 0;
  WARPLADDER_NO_UNROLL
  for (std::int64_t k = 0; k < x.depth; ++k) {
    sum += double{*from_x} * double{*from_y};
    from_x += x.along;
    from_y += y.along;
  }
  return static_cast<float>(sum);
}

// Whether a sum is what the terms' products are: the tensor cores' largest may stand for an
// infinity.
__device__ __forceinline__ bool is_right(float sum, float least) {
  constexpr float kLarge = 0x1p127f;
  return fabsf(sum) < kLarge && fabsf(sum) >= least;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
