// Bound before: row_17's stream brings a batch as fast as memory gives it. But the tensor cores'
// float64 multiplies no faster than CUDA cores do FP32. tc_15's three bfloat16 terms are five times
// as fast; its CTAs take one tile of one product each, and wait for its first round.
//
// Idea: terms in a stream. CTAs stay, and go through all tiles of all products. While the consumers
// multiply and store one tile, the producers copy and split the next one's. X are always columns of
// B. So a lane's sums are neighbours in C and leave from registers, with nothing laid down in
// shared memory. Two CTAs of 64×64 share a multiprocessor: one splits while the other multiplies.
// Tiles of 64×96 and 64×32 fit odd sizes, 128×128 large ones.
//
// Prediction: 90 % of what memory gives for 4,096 of 64×64×64, 60 µs on an H200, and twice cuBLAS's
// rate from 128×128×128 on. Measured: 56 µs, where row_17 takes 80 and cuBLAS 87. And 128 of
// 256×256×256 in 59 µs, where cuBLAS takes 98; 4096×4096×64 in 46 µs, where it takes 72.
// Accepts: every problem, batches in strides or in arrays of pointers. Lines may begin at any word:
// copies take 16 bytes all the same (term_shifts.hpp), and odd rows of C are stored whole.
// What binds it: memory for short k. Else issue slots: a round of 32 of k takes the producers about
// 250 instructions, half of them for the split. The consumers take as many.

#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/term_stream.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_term_stream(shape, *stream.machine, [&]<class C>(double) {
      constexpr std::int64_t kBrief = 2;
      const bool shifts =
          begins_anywhere(g, batch) && !is_brief(shape, tiles(g.k, C::depth), kBrief);
      with_shifts<C>(shifts, [&]<class Own>() {
        launch_term_stream<Own>(g, batch, trans_a, trans_b, stream);
      });
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  const StreamedShape shape{p.m, p.n, p.k, 1, width_for(p.lda, p.ldb)};
  with_term_stream(shape, machine, [&]<class C>(double) {
    const std::uint64_t tiles_of_c = tiles(p.m, C::tile_y) * tiles(p.n, C::tile_x),
                        ctas = std::min<std::uint64_t>(
                            tiles_of_c, std::uint64_t{C::resident} * machine.multiprocessors),
                        rounds = tiles_of_c * tiles(p.k, C::depth);
    t = predict_rounds_of_terms<C>(p, rounds, tiles_of_c);
    t.global_store_requests = tiles_of_c * (C::tile_x * C::tile_y / 64);
    t.global_store_sectors = 8 * t.global_store_requests;
    t.barriers += C::threads / 32 * ctas;
    t.shuffles = C::threads / 32 * tiles_of_c;  // a vote
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(tc_18_streamed_terms) = {.idea = "tc_15's terms in row_16's stream, for batches",
                                         .accepts = "every problem, and batches",
                                         .launch = launch,
                                         .predict = predict_in<Layout::row_major, predict>,
                                         .takes = takes_batches,
                                         .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
