// Bound before: a thread has 16 bytes under way. Memory answers after about 600 ns, in which an
// H200 could bring 3 MB.
// Idea: 64 bytes a thread. A block of 256 threads has a line, and each loads four float4 of it
// before it multiplies the first. Across the lines a block has a strip of 32 columns. Eight lanes
// take one line of it, 64 groups take four lines each, and x comes by four elements. The groups'
// sums meet by shuffles, then in shared memory.
//
// Prediction, per 512 elements of A: 4 loads of 16 sectors, and of x 4 loads of 16 along, 1 of 2
// across. Along, a line: 40 shuffles, 8 stores to shared memory, 7 loads. Across, per 32 columns:
// 16 warps with 8 shuffles, a store of 1 wavefront and a load of 1 each.
// Accepts: every problem; float4 where alignment allows, else words. What binds it: memory, where
// there are lines (or strips) enough for all multiprocessors; a few long ones leave most idle.

#include "ops/sgemv/rung.hpp"
#include "parts/column_sums.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemv {
namespace {

// kWidth: of what is loaded at once along a line, 4 or 1. resident: blocks of a multiprocessor, to
// which the compiler is held. Left alone it would rather have more blocks, with 32 registers a
// thread. It then uses the first loads before it asks for the next.
template <int kWidth>
struct Line {
  static constexpr int threads = 256, resident = 4, in_flight = kWidth == 4 ? 4 : 8;
};
template <bool kVectors>
struct Strip {
  static constexpr int threads = 512, resident = 2, lanes_log2 = kVectors ? 3 : 5,
                       columns = 4 << lanes_log2;
};

template <int kWidth>
__global__ void __launch_bounds__(Line<kWidth>::threads, Line<kWidth>::resident)
    multiply_along(Gemv g) {
  using C = Line<kWidth>;
  const std::int64_t line = blockIdx.x;
  const float* const a[1] = {g.a + line * g.ld};
  float sum[1] = {};
  parts::add_products<kWidth, C::threads, C::in_flight>(sum, a, g.x, g.incx, g.length, threadIdx.x);
  parts::add_up_threads<C::threads, C::threads>(sum);
  if (threadIdx.x == 0) store_scaled(g, line, sum[0]);
}

template <bool kVectors>
__global__ void __launch_bounds__(Strip<kVectors>::threads, Strip<kVectors>::resident)
    multiply_across(Gemv g) {
  using C = Strip<kVectors>;
  const std::int64_t first = std::int64_t{blockIdx.x} * C::columns;
  const float4 sums = parts::add_lines<C::threads, kVectors>(g.a + first, g.ld, g.length - first,
                                                             g.x, g.incx, g.lines, C::lanes_log2);
  const float sum = parts::add_up_groups<C::threads, kVectors>(sums, C::lanes_log2);
  const int column = threadIdx.x;
  if (column < C::columns && first + column < g.length) store_scaled(g, first + column, sum);
}

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  const bool vectors = vectors_allowed(g);
  runtime::launch(stream, {dim3(to_grid(g.lines)), dim3(Line<4>::threads)},
                  vectors ? multiply_along<4> : multiply_along<1>, g);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  const bool vectors = vectors_allowed(g);
  const std::int64_t columns = vectors ? Strip<true>::columns : Strip<false>::columns;
  runtime::launch(stream, {dim3(to_grid(ceil_div(g.length, columns))), dim3(Strip<true>::threads)},
                  vectors ? multiply_across<true> : multiply_across<false>, g);
}

ladder::Totals predict_along(const Gemv& g) {
  constexpr int kWarps = Line<4>::threads / 32;
  const std::uint64_t steps = g.lines * g.length / 128;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (16 + 16) * steps;
  t.global_store_requests = t.global_store_sectors = g.lines;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = kWarps * g.lines;
  t.shared_load_requests = t.shared_load_wavefronts = (kWarps - 1) * g.lines;
  t.shuffles = 5 * kWarps * g.lines;
  t.fmas = 128 * steps;
  return t;
}
ladder::Totals predict_across(const Gemv& g) {
  using C = Strip<true>;
  constexpr int kWarps = C::threads / 32;
  const std::uint64_t steps = g.lines * g.length / 128, strips = g.length / C::columns;
  ladder::Totals t;
  t.global_load_requests = steps + steps / 4;
  t.global_load_sectors = 16 * steps + 2 * steps / 4;
  t.global_store_requests = strips;
  t.global_store_sectors = 4 * strips;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = kWarps * strips;
  t.shared_load_requests = t.shared_load_wavefronts = kWarps * strips;
  t.shuffles = 2 * 4 * kWarps * strips;
  t.fmas = 128 * steps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(04_block_per_line) = {
    .idea = "a block for each line or strip, four float4 of each thread under way",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch_along, launch_across>,
    .predict = predict_call<predict_along, predict_across>};

}  // namespace warpladder::sgemv
