// Bound before: the CTAs, where C has few tiles. row_13 keeps all multiprocessors busy, but its
// lanes' loads from shared memory hold the multiply-adds to half of the peak. row_07's tiles of
// 128×128 reach nine tenths of it, and are too few.
//
// Idea: row_07's product in slices of k, as row_13 cuts it, and in tiles of 128×128, 64×128 or
// 128×64. Where there are more tiles than multiprocessors, only the last rows or columns of C are
// in slices. They fill what the last wave of tiles would leave idle. A model of the time chooses
// form and slices (ops/sgemm/parity_slices.hpp). The slices' sums are added in a fixed order. With
// one slice C is stored at once, and no workspace is needed.
//
// Prediction: on an H100, 1000×1000×1000 (NT) in 49 µs, 256×256×65536 in 172 µs, 128×4096×4096 (NT)
// in 93 µs and 64×4096×4096 in 55 µs. Measured: 57, 178, 102 and 56 µs, where row_13 takes 82, 306,
// 158 and 73, and cuBLAS 50, 179, 102 and 57.
// Accepts: every problem; float4 where alignment allows.
// What binds it: the multiply-adds, as in row_07; for small products the join of the slices.

#include "ops/sgemm/rung_parity.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_parity_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    launch_product_slices<float, C>(
        g, trans_a, trans_b, slices, stream,
        [&]<bool kARows, bool kBRows, int kVector>(dim3 grid, const PartlySliced& s) {
          runtime::launch(stream, {grid, dim3(C::threads)},
                          multiply_by_parity<C, kARows, kBRows, kVector, PartlySliced>, s);
        });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_parity_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    Problem sliced = p;
    sliced.m -= slices.whole_rows;
    sliced.n -= slices.whole_columns;
    return predict_by_parity<C>(p, sliced, static_cast<std::uint64_t>(slices.count));
  });
}

}  // namespace

WARPLADDER_RUNG(row_20_parity_split_k) = {.idea = "row_07's tiles, k parted among CTAs",
                                          .accepts = "every problem; float4 where alignment allows",
                                          .launch = launch_in<Layout::row_major, launch>,
                                          .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
