#pragma once
// A product as kernels get it: their arguments, which every flavour and the library's host code see
// alike. Also compiled at run time.

#include <cstdint>

namespace warpladder::sgemm {

// What a rung's launch() gets: the product in the rung's own layout, and nothing left to decide.
// m and n are at least 1. k is 0 where BLAS forbids reading A and B (k == 0 or alpha == 0).
struct Gemm {
  std::int64_t m, n, k;
  float alpha, beta;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
  void* workspace;
  // What beta multiplies: C, or other memory where the rung takes_source. Its rows lie ld_source
  // apart; 0: one row for all.
  const float* source = nullptr;
  std::int64_t ld_source = 0;
};

// What a kernel that is compiled for one product's sizes still gets at launch.
struct ProductData {
  const float* a;
  const float* b;
  float* c;
  float alpha, beta;  // of kind Factor::any; the others are constants
};

}  // namespace warpladder::sgemm
