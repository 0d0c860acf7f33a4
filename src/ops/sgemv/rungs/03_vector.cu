// Bound before: a lane asks for 4 bytes and waits for them.
// Idea: it asks for 16. A warp takes 128 neighbours of a line at a time; across the lines a block
// has 128 columns, and each thread four sums.
//
// Prediction, per 128 elements of A: a load of 16 sectors, and of x 16 along, 1 across: a quarter
// of the requests of 02_warp_per_line. Along: five shuffles a line. Across, per 128 columns, for
// each warp: a store of 4 wavefronts to shared memory, and a load of 1 wavefront for each 32
// columns.
// Accepts: every problem; float4 where alignment allows, else words. What binds it: one load under
// way for each thread, and few threads where lines are few and long.

#include "ops/sgemv/rung.hpp"
#include "parts/multiply_add.hpp"
#include "parts/warp.hpp"

namespace warpladder::sgemv {
namespace {

struct Config {
  int warps = 8;
  constexpr int threads() const { return 32 * warps; }
};
constexpr Config kConfig;

// What a thread reads of a line at once.
template <int kWidth>
using Piece = std::conditional_t<kWidth == 4, float4, float>;

template <int kWidth>
__global__ void __launch_bounds__(kConfig.threads()) multiply_along(Gemv g) {
  const int lane = threadIdx.x % 32;
  const std::int64_t line = std::int64_t{blockIdx.x} * kConfig.warps + threadIdx.x / 32;
  if (line >= g.lines) return;
  const float* a = g.a + line * g.ld;
  float sum = 0.0f;
  for (std::int64_t j = kWidth * lane; j < g.length; j += 32 * kWidth) {
    parts::add_product(sum, *reinterpret_cast<const Piece<kWidth>*>(&a[j]),
                       *reinterpret_cast<const Piece<kWidth>*>(&g.x[j * g.incx]));
  }
  sum = parts::warp::reduce(sum, parts::warp::Sum());
  if (lane == 0) store_scaled(g, line, sum);
}

template <int kWidth>
__global__ void __launch_bounds__(kConfig.threads()) multiply_across(Gemv g) {
  __shared__ Piece<kWidth> of_thread[kConfig.warps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t strip = std::int64_t{blockIdx.x} * 32 * kWidth, column = strip + kWidth * lane;
  Piece<kWidth> sums{};
  for (std::int64_t i = warp; i < g.lines && column < g.length; i += kConfig.warps) {
    parts::add_scaled(sums, *reinterpret_cast<const Piece<kWidth>*>(&g.a[i * g.ld + column]),
                      g.x[i * g.incx]);
  }
  of_thread[warp][lane] = sums;
  __syncthreads();  // all threads' sums are there before they are added up
  const int t = threadIdx.x;
  if (t >= 32 * kWidth || strip + t >= g.length) return;
  const float* of_column = reinterpret_cast<const float*>(of_thread) + t;
  float sum = 0.0f;
  for (int w = 0; w < kConfig.warps; ++w) sum += of_column[w * 32 * kWidth];
  store_scaled(g, strip + t, sum);
}

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  const auto blocks = to_grid(ceil_div(g.lines, kConfig.warps));
  runtime::launch(stream, {dim3(blocks), dim3(kConfig.threads())},
                  vectors_allowed(g) ? multiply_along<4> : multiply_along<1>, g);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  const bool vectors = vectors_allowed(g);
  const auto blocks = to_grid(ceil_div(g.length, vectors ? 128 : 32));
  runtime::launch(stream, {dim3(blocks), dim3(kConfig.threads())},
                  vectors ? multiply_across<4> : multiply_across<1>, g);
}

ladder::Totals predict_along(const Gemv& g) {
  const std::uint64_t steps = g.lines * g.length / 128;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (16 + 16) * steps;
  t.global_store_requests = t.global_store_sectors = g.lines;
  t.shuffles = 5 * g.lines;
  t.fmas = 128 * steps;
  return t;
}
ladder::Totals predict_across(const Gemv& g) {
  const std::uint64_t steps = g.lines * g.length / 128, strips = g.length / 128;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (16 + 1) * steps;
  t.global_store_requests = 4 * strips;
  t.global_store_sectors = 16 * strips;
  t.shared_store_requests = t.barriers = kConfig.warps * strips;
  t.shared_store_wavefronts = 4 * t.shared_store_requests;
  t.shared_load_requests = t.shared_load_wavefronts = 4 * kConfig.warps * strips;
  t.fmas = 128 * steps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(03_vector) = {.idea = "float4 of a line in each lane",
                              .accepts = "every problem; float4 where alignment allows",
                              .launch = launch_call<launch_along, launch_across>,
                              .predict = predict_call<predict_along, predict_across>};

}  // namespace warpladder::sgemv
