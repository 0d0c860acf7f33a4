// Bound before: row_11 reads lines that lie along k at two thirds of what memory gives. They go to
// shared memory and come from there, and a second kernel adds up the slices.
// Idea: 2 to 8 rows of x·Wᵀ are as many matrix-vector products that share the matrix. A warp reads
// its lines straight into registers, each word once. It multiplies them with all rows of the small
// operand, which the L1 cache holds. Exchanges leave one sum a lane. A warp has four or eight
// lines; or two or four, where that lets more warps read at the same time. The warps of a CTA may
// part k among them. No shared memory but for that, no workspace.
//
// Prediction: 85 % of what memory gives from 64 MiB on: 8×4096×4096 NT in 28 µs on an H100, where
// row_11 takes 37. Measured: 34 µs. 2×3822×430 takes 6.1 µs, where row_11 takes 8.5 and cuBLAS 6.6.
// Of 495 products it is the fastest rung on 372, there 1.27 times as fast as the others in the
// mean. Accepts: up to 8 rows or columns, where the lines of the large operand lie along k, and
// batches of them. It reads float4 where alignment allows and both operands lie so, and runs on
// every GPU. What binds it: memory; where lines are few, the loads' latency.

#include "ops/sgemm/rung_lines.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_few_lines(call, true, [&](FewLines f, LinesShape shape) {
    shape.words = f.x_k != 1 || f.batch.arrays || f.gemm.k % 4 || begins_anywhere(f.gemm, f.batch);
    with_along(shape, *stream.machine, [&]<class C>(const LinesSplit& split) {
      f.parts = split.parts, f.blocks = parts::Divisor::of(split.blocks);
      runtime::launch(stream, shape_of_lines(f), multiply_few_lines<C>, f);
    });
  });
}

bool takes(const Call& call) {
  return has_few_lines(in_layout(call.problem, Layout::row_major), true, call.batch.count);
}

}  // namespace

WARPLADDER_RUNG(row_19_few_lines) = {
    .idea = "few rows times lines along k, read into registers",
    .accepts = "up to 8 rows or columns, the large operand along k; batches",
    .launch = launch,
    .predict = predict_in<Layout::row_major, predict_multiply_adds>,
    .takes = takes};

}  // namespace warpladder::sgemm
