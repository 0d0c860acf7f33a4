// Bound before: tiles that C does not fill. Of 38×19 row_23's tiles of 32×32 leave two thirds
// empty, and their copies, loads and multiply-adds are issued all the same.
//
// Idea: a CTA's tile is one of nine, from 12×32 to 32×40, along C's rows or its columns. A lane has
// 3 to 8 lines by 4 to 6. Where tiles are few, up to four warps part k. The issue slots bind. So a
// step is one loop of four of k for any k, and no copy has a condition. Rows of C are stored by
// pieces that are powers of two, and one copy loop serves both stages.
//
// Prediction: 2,341 products of 43×19×360 in 70 µs, where row_27 takes 123 and cuBLAS 101.
// Measured on an H200: 119; 1,712 of 24×39×53 in 20.7 µs, where row_23 takes 27.3 and cuBLAS 22.0.
// Of 15,000 random batches it is the fastest rung on 2,365, there 1.09 times as fast as the others.
// Accepts: every problem, batches in strides or in arrays of pointers; fours where addresses allow.
// What binds it: the issue slots, of which a tile of 32×32 gives half to multiply-adds at k = 48.

#include "ops/sgemm/rung_fitted.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const ThreadedShape shape{g.m, g.n, g.k, batch.count, trans_a, trans_b, false};
    with_fitted_tile(shape, *stream.machine, [&]<class C>(const FittedPlan& plan) {
      launch_fitted<C>(g, batch, trans_a, trans_b, plan, stream);
    });
  });
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return fits_fitted(p.m, p.n, p.k, call.batch.count);
}

// Of one product. Lines that C has not are multiplied all the same.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = no_predicted_accesses();
  t.shuffles = 0;
  with_fitted_tile(threaded_shape(p, 1), machine, [&]<class C>(const FittedPlan& plan) {
    const bool rows = plan.rows_are_x, direct = p.n % 4 == 0 && plan.warps == 1;
    const std::uint64_t ctas =
        tiles(rows ? p.m : p.n, C::tile_x) * tiles(rows ? p.n : p.m, C::tile_y);
    t.fmas = ctas * C::tile_x * C::tile_y * tiles(p.k, 4) * 4;
    t.barriers = direct && stores_fours<C>(rows) ? 0 : ctas * plan.warps;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_29_fitted_tiles) = {.idea = "tiles that fit small products, one warp each",
                                        .accepts = "every problem, and batches",
                                        .launch = launch,
                                        .predict = predict_in<Layout::row_major, predict>,
                                        .takes = takes,
                                        .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
