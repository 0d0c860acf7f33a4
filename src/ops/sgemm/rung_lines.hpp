#pragma once
// Few lines of X times many lines of Y, both along k: the device code of row_19_few_lines. A warp
// keeps 32 sums, of kRows lines of X and 32 / kRows of Y.

#include "ops/sgemm/lines.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Y, whose lines lie along k, and X, of which there are few: element k of X's line i lies at
// i·x_line + k·x_k. C's elements lie c_x and c_y apart. `parts` warps share lines of Y.
struct FewLines {
  const float* y;
  std::int64_t ldy, lines;
  const float* x;
  std::int64_t x_line, x_k, rows, k;
  float* c;
  std::int64_t c_x, c_y;
  float alpha, beta;
  int parts;
};

template <int kRows, int kWidth>
struct Step {
  static constexpr int lines = kLinesOfWarp<kRows>, in_flight = 8 / lines, pieces = 32 * in_flight;
  using Piece = typename parts::LinePieces<kWidth, in_flight, lines>::Piece;
  // An addition more for a piece: the long sums are rounded a quarter as often. With eight rows
  // that takes a fifth longer.
  static constexpr bool kInParts = kRows == 4;

  // `left`: pieces from the warp's first on. kWhole: there are enough.
  template <bool kWhole>
  __device__ __forceinline__ static void add(float (&sum)[32], const float* const (&y)[lines],
                                             const float* const (&x)[kRows], std::int64_t x_k,
                                             std::int64_t left) {
    const int lane = threadIdx.x % 32;
    Piece a[in_flight][lines];
    WARPLADDER_UNROLL
    for (int u = 0; u < in_flight; ++u) {
      WARPLADDER_UNROLL
      for (int l = 0; l < lines; ++l) {
        a[u][l] = kWhole || lane + 32 * u < left
                      ? parts::load_piece(reinterpret_cast<const Piece*>(y[l]) + 32 * u)
                      : Piece{};
      }
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < in_flight; ++u) {
      WARPLADDER_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const Piece b = kWhole || lane + 32 * u < left
                            ? __ldg(reinterpret_cast<const Piece*>(x[r] + 32 * u * kWidth * x_k))
                            : Piece{};
        WARPLADDER_UNROLL
        for (int l = 0; l < lines; ++l) {
          float part = 0;
          parts::add_product(kInParts ? part : sum[l * kRows + r], a[u][l], b);
          if (kInParts) sum[l * kRows + r] += part;
        }
      }
    }
  }
};

// sum[i] over all lanes, in lane i: each exchange halves the sums that a lane has.
__device__ __forceinline__ float deal_out(float (&sum)[32]) {
  const unsigned lane = threadIdx.x % 32;
  WARPLADDER_UNROLL
  for (unsigned half = 16; half > 0; half /= 2) {
    const bool upper = lane & half;
    WARPLADDER_UNROLL
    for (unsigned i = 0; i < half; ++i) {
      const float other = upper ? sum[i] : sum[i + half];
      sum[i] = (upper ? sum[i + half] : sum[i]) + __shfl_xor_sync(0xffffffffu, other, half);
    }
  }
  return sum[0];
}

template <int kRows, int kWidth>
static __global__ void __launch_bounds__(32 * kWarpsOfLines, 2) multiply_few_lines(FewLines f) {
  using Own = Step<kRows, kWidth>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % f.parts;
  const std::int64_t first =
      (std::int64_t{blockIdx.x} * (kWarpsOfLines / f.parts) + warp / f.parts) * Own::lines;
  const std::int64_t k0 = (std::int64_t{part} * Own::pieces + lane) * kWidth,
                     step = std::int64_t{f.parts} * Own::pieces;
  const float *y[Own::lines], *x[kRows];
  WARPLADDER_UNROLL
  for (int l = 0; l < Own::lines; ++l) {  // beyond the last line that one is read again
    y[l] = f.y + (first + l < f.lines ? first + l : f.lines - 1) * f.ldy + k0;
  }
  WARPLADDER_UNROLL
  for (int r = 0; r < kRows; ++r) {
    x[r] = f.x + (r < f.rows ? r : f.rows - 1) * f.x_line + k0 * f.x_k;
  }
  float sum[32] = {};
  WARPLADDER_NO_UNROLL
  for (std::int64_t left = f.k / kWidth - part * Own::pieces; left > 0; left -= step) {
    left >= Own::pieces ? Own::template add<true>(sum, y, x, f.x_k, left)
                        : Own::template add<false>(sum, y, x, f.x_k, left);
    WARPLADDER_UNROLL
    for (const float*& line : y) line += step * kWidth;
    WARPLADDER_UNROLL
    for (const float*& line : x) line += step * kWidth * f.x_k;
  }
  float total = deal_out(sum);
  if (f.parts > 1) {
    __shared__ float of_warp[kWarpsOfLines][32];
    of_warp[warp][lane] = total;
    __syncthreads();  // all parts are there
    if (part > 0) return;
    for (int w = 1; w < f.parts; ++w) total += of_warp[warp + w][lane];
  }
  const std::int64_t line = first + lane / kRows, row = lane % kRows;
  if (line < f.lines && row < f.rows) {
    store_scaled(f.c + row * f.c_x + line * f.c_y, f.alpha, total, f.beta);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
