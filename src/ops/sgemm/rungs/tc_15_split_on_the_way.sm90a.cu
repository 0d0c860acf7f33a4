// Bound before: tc_10 splits its operands in a pass of its own, which reads them and writes twice
// as many bytes. And its tiles are 128×128. With 64 rows, or few tiles and a long k, that takes
// longer than the CUDA cores do.
// Idea: split on the way. The FP32 operands are read once, and become three bfloat16 terms between
// shared memory and the tensor cores. The longer operand's are in registers, each element once. The
// other's are in shared memory, once a CTA. Three terms hold all 24 bits in FP32's range, so that
// nothing need be known of the operands beforehand. Producers copy, split the shorter operand and
// fill a ring of stages; consumers split the longer one and multiply. k is parted among all
// multiprocessors, as in row_13, and the slices' sums are added in a fixed order. Sums of 16 along
// k are promoted to FP32 registers.
//
// Six products of terms count. A sum that is not finite, or so small that what the terms lost below
// 2^-133 may matter, is computed again by FP32 multiply-adds.
//
// Prediction: 70 % of a sixth of the tensor cores' peak, 110 TFLOP/s on an H100, or 85 % of what
// memory gives. That is 64×4096×4096 in 30 µs, and 256×256×65536 in 95 µs. Measured on an H100: 44
// and 111 µs, where row_14 takes 61 and 154, and cuBLAS 58 and 180. And 16×8192×8192 in 105 µs,
// 85 % of what a read probe reaches, where cuBLAS takes 146.
// Accepts: every problem; 16-byte copies where address and leading dimension allow.
// What binds it: memory for up to 32 lines. For more, the consumers' chain of a split, six products
// and an addition. Two or four warpgroups keep the tensor cores busy for 55 % of the time.

#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/term_product.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_term_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    launch_split_on_the_way<C>(g, trans_a, trans_b, slices, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_term_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    const std::int64_t x = std::min(p.m, p.n), y = std::max(p.m, p.n);
    const std::uint64_t tiles_of_c = tiles(x, C::tile_x) * tiles(y, C::tile_y),
                        ctas = tiles_of_c * slices.count, rounds = tiles_of_c * slices.rounds;
    ladder::Totals t = predict_rounds_of_terms<C>(p, rounds, ctas);
    t.global_store_requests = ctas * (C::tile_x * C::tile_y / 32);
    t.barriers += (C::threads / 32 + 2 * C::warps) * ctas;
    t.shuffles = C::threads / 32 * ctas;  // a vote
    t.global_store_sectors = 4 * t.global_store_requests;
    predict_join(t, p, slices.count);
    return t;
  });
}

}  // namespace

WARPLADDER_RUNG(tc_15_split_on_the_way) = {
    .idea = "three bfloat16 terms, split between shared memory and tensor cores",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
