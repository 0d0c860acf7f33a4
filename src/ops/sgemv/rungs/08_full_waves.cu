// Bound before: waves that are not full. Across 5000 lines of 5000 there are 157 strips of 32
// columns for 132 multiprocessors. Across lines of 20000 there are 313 for 264 blocks at once. The
// last ones have the machine to themselves. And a matrix of one column leaves 7 of 8 lanes idle.
// Idea: cut the lines into as many pieces as make whole waves, within a twentieth, and let blocks
// join them as before (ops/sgemv/shape.hpp). Across a matrix of 32 MB or more, strips are 128
// columns wide. From 12 MB on they are so where strips are more blocks than run at once. One column
// without gaps is read as one line.
//
// Prediction: 07_by_shape's loads; across, the words and exchanges of the chosen pieces. Predicted
// on an H100: 1.02 times 07 across 5000 lines of 5000, 1.05 across 20000 of 20000, 1.5 for a column
// of a million. Accepts: every problem; float4 where alignment allows. What binds it: memory; small
// matrices, the launch and the loads' latency.

#include "ops/sgemv/rung_by_shape.hpp"

namespace warpladder::sgemv {
namespace {

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  is_one_column(g) ? launch_columns<plan_waves>(as_one_line(g), stream) : launch_lines(g, stream);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  is_one_column(g) ? launch_lines(as_one_line(g), stream) : launch_columns<plan_waves>(g, stream);
}

}  // namespace

WARPLADDER_RUNG(08_full_waves) = {
    .idea = "pieces that fill whole waves; one column is one line",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch_along, launch_across>,
    .predict = predict_call<predict_lines_by_shape, predict_columns<plan_waves>>};

}  // namespace warpladder::sgemv
