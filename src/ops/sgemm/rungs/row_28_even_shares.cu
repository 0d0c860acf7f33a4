// Bound before: row_19 and row_25, since gone, gave a CTA some lines of Y. Where those are no
// multiple of what all multiprocessors take at a time, some wait for others: 18175×2×884 (TN) took
// 31 µs on an H200. And row_25's copies of words were slow.
//
// Idea: CTAs stay, and go from tile to tile, the next one's rounds under way before the last one's
// sums are stored. Each has an even share of all tiles' turns, to within one turn; a second kernel
// adds up the sums of tiles that CTAs part. Of lines along k a warp copies rounds of 32×32 to
// shared memory, 128 bytes of each line. Of lines across k each lane reads its own straight into
// registers, a round ahead: there words cost no more than fours.
//
// Prediction: 18175×2×884 in 20 µs. Measured: 23; 9753×8×1303 (NN) 25, where the fastest rung
// before took 34.
// Accepts: up to 8 rows or columns, and batches of them; vectors where alignment allows.
// What binds it: memory, from some 100 MB on; of less, the launch and the first loads' latency. Of
// words along k, their copies.

#include "ops/sgemm/rung_line_shares.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  const bool along = are_along(in_layout(call.problem, Layout::row_major));
  with_few_lines(call, along, [&](const FewLines& few, LinesShape shape) {
    const Gemm& g = few.gemm;
    const Batch& batch = few.batch;
    const bool of_a = comes_by_fours(g.a, g.lda, g.k, batch.stride_a, batch),
               of_b = comes_by_fours(g.b, g.ldb, g.k, batch.stride_b, batch);
    SharedLines f{};
    static_cast<FewLines&>(f) = few;
    f.x_fours = f.x_k == 1 && (f.by_row ? of_a : of_b);
    shape.k = g.k;
    shape.words = !(f.by_row ? of_b : of_a);
    with_shared_tiles(shape, along, *stream.machine, [&]<class C>(const SharedTiles& tiles) {
      launch_shares<C>(f, tiles, stream);
    });
  });
}

bool takes(const Call& call) {
  return fits_shares(in_layout(call.problem, Layout::row_major), call.batch.count);
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  return most_bytes_of_shares(in_layout(call.problem, Layout::row_major), call.batch.count,
                              machine);
}

}  // namespace

WARPLADDER_RUNG(row_28_even_shares) = {
    .idea = "few rows in even shares, CTAs stay",
    .accepts = "up to 8 rows or columns; batches",
    .launch = launch,
    .predict = predict_in<Layout::row_major, predict_multiply_adds>,
    .takes = takes,
    .workspace_bytes = workspace,
    .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
