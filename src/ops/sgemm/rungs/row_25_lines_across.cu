// Bound before: of a few rows of X·W, row_11's tiles pass W through shared memory, and a second
// kernel adds up slices of k. 2×57868×656 (TN) takes 68.7 µs on an H100, and cuBLAS 69.8.
// Idea: row_19's, for lines that lie across k. A lane keeps the sums of its columns of W, for all
// rows. Asynchronous copies bring each warp its own lines of W and X, two or more rounds ahead; a
// lane copies the columns that it multiplies, and all lanes read X's same four words. The warps of
// a CTA may part k among them, and add up their sums at the end. One launch, and no workspace.
//
// Prediction: 2×57868×656 in 57 µs, 80 % of the data sheet's bandwidth. Measured: 63.0 µs; of 518
// products it is the fastest rung on 179, there 1.14 times as fast as the others in the mean.
// Accepts: up to 8 rows or columns, where the lines of the large operand lie across k, and batches
// of them; copies of 16 bytes where alignment allows.
// What binds it: memory; where columns are few, the loads' latency.

#include "ops/sgemm/rung_lines_across.hpp"

namespace warpladder::sgemm {
namespace {

// Whether four neighbours of each line may be read at once.
bool are_whole(const FewLines& f) {
  return comes_by_fours(f.by_row ? f.gemm.b : f.gemm.a, f.ldy, f.lines,
                        f.by_row ? f.batch.stride_b : f.batch.stride_a, f.batch);
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_few_lines(call, false, [&](FewLines f, LinesShape shape) {
    shape.words = !are_whole(f);
    with_across(shape, *stream.machine, [&]<class C>(const LinesSplit& split) {
      f.parts = split.parts, f.blocks = parts::Divisor::of(split.blocks);
      runtime::LaunchShape launch_shape = shape_of_lines(f);
      launch_shape.dynamic_shared_bytes = sizeof(AcrossShared<C>);
      runtime::launch(stream, launch_shape, multiply_lines_across<C>, f);
    });
  });
}

bool takes(const Call& call) {
  return has_few_lines(in_layout(call.problem, Layout::row_major), false, call.batch.count);
}

}  // namespace

WARPLADDER_RUNG(row_25_lines_across) = {
    .idea = "few rows times lines across k, read into registers",
    .accepts = "up to 8 rows or columns, the large operand across k; batches",
    .launch = launch,
    .predict = predict_in<Layout::row_major, predict_multiply_adds>,
    .takes = takes,
    .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
