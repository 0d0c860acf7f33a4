// Bound before: row_11 reads lines that lie along k at two thirds of what memory gives: they go to
// shared memory and come from there, and a second kernel adds up the slices.
// Idea: 2 to 8 rows of x·Wᵀ are as many matrix-vector products that share the matrix. A warp reads
// four or eight of its lines straight into registers, each word once, and multiplies them with all
// rows of the small operand, which the L1 cache holds. Its 32 sums become one a lane in 31
// exchanges; the warps of a CTA may part k among them. No shared memory but for that, no workspace.
//
// Prediction: 85 % of what memory gives from 64 MiB on: 8×4096×4096 NT in 28 µs on an H100, where
// row_11 takes 37. Measured: 34 µs; 4×4096×11008 in 68 µs, 79 % of the data sheet's bandwidth,
// where row_11 takes 80 and cuBLAS 82. Accepts: up to 8 rows or columns, where the lines of the
// large operand lie along k; float4 where alignment allows and both operands lie so; runs on every
// GPU. What binds it: memory; few lines, the loads' latency.

#include "ops/sgemm/rung_lines.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const bool by_rows = trans_b && (trans_a || g.m <= g.n);  // Y is B
  FewLines f{};
  f.k = g.k, f.c = g.c, f.alpha = g.alpha, f.beta = g.beta;
  f.y = by_rows ? g.b : g.a, f.ldy = by_rows ? g.ldb : g.lda, f.lines = by_rows ? g.n : g.m;
  f.x = by_rows ? g.a : g.b, f.rows = by_rows ? g.m : g.n;
  f.c_x = by_rows ? g.ldc : 1, f.c_y = by_rows ? 1 : g.ldc;
  const std::int64_t ldx = by_rows ? g.lda : g.ldb;
  const bool x_along = by_rows ? !trans_a : trans_b;
  f.x_line = x_along ? ldx : 1, f.x_k = x_along ? 1 : ldx;
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(f.x) | reinterpret_cast<std::uintptr_t>(f.y);
  const bool vectors = x_along && addresses % 16 == 0 && (f.k | f.ldy | ldx) % 4 == 0;
  const LinesSplit split = split_lines(f.rows, f.lines, *stream.machine);
  f.parts = split.parts;
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(split.ctas)),
                                   dim3(32 * kWarpsOfLines)};
  if (f.rows > 4) {
    runtime::launch(stream, shape, vectors ? multiply_few_lines<8, 4> : multiply_few_lines<8, 1>,
                    f);
  } else {
    runtime::launch(stream, shape, vectors ? multiply_few_lines<4, 4> : multiply_few_lines<4, 1>,
                    f);
  }
}

bool takes(const Call& call) {
  return !call.batch.arrays && has_few_lines(in_layout(call, Layout::row_major).problem);
}

}  // namespace

WARPLADDER_RUNG(row_19_few_lines) = {
    .idea = "few rows times lines along k, read into registers",
    .accepts = "up to 8 rows or columns, the large operand along k",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict_multiply_adds>,
    .takes = takes};

}  // namespace warpladder::sgemm
