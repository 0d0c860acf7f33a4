// Bound before: row_08_double needs float64 tensor cores, which only data-centre GPUs have, and
// takes no arrays of pointers.
//
// Idea: row_09_batched with float64 sums on CUDA cores. A product of two floats is exact in
// float64; the sum of k of them is off by k · 2^-53 at most, and each element of C is rounded once.
//
// Prediction: row_09_batched's accesses; no FP32 multiply-adds, for they are float64 ones.
//
// Accepts: every problem, batches in strides or in arrays of pointers; runs on every GPU.
// What binds it: float64 multiply-adds, 2 a cycle and multiprocessor on a GeForce, 64 on an H200.

#include "ops/sgemm/rung_batched.hpp"

namespace warpladder::sgemm {
namespace {

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = predict_batched(p);
  t.fmas = 0;
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_10_batched_double) = {.idea = "the same in float64, rounded once",
                                          .accepts = "every problem, and batches",
                                          .launch = launch_batched<double>,
                                          .predict = predict_in<Layout::row_major, predict>,
                                          .takes = takes_batches};

}  // namespace warpladder::sgemm
