// Bound before: waiting. Where C has about as many tiles as the GPU has multiprocessors, each has
// one CTA of row_24. All warps of such a CTA stand at the same barrier at once. Of 1012×962×402 two
// thirds of the issue slots stay empty. Smaller tiles are row_26's, whose asynchronous copies of
// words take long where lines across k begin anywhere.
//
// Idea: a CTA's warps form groups. Each multiplies a part of k as row_07 does, by way of registers,
// with tiles in shared memory and a barrier of its own. While one group waits, the others multiply.
// In the end the first one adds up all sums. That needs neither workspace nor a second launch, as
// slices of k do. Tiles of 64×128 and 128×64 have three groups of four warps, 64×64 four of two.
// Those of 16×32 and 32×16 have four of one warp, which needs no barrier at all. 32×32 has one
// group. A model of the time chooses, and adds slices of k where tiles are few
// (ops/sgemm/parity_batches.hpp). In the small tiles a thread sums each 8 of k apart.
//
// Prediction: 1012×962×402 (NN) in 27 µs, where row_24 takes 43; 127×129×131 in 6 µs. Measured on
// an H200: 28.0 µs, where row_24 takes 45.1 and cuBLAS 26.0; and 6.8, where cuBLAS takes 6.9. Of
// 22,849 products it is the fastest rung on CUDA cores on 7,003, there 1.07 times as fast as the
// others in the mean. Of 17,807 batches it is on 5,097, 1.10 times as fast.
// Accepts: every problem, batches in strides or in arrays of pointers; float4 where alignment
// allows, and words from arrays of pointers.
// What binds it: the multiply-adds, of which row_07 issues more where it has two CTAs.

#include "ops/sgemm/rung_parity.hpp"

namespace warpladder::sgemm {
namespace {

using Rung = BatchesByParity<GroupedParity>;

}  // namespace

WARPLADDER_RUNG(row_27_grouped_warps) = {
    .idea = "groups of a CTA's warps part k, each with its own barrier",
    .accepts = "every problem, and batches",
    .launch = Rung::launch,
    .predict = predict_in<Layout::row_major, Rung::predict>,
    .takes = Rung::takes,
    .workspace_bytes = Rung::workspace_bytes};

}  // namespace warpladder::sgemm
