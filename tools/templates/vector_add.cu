// Bound before: <the resource that bound the rung before, with its number>.
// Idea: {{idea}}.
//
// Prediction, per warp: <requests and sectors; predict() says it in code>.
// Accepts: every problem. What binds it: <the next rung's first line>.
//
// This is one element per thread, which is right; make it faster.

#include "ops/vector_add/rung.hpp"

namespace warpladder::vector_add {
namespace {

constexpr int kThreads = 128;

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

WARPLADDER_RUNG({{stem}}) = {.idea = "{{idea}}",
                             .accepts = "every problem",
                             .launch = launch_call<launch>,
                             .predict = predict_call<predict>};

}  // namespace warpladder::vector_add
