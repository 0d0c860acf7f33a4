// Bound before: few lines, or few columns, are few blocks, and an H200 has 132 multiprocessors.
// Idea: cut each sum into pieces until there are about 528 blocks. Each block writes its piece's
// sum to the scratch. A second kernel adds them in a fixed order, so that the result is repeatable.
// Prediction, for p pieces: 04's loads, and its exchange for each block. Along, 256 threads have a
// line. Across, 256 threads have 64 columns: 4 shuffles, a store of 2 wavefronts for each warp and
// 16 loads of 1. p·outputs floats written and read again: 4 sectors for 32, but a sector each along
// a line.
// Accepts: every problem; float4 where alignment allows, else words. What binds it: memory, where A
// is large; else the second launch, which begins when the last block of the first has ended.

#include "ops/sgemv/rung.hpp"
#include "parts/column_sums.hpp"
#include "parts/line_products.hpp"

namespace warpladder::sgemv {
namespace {

constexpr int kThreads = 256, kResident = 4, kWarps = kThreads / 32;
std::int64_t blocks_for(const runtime::Machine& machine) { return 4 * machine.multiprocessors; }

template <bool kVectors>
struct Strip {
  static constexpr int lanes_log2 = kVectors ? 4 : 5, columns = 4 << lanes_log2,
                       least = 4 * (kThreads >> lanes_log2);  // lines that all groups take once
};

Pieces pieces_of_line(const Gemv& g, const runtime::Machine& machine) {
  return cut(g.length, ceil_div(blocks_for(machine), g.lines), 4 * kThreads, 128, g.most_pieces);
}
template <bool kVectors>
Pieces pieces_of_strip(const Gemv& g, const runtime::Machine& machine) {
  using C = Strip<kVectors>;
  return cut(g.lines, ceil_div(blocks_for(machine), ceil_div(g.length, C::columns)), C::least, 32,
             g.most_pieces);
}

// What one block adds up: y itself where there is one piece.
__device__ __forceinline__ void leave(const Gemv& g, std::int64_t output, std::int64_t outputs,
                                      float sum) {
  if (gridDim.y == 1) {
    store_scaled(g, output, sum);
  } else {
    g.scratch[blockIdx.y * outputs + output] = sum;
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads, kResident) multiply_along(Gemv g, std::int64_t size) {
  const std::int64_t line = blockIdx.x, first = blockIdx.y * size, left = g.length - first;
  const float* const a[1] = {g.a + line * g.ld + first};
  float sum[1] = {};
  parts::add_products<kWidth, kThreads, kWidth == 4 ? 4 : 8>(
      sum, a, g.x + first * g.incx, g.incx, left < size ? left : size, threadIdx.x);
  parts::add_up_threads<kThreads, kThreads>(sum);
  if (threadIdx.x == 0) leave(g, line, g.lines, sum[0]);
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads, kResident) multiply_across(Gemv g, std::int64_t size) {
  using C = Strip<kVectors>;
  const std::int64_t first = std::int64_t{blockIdx.x} * C::columns;
  const std::int64_t line = blockIdx.y * size, left = g.lines - line;
  const float4 sums = parts::add_lines<kThreads, kVectors>(
      g.a + line * g.ld + first, g.ld, g.length - first, g.x + line * g.incx, g.incx,
      left < size ? left : size, C::lanes_log2);
  const float sum = parts::add_up_groups<kThreads, kVectors>(sums, C::lanes_log2);
  const int column = threadIdx.x;
  if (column < C::columns && first + column < g.length) leave(g, first + column, g.length, sum);
}

__global__ void __launch_bounds__(kThreads) add_up(Gemv g, std::int64_t outputs, int pieces) {
  const std::int64_t output = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (output >= outputs) return;
  float sum = 0.0f;
  for (int p = 0; p < pieces; ++p) sum += g.scratch[p * outputs + output];
  store_scaled(g, output, sum);
}

void launch_both(const Gemv& g, std::int64_t blocks, const Pieces& pieces, std::int64_t outputs,
                 void (*multiply)(Gemv, std::int64_t), runtime::StreamView& stream) {
  runtime::launch(stream, {dim3(to_grid(blocks), to_grid(pieces.count)), dim3(kThreads)}, multiply,
                  g, pieces.size);
  if (pieces.count == 1) return;
  runtime::launch(stream, {dim3(to_grid(ceil_div(outputs, kThreads))), dim3(kThreads)}, add_up, g,
                  outputs, static_cast<int>(pieces.count));
}

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  launch_both(g, g.lines, pieces_of_line(g, *stream.machine), g.lines,
              vectors_allowed(g) ? multiply_along<4> : multiply_along<1>, stream);
}
template <bool kVectors>
void launch_strips(const Gemv& g, runtime::StreamView& stream) {
  launch_both(g, ceil_div(g.length, Strip<kVectors>::columns),
              pieces_of_strip<kVectors>(g, *stream.machine), g.length, multiply_across<kVectors>,
              stream);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  vectors_allowed(g) ? launch_strips<true>(g, stream) : launch_strips<false>(g, stream);
}

// The first kernel's stores, requests and sectors for 32 outputs, and the second kernel.
void add_stores(ladder::Totals& t, std::uint64_t outputs, std::uint64_t pieces,
                std::uint64_t requests, std::uint64_t sectors) {
  t.global_store_requests = pieces * outputs / 32 * requests;
  t.global_store_sectors = pieces * outputs / 32 * sectors;
  if (pieces == 1) return;
  t.global_load_requests += pieces * outputs / 32;
  t.global_load_sectors += 4 * pieces * outputs / 32;
  t.global_store_requests += outputs / 32;
  t.global_store_sectors += 4 * outputs / 32;
}

ladder::Totals predict_along(const Gemv& g, const runtime::Machine& machine) {
  const std::uint64_t steps = g.lines * g.length / 128, pieces = pieces_of_line(g, machine).count;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (16 + 16) * steps;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = kWarps * g.lines * pieces;
  t.shared_load_requests = t.shared_load_wavefronts = (kWarps - 1) * g.lines * pieces;
  t.shuffles = 5 * kWarps * g.lines * pieces;
  t.fmas = 128 * steps;
  add_stores(t, g.lines, pieces, 32, 32);
  return t;
}
ladder::Totals predict_across(const Gemv& g, const runtime::Machine& machine) {
  const std::uint64_t steps = g.lines * g.length / 128,
                      pieces = pieces_of_strip<true>(g, machine).count,
                      blocks = g.length / Strip<true>::columns * pieces;
  ladder::Totals t;
  t.global_load_requests = steps + steps / 4;
  t.global_load_sectors = 16 * steps + steps / 4;
  t.shared_store_requests = t.barriers = kWarps * blocks;
  t.shared_store_wavefronts = 2 * kWarps * blocks;
  t.shared_load_requests = t.shared_load_wavefronts = 2 * kWarps * blocks;
  t.shuffles = 4 * kWarps * blocks;
  t.fmas = 128 * steps;
  add_stores(t, g.length, pieces, 1, 4);
  return t;
}

}  // namespace

WARPLADDER_RUNG(05_split) = {
    .idea = "sums cut into pieces for more blocks; a second kernel adds these up",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch_along, launch_across>,
    .predict = predict_call<predict_along, predict_across>};

}  // namespace warpladder::sgemv
