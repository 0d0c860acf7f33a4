#pragma once
// Few lines of X times many lines of Y: what row_19_few_lines and row_28_even_shares share, and
// the device code of row_19, whose lines lie along k. Its warps keep 32 sums each, of kRows lines
// of X and 32 / kRows of Y.

#include "ops/sgemm/lines.hpp"
#include "ops/sgemm/rung_operands.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Of each product: Y is B where `by_row`, else A. Element k of X's line i lies at i·x_line + k·x_k.
// C's elements lie c_x and c_y apart. `blocks`: CTAs of a product, where `parts` warps share lines.
struct FewLines {
  Gemm gemm;
  Batch batch;
  std::int64_t rows, lines, ldy, x_line, x_k, c_x, c_y;
  parts::Divisor blocks;
  int parts;
  bool by_row;
};
inline FewLines few_lines(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                          bool by_row) {
  FewLines f{};
  f.gemm = g, f.batch = batch, f.by_row = by_row;
  f.rows = by_row ? g.m : g.n, f.lines = by_row ? g.n : g.m, f.ldy = by_row ? g.ldb : g.lda;
  f.c_x = by_row ? g.ldc : 1, f.c_y = by_row ? 1 : g.ldc;
  const std::int64_t ldx = by_row ? g.lda : g.ldb;
  const bool x_along = by_row ? !trans_a : trans_b;
  f.x_line = x_along ? ldx : 1, f.x_k = x_along ? 1 : ldx;
  return f;
}

// A CTA's product. `block`: the CTA's number in it.
struct LineOperands {
  const float *x, *y;
  float* c;
  std::int64_t block;
};
__device__ __forceinline__ LineOperands operands_of(const FewLines& f, unsigned number) {
  const auto [product, block] = f.blocks(number);
  const ProductOperands all = operands_of(f.gemm, f.batch, product);
  return {f.by_row ? all.a : all.b, f.by_row ? all.b : all.a, all.c, block};
}

// `run` gets the batch and its sizes; the lines lie along k or across it.
template <class Run>
void with_few_lines(const Call& call, bool along, const Run& run) {
  const Problem p = in_layout(call.problem, Layout::row_major);
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    run(few_lines(g, batch, trans_a, trans_b, are_rows_few(p, along)),
        lines_shape(p, along, batch.count));
  });
}
inline runtime::LaunchShape shape_of_lines(const FewLines& f) {
  return {dim3(static_cast<unsigned>(f.blocks.by * f.batch.count)), dim3(32 * kWarpsOfLines)};
}

// A warp keeps C::rows·C::lines sums.
template <class C>
struct AlongStep {
  using Piece = typename parts::LinePieces<C::width, C::in_flight, C::lines>::Piece;
  // An addition more for a piece: the long sums are rounded a quarter as often. With eight rows
  // that takes a fifth longer.
  static constexpr bool kInParts = C::rows <= 4;

  // `left`: pieces from the warp's first on. kWhole: there are enough.
  template <bool kWhole>
  __device__ __forceinline__ static void add(float (&sum)[C::sums],
                                             const float* const (&y)[C::lines],
                                             const float* const (&x)[C::rows], std::int64_t x_k,
                                             std::int64_t left) {
    const int lane = threadIdx.x % 32;
    Piece a[C::in_flight][C::lines];
    WARPLADDER_UNROLL
    for (int u = 0; u < C::in_flight; ++u) {
      WARPLADDER_UNROLL
      for (int l = 0; l < C::lines; ++l) {
        a[u][l] = kWhole || lane + 32 * u < left
                      ? parts::load_piece(reinterpret_cast<const Piece*>(y[l]) + 32 * u)
                      : Piece{};
      }
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < C::in_flight; ++u) {
      WARPLADDER_UNROLL
      for (int r = 0; r < C::rows; ++r) {
        const Piece b = kWhole || lane + 32 * u < left
                            ? __ldg(reinterpret_cast<const Piece*>(x[r] + 32 * u * C::width * x_k))
                            : Piece{};
        WARPLADDER_UNROLL
        for (int l = 0; l < C::lines; ++l) {
          float part = 0;
          parts::add_product(kInParts ? part : sum[l * C::rows + r], a[u][l], b);
          if (kInParts) sum[l * C::rows + r] += part;
        }
      }
    }
  }
};

// sum[i] over all lanes, in each lane whose number ends on i: as long as a lane has several sums,
// each exchange halves their number.
template <unsigned kHalf, int kSums>
__device__ __forceinline__ void deal_out_halves(float (&sum)[kSums]) {
  const bool upper = threadIdx.x & kHalf;
  WARPLADDER_UNROLL
  for (unsigned i = 0; i < kHalf; ++i) {
    const float other = upper ? sum[i] : sum[i + kHalf];
    sum[i] = (upper ? sum[i + kHalf] : sum[i]) + __shfl_xor_sync(0xffffffffu, other, kHalf);
  }
  if constexpr (kHalf > 1) deal_out_halves<kHalf / 2>(sum);
}
template <int kSums>
__device__ __forceinline__ float deal_out(float (&sum)[kSums]) {
  deal_out_halves<kSums / 2>(sum);
  float total = sum[0];
  WARPLADDER_UNROLL
  for (int apart = kSums; apart < 32; apart *= 2) {
    total += __shfl_xor_sync(0xffffffffu, total, apart);
  }
  return total;
}

template <class C>
static __global__ void __launch_bounds__(32 * kWarpsOfLines, 2) multiply_few_lines(FewLines f) {
  using Step = AlongStep<C>;
  const LineOperands of = operands_of(f, blockIdx.x);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % f.parts;
  const std::int64_t first = (of.block * (kWarpsOfLines / f.parts) + warp / f.parts) * C::lines;
  const std::int64_t k0 = (std::int64_t{part} * C::pieces + lane) * C::width,
                     step = std::int64_t{f.parts} * C::pieces;
  const float *y[C::lines], *x[C::rows];
  WARPLADDER_UNROLL
  for (int l = 0; l < C::lines; ++l) {  // beyond the last line that one is read again
    y[l] = of.y + (first + l < f.lines ? first + l : f.lines - 1) * f.ldy + k0;
  }
  WARPLADDER_UNROLL
  for (int r = 0; r < C::rows; ++r) {
    x[r] = of.x + (r < f.rows ? r : f.rows - 1) * f.x_line + k0 * f.x_k;
  }
  float sum[C::sums] = {};
  WARPLADDER_NO_UNROLL
  for (std::int64_t left = f.gemm.k / C::width - part * C::pieces; left > 0; left -= step) {
    left >= C::pieces ? Step::template add<true>(sum, y, x, f.x_k, left)
                      : Step::template add<false>(sum, y, x, f.x_k, left);
    WARPLADDER_UNROLL
    for (const float*& line : y) line += step * C::width;
    WARPLADDER_UNROLL
    for (const float*& line : x) line += step * C::width * f.x_k;
  }
  float total = deal_out(sum);
  if (f.parts > 1) {
    __shared__ float of_warp[kWarpsOfLines][C::sums];
    if (lane < C::sums) of_warp[warp][lane] = total;
    __syncthreads();  // all parts are there
    if (part > 0 || lane >= C::sums) return;
    for (int w = 1; w < f.parts; ++w) total += of_warp[warp + w][lane];
  }
  const std::int64_t line = first + lane / C::rows, row = lane % C::rows;
  if (lane < C::sums && line < f.lines && row < f.rows) {
    store_scaled(of.c + row * f.c_x + line * f.c_y, f.gemm.alpha, total, f.gemm.beta);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
