#pragma once
// How a product whose k is short (held_terms.hpp) stores its sums: those that the terms represent,
// and the others, multiplied again.

#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/tensor/held_tiles.hpp"
#include "ops/sgemm/tensor/term_part.hpp"
#include "ops/sgemm/tensor/term_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A thread's first line of a tile of Y. The second one is its neighbour. With the remainder of
// fragment_line() a register would be missing.
__device__ __forceinline__ int held_line() {
  return static_cast<int>(threadIdx.x) % 128 / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4 * 2;
}

// The product, and where a thread's first sum belongs in it. Sum 4·j + 2·h + i is that of lines
// x + 8·j + i and y + h.
template <bool kXAlong, bool kYAlong>
struct HeldPlace {
  std::int64_t x, y;
  float least;  // sums below it may be wrong

  __device__ __forceinline__ bool has(const SlicedGemm& g, int e) const {
    return x + e / 4 * 8 + e % 2 < g.x.lines && y + e / 2 % 2 < g.y.lines;
  }
  // The least sum of the warp that is right where terms have lost something.
  template <class C>
  __device__ __forceinline__ float least_of_warp(const SlicedGemm& g) const {
    return least_exact<C>(part_of_lines(g.x.data, g.x.ld, kXAlong, x, g.x.lines - x, 0, g.k),
                          part_of_lines(g.y.data, g.y.ld, kYAlong, y, g.y.lines - y, 0, g.k));
  }
  // Sum e again.
  __device__ __forceinline__ float again(const SlicedGemm& g, int e) const {
    const std::int64_t of_x = x + e / 4 * 8 + e % 2, of_y = y + e / 2 % 2;
    return multiply_again(part_of_lines(g.x.data, g.x.ld, kXAlong, of_x, 1, 0, g.k),
                          part_of_lines(g.y.data, g.y.ld, kYAlong, of_y, 1, 0, g.k), 0, 0);
  }
};

// Whether all of a tile is there, and its pairs may be stored at once.
template <class C, bool kXInLines>
__device__ __forceinline__ bool holds_whole_pairs(const SlicedGemm& g, std::int64_t x0,
                                                  std::int64_t y0) {
  const std::int64_t ld = kXInLines ? g.c_y : g.c_x;
  return x0 + C::tile_x <= g.x.lines && y0 + C::tile_y <= g.y.lines && g.beta == 0.0f &&
         ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(g.c) % sizeof(float2) == 0;
}

// Four sums, from number 4·j on. `whole`: all are there, and pairs may be stored at once.
template <bool kXInLines, class Place>
__device__ WARPLADDER_INLINE_ON_GPU void store_four(const SlicedGemm& g, const Place& at, int j,
                                                    const float (&sum)[4], bool whole) {
  const std::int64_t ld = kXInLines ? g.c_y : g.c_x;
  bool right = true;
  WARPLADDER_UNROLL_ON_GPU
  for (int e = 0; e < 4; ++e) right = is_right(sum[e], at.least) && right;
  float* const c = g.c + (at.x + 8 * j) * g.c_x + at.y * g.c_y;
  if (whole && right) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float2*>(c + i * ld) =
          kXInLines ? make_float2(g.alpha * sum[2 * i], g.alpha * sum[2 * i + 1])
                    : make_float2(g.alpha * sum[i], g.alpha * sum[2 + i]);
    }
    return;
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int e = 0; e < 4; ++e) {
    if (!at.has(g, 4 * j + e)) continue;
    float* const to = c + (kXInLines ? e / 2 * ld + e % 2 : e % 2 * ld + e / 2);
    if (is_right(sum[e], at.least)) store_scaled(to, g.alpha, sum[e], g.beta);
  }
  if (right) return;
  WARPLADDER_NO_UNROLL
  for (int e = 0; e < 4; ++e) {
    const float value = e == 0 ? sum[0] : e == 1 ? sum[1] : e == 2 ? sum[2] : sum[3];
    if (is_right(value, at.least) || !at.has(g, 4 * j + e)) continue;
    store_scaled(c + (kXInLines ? e / 2 * ld + e % 2 : e % 2 * ld + e / 2), g.alpha,
                 at.again(g, 4 * j + e), g.beta);
  }
}

// A lane's sums of its row h that are not right.
template <class C, class Place>
__device__ __forceinline__ void repair_rows(TermRows<C>& rows, const SlicedGemm& g, const Place& at,
                                            int h) {
  const int lane = threadIdx.x % 32;
  WARPLADDER_NO_UNROLL
  for (int e = 0; e < C::tile_x / 4; ++e) {
    const int number = e / 2 * 4 + 2 * h + e % 2;
    float& laid = rows.row[lane / 4][e / 2 * 8 + lane % 4 * 2 + e % 2];
    if (!is_right(laid, at.least) && at.has(g, number)) laid = at.again(g, number);
  }
}

// A thread's sums to rows of C that its warp lays down.
template <class C, class Place>
__device__ __forceinline__ void store_held_rows(TermRows<C>& rows, const SlicedGemm& g,
                                                const Place& at, std::int64_t x0,
                                                const float (&sum)[C::tile_x / 2]) {
  const int lane = threadIdx.x % 32, own = lane / 4, column = lane % 4 * 2;
  const std::int64_t y0 = at.y - 2 * own;
  const int columns = static_cast<int>(min(g.x.lines - x0, std::int64_t{C::tile_x}));
  WARPLADDER_UNROLL_ON_GPU
  for (int h = 0; h < 2; ++h) {
    bool right = true;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::tile_x / 8; ++j) {
      const float first = sum[4 * j + 2 * h], second = sum[4 * j + 2 * h + 1];
      right = is_right(first, at.least) && is_right(second, at.least) && right;
      *reinterpret_cast<float2*>(&rows.row[own][8 * j + column]) = make_float2(first, second);
    }
    if (!right) repair_rows<C>(rows, g, at, h);
    __syncwarp();  // the rows are laid down
    float* const c = g.c + x0 + lane + (y0 + h) * g.c_y;
    WARPLADDER_UNROLL_BY(4)
    for (int r = 0; r < TermRows<C>::count; ++r) {
      if (y0 + h + 2 * r >= g.y.lines) break;
      WARPLADDER_UNROLL_ON_GPU
      for (int from = 0; from < C::tile_x; from += 32) {
        if (from + lane < columns) {
          store_scaled(c + 2 * r * g.c_y + from, g.alpha, rows.row[r][from + lane], g.beta);
        }
      }
    }
    __syncwarp();  // and have been read
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
