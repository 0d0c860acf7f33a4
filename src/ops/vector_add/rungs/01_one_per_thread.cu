// Idea: one thread per element. Neighbouring threads touch neighbouring words, so a warp's 32
// requests of 4 bytes merge into four sectors of 32 bytes.
//
// Prediction, per warp: 2 loads and 1 store of 4 sectors each, no multiply-adds.
// Accepts: every problem. What binds it: 12 bytes of memory traffic for each addition.

#include "ops/vector_add/rung.hpp"

namespace warpladder::vector_add {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) add(Call call) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < call.n) call.c[i] = call.a[i] + call.b[i];
}

void launch(const Call& call, runtime::StreamView& stream) {
  const auto blocks = static_cast<unsigned>((call.n + kThreads - 1) / kThreads);
  runtime::launch(stream, {dim3(blocks), dim3(kThreads)}, add, call);
}

ladder::Totals predict(const Call& call) {
  const std::uint64_t warps = call.n / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * warps;
  t.global_load_sectors = 8 * warps;
  t.global_store_requests = warps;
  t.global_store_sectors = 4 * warps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_one_per_thread) = {.idea = "one thread per element, neighbours side by side",
                                      .accepts = "every problem",
                                      .launch = launch_call<launch>,
                                      .predict = predict_call<predict>};

}  // namespace warpladder::vector_add
