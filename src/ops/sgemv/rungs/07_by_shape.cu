// Bound before: one way for all shapes. Along lines of 64 elements a block of 256 threads is idle
// but for 16. Across lines of 64 columns a strip has few threads, and many pieces to join.
// Idea: choose by shape (ops/sgemv/shape.hpp). Along: 4 to 256 threads a line, so that each has one
// to four float4 of it. Where lines are that short, a thread has two or four lines. Across: wide
// strips of few threads where lines are few, narrow ones of many threads where they are many.
// Pieces only where blocks would leave multiprocessors idle. Of a few lines each thread adds up a
// column by itself, and of a small matrix each block.
//
// Prediction: 06_flag_finish's loads of A, but for small matrices across, where each element is a
// sector. Along, x is read once for all lines of a thread; across, once for four lines. Shuffles,
// exchanges and flags as the chosen threads need them. Accepts: every problem; float4 where
// alignment allows. What binds it: memory; small matrices, the launch and the loads' latency.

#include "ops/sgemv/rung_by_shape.hpp"

namespace warpladder::sgemv {

WARPLADDER_RUNG(07_by_shape) = {
    .idea = "threads, lines and pieces chosen by shape",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch_lines, launch_columns<plan_across>>,
    .predict = predict_call<predict_lines_by_shape, predict_columns<plan_across>>};

}  // namespace warpladder::sgemv
