// Bound before: FP32 multiply-adds, where C has few tiles. row_11 and row_13 keep all
// multiprocessors busy, but a lane's loads from shared memory hold its multiply-adds to half of the
// peak. row_08's tensor cores reach nine tenths of the same peak, in tiles that are square and too
// few.
//
// Idea: row_08's product in slices of k, as row_13 cuts it, and in tiles of four forms, 32 to 128
// rows and columns. A model of the time chooses form and slices (ops/sgemm/double_slices.hpp). A
// slice's sums are rounded to FP32 once; the join adds them in float64, in a fixed order, and
// rounds C. With one slice C is stored at once, and no workspace is needed.
//
// Prediction: on an H100, 64×4096×4096 in 46 µs, 256×256×65536 in 165 µs, 512×512×8192 in 85 µs.
// Measured on an H100: 61, 154 and 83 µs, where row_11 and row_13 take 78, 273 and 144, and cuBLAS
// 59, 183 and 99. Accepts: every problem; float4 where alignment allows.
// What binds it: the float64 tensor cores from 64 rows on; the memory, and below 32 rows their
// padding; small products, two launches.

#include "ops/sgemm/rung_double.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_double_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    launch_double_slices<C>(g, trans_a, trans_b, slices, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_double_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    return predict_in_float64<C>(p, static_cast<std::uint64_t>(slices.count));
  });
}

}  // namespace

WARPLADDER_RUNG(row_14_double_split_k) = {.idea = "float64 tensor cores, k parted among CTAs",
                                          .accepts = "every problem; float4 where alignment allows",
                                          .launch = launch_in<Layout::row_major, launch>,
                                          .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
