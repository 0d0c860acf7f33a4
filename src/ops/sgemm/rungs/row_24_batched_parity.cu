// Bound before: shared memory and barriers in row_16, which reaches half of the multiply-adds'
// peak; and CTAs, where a batch has few tiles.
//
// Idea: row_07's tiles for a whole batch, in one launch. A CTA finds its product by its number. A
// model of the time (ops/sgemm/parity_batches.hpp) chooses among tiles of 128×128, 64×128, 128×64
// and 64×64. Where a batch has few tiles it also chooses slices of k, as in row_20. A second launch
// then adds up the slices of all products, in a fixed order.
//
// Prediction: nine tenths of the peak, as row_07: 16 of 512×512×512 in 75 µs on an H100. Measured:
// 93 µs, where row_16 takes 122 and cuBLAS 92. By slices of k, 22 of 20×116×635 take 14 µs instead
// of 27 (cuBLAS 16). And 5 of 124×756×761 (TN) take 27 instead of 44 (cuBLAS 28).
// Accepts: every problem, batches in strides or in arrays of pointers; float4 where alignment
// allows, and words from arrays of pointers.
// What binds it: the multiply-adds, as in row_07; zeros in the tiles of small and thin products.

#include "ops/sgemm/rung_parity.hpp"

namespace warpladder::sgemm {
namespace {

using Rung = BatchesByParity<BatchedParity>;

}  // namespace

WARPLADDER_RUNG(row_24_batched_parity) = {
    .idea = "row_07's tiles for a batch, k parted where they are few",
    .accepts = "every problem, and batches",
    .launch = Rung::launch,
    .predict = predict_in<Layout::row_major, Rung::predict>,
    .takes = Rung::takes,
    .workspace_bytes = Rung::workspace_bytes};

}  // namespace warpladder::sgemm
