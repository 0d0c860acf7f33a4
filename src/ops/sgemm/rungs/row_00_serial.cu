// The foot of the ladder: three loops on one CPU core. It is the truth's plain sister (fp32, not
// float64) and the 1× of every speed-up.
//
// Prediction: one multiply-add after the other, each waiting for the sum before it: about 1 ns
// each. Accepts: every problem. What binds it: the latency of one addition.

#include "ops/sgemm/rung.hpp"

namespace warpladder::sgemm {
namespace {

template <bool kARows, bool kBRows>
void multiply(const Gemm& g) {
  const Operand<kARows> a{g.a, g.lda};
  const Operand<kBRows> b{g.b, g.ldb};
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      float sum = 0.0f;
      for (std::int64_t k = 0; k < g.k; ++k) sum += a(i, k) * b(k, j);
      store_scaled(&g.c[i * g.ldc + j], g.alpha, sum, g.beta);
    }
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView&) {
  for_transposes(trans_a, trans_b,
                 [&]<bool kARows, bool kBRows>() { multiply<kARows, kBRows>(g); });
}

}  // namespace

WARPLADDER_RUNG(row_00_serial) = {.idea = "three loops on one CPU core",
                                  .accepts = "every problem",
                                  .launch = launch_on_host<Layout::row_major, launch>,
                                  .on_host = true};

}  // namespace warpladder::sgemm
