#pragma once
// Where the operands of a batch's products lie.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct ProductOperands {
  const float *a, *b;
  float* c;
};
__device__ __forceinline__ ProductOperands operands_of(const Gemm& g, const Batch& batch,
                                                       std::int64_t product) {
  if (batch.arrays) return {batch.a[product], batch.b[product], batch.c[product]};
  return {g.a + product * batch.stride_a, g.b + product * batch.stride_b,
          g.c + product * batch.stride_c};
}

// Whether four neighbours may be copied at once, as far as the address tells.
__device__ __forceinline__ bool is_whole(const float* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

// Whether lines of A or B begin elsewhere than at multiples of 16 bytes, as far as is known before
// arrays of pointers are read.
inline bool begins_anywhere(const Gemm& g, const Batch& batch) {
  const auto word_of = [](const float* data) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) / sizeof(float));
  };
  std::int64_t words = g.lda | g.ldb;
  if (!batch.arrays) words |= word_of(g.a) | word_of(g.b);
  if (batch.count > 1) words |= batch.stride_a | batch.stride_b;
  return words % 4 != 0;
}

// For rungs that launch a whole batch at once: calls run(Gemm, Batch, trans_a, trans_b) where there
// is anything to do. `Gemm` is row-major.
template <class Run>
void with_batch(const Call& given, const Run& run) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || call.batch.count == 0) return;
  Gemm g = gemm_of(call);
  if (p.alpha == 0.0f) g.k = 0;
  run(g, call.batch, p.trans_a, p.trans_b);
}
inline bool takes_batches(const Call&) { return true; }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
