// Bound before: along the lines, each lane on a line of its own, sectors of which 4 bytes are used.
// Idea: a warp walks along a line together, 32 neighbours at a time, and adds up its lanes' sums by
// exchanging them in registers. Across the lines the eight warps of a block share 32 columns: each
// takes every eighth line, and their sums meet in shared memory.
//
// Prediction, per 32 elements of A: a load of 4 sectors, and of x 4 along, 1 across. Along: five
// shuffles a line. Across, per 32 columns: 8 stores to shared memory and 7 loads, no bank twice.
// Accepts: every problem. What binds it: a lane waits for 4 bytes at a time.

#include "ops/sgemv/rung.hpp"

namespace warpladder::sgemv {
namespace {

struct Config {
  int warps = 8;
  constexpr int threads() const { return 32 * warps; }
};
constexpr Config kConfig;

__global__ void __launch_bounds__(kConfig.threads()) multiply_along(Gemv g) {
  const int lane = threadIdx.x % 32;
  const std::int64_t line = std::int64_t{blockIdx.x} * kConfig.warps + threadIdx.x / 32;
  if (line >= g.lines) return;
  const float* a = g.a + line * g.ld;
  float sum = 0.0f;
  for (std::int64_t j = lane; j < g.length; j += 32) sum += a[j] * g.x[j * g.incx];
  WARPLADDER_UNROLL
  for (int bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, bits);
  if (lane == 0) store_scaled(g, line, sum);
}

__global__ void __launch_bounds__(kConfig.threads()) multiply_across(Gemv g) {
  __shared__ float of_warp[kConfig.warps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + lane;
  float sum = 0.0f;
  for (std::int64_t i = warp; i < g.lines && column < g.length; i += kConfig.warps) {
    sum += g.a[i * g.ld + column] * g.x[i * g.incx];
  }
  of_warp[warp][lane] = sum;
  __syncthreads();  // all warps' sums are there before the first warp adds them up
  if (warp > 0 || column >= g.length) return;
  for (int w = 1; w < kConfig.warps; ++w) sum += of_warp[w][lane];
  store_scaled(g, column, sum);
}

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  const auto blocks = to_grid(ceil_div(g.lines, kConfig.warps));
  runtime::launch(stream, {dim3(blocks), dim3(kConfig.threads())}, multiply_along, g);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  const auto blocks = to_grid(ceil_div(g.length, 32));
  runtime::launch(stream, {dim3(blocks), dim3(kConfig.threads())}, multiply_across, g);
}

ladder::Totals predict_along(const Gemv& g) {
  const std::uint64_t steps = g.lines * g.length / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (4 + 4) * steps;
  t.global_store_requests = t.global_store_sectors = g.lines;
  t.shuffles = 5 * g.lines;
  t.fmas = 32 * steps;
  return t;
}
ladder::Totals predict_across(const Gemv& g) {
  const std::uint64_t steps = g.lines * g.length / 32, strips = g.length / 32;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (4 + 1) * steps;
  t.global_store_requests = strips;
  t.global_store_sectors = 4 * strips;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = kConfig.warps * strips;
  t.shared_load_requests = t.shared_load_wavefronts = (kConfig.warps - 1) * strips;
  t.fmas = 32 * steps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(02_warp_per_line) = {
    .idea = "a warp walks along a line, and adds up its lanes by shuffles",
    .accepts = "every problem",
    .launch = launch_call<launch_along, launch_across>,
    .predict = predict_call<predict_along, predict_across>};

}  // namespace warpladder::sgemv
