// Idea: one thread per element of y. It walks along its line of A, or, where the sums run across
// the lines, down its column.
//
// Prediction, per warp and term. Along: a load of 32 sectors, of which 4 bytes each are used, for
// the lanes stand on 32 lines; of x one sector. Across: 4 sectors of a line, all used, and one of
// x.
// Accepts: every problem. What binds it: along, sectors, eight times what their bytes need. Across,
// a column's length, for each thread waits for one load at a time, and there are few threads.

#include "ops/sgemv/rung.hpp"

namespace warpladder::sgemv {
namespace {

struct Config {
  int threads = 128;
};
constexpr Config kConfig;

template <bool kAcross>
__global__ void __launch_bounds__(kConfig.threads) multiply(Gemv g) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kConfig.threads + threadIdx.x;
  if (i >= (kAcross ? g.length : g.lines)) return;
  const float* a = g.a + i * (kAcross ? 1 : g.ld);
  const float* x = g.x;
  float sum = 0.0f;
  for (std::int64_t left = kAcross ? g.lines : g.length; left > 0; --left) {
    sum += *a * *x;
    a += kAcross ? g.ld : 1;
    x += g.incx;
  }
  store_scaled(g, i, sum);
}

template <bool kAcross>
void launch(const Gemv& g, runtime::StreamView& stream) {
  const std::int64_t outputs = kAcross ? g.length : g.lines;
  runtime::launch(stream,
                  {dim3(to_grid(ceil_div(outputs, kConfig.threads))), dim3(kConfig.threads)},
                  multiply<kAcross>, g);
}

template <bool kAcross>
ladder::Totals predict(const Gemv& g) {
  const std::uint64_t warps = (kAcross ? g.length : g.lines) / 32, steps = g.lines * g.length / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = ((kAcross ? 4 : 32) + 1) * steps;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  t.fmas = 32 * steps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_thread_per_output) = {.idea = "one thread per element of y",
                                         .accepts = "every problem",
                                         .launch = launch_call<launch<false>, launch<true>>,
                                         .predict = predict_call<predict<false>, predict<true>>};

}  // namespace warpladder::sgemv
