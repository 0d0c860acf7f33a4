// Bound before: a product of 64×64×64 takes one CTA some microseconds and its launch as long. Many
// such products in a loop leave the GPU idle.
//
// Idea: one launch for a batch. The grid runs through the tiles of all products, which lie a stride
// apart or where arrays of pointers say. Tiles are 64×64, or 32×32 where m or n is 32 or less.
//
// Prediction, per warp and 16 steps of k: 8 global loads of 4 sectors, 8 shared stores, 32 shared
// loads of 4 wavefronts, 16 multiply-adds a thread and step.
//
// Accepts: every problem, batches in strides or in arrays of pointers; runs on every GPU.
// What binds it: shared-memory loads, 2 for 16 multiply-adds; operands are read word by word.

#include "ops/sgemm/rung_batched.hpp"

namespace warpladder::sgemm {

WARPLADDER_RUNG(row_09_batched) = {.idea = "one launch for many products",
                                   .accepts = "every problem, and batches",
                                   .launch = launch_batched<float>,
                                   .predict = predict_in<Layout::row_major, predict_batched>,
                                   .takes = takes_batches};

}  // namespace warpladder::sgemm
