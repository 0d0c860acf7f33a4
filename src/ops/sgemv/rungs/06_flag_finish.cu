// Bound before: a second launch. It costs some 2 µs, begins when the last block of the first has
// ended, and reads the scratch anew.
// Idea: one kernel. A block publishes its sum with the flag that says so in one word of 64 bits.
// The last block of each line, or strip, takes these words as they come, in the order of the
// pieces, and clears them. It waits only for blocks that started before it.
//
// Prediction, for p pieces: 05_split's loads and exchange within a block. (p - 1)·outputs words of
// 64 bits are stored and as many taken. Along, that is a sector for each word stored, and a request
// for each line's. Across, it is 8 sectors for 32 of either. Along, 5 shuffles more a line. Across,
// in the last block of a strip: 8 stores to shared memory, 2 loads for each of up to 4 pieces, a
// barrier more.
// Accepts: every problem; float4 where alignment allows, else words. What binds it: memory; on
// short or thin matrices a block that is too large, or too small, for its lines.

#include "ops/sgemv/rung.hpp"
#include "parts/column_sums.hpp"
#include "parts/flag_finish.hpp"
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

template <int kWidth>
__global__ void __launch_bounds__(kThreads, kResident) multiply_along(Gemv g, std::int64_t size) {
  const std::int64_t line = blockIdx.x, first = blockIdx.y * size, left = g.length - first;
  const float* const a[1] = {g.a + line * g.ld + first};
  float sum[1] = {};
  parts::add_products<kWidth, kThreads, kWidth == 4 ? 4 : 8>(
      sum, a, g.x + first * g.incx, g.incx, left < size ? left : size, threadIdx.x);
  parts::add_up_threads<kThreads, kThreads>(sum);
  if (gridDim.y > 1) {
    std::uint64_t* slots = g.flags + line * parts::slots_of_value(gridDim.y);
    if (!parts::gather_value(slots, sum[0])) return;
  }
  if (threadIdx.x == 0) store_scaled(g, line, sum[0]);
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads, kResident) multiply_across(Gemv g, std::int64_t size) {
  using C = Strip<kVectors>;
  const std::int64_t first = std::int64_t{blockIdx.x} * C::columns;
  const std::int64_t line = blockIdx.y * size, left = g.lines - line;
  const float4 sums = parts::add_lines<kThreads, kVectors>(
      g.a + line * g.ld + first, g.ld, g.length - first, g.x + line * g.incx, g.incx,
      left < size ? left : size, C::lanes_log2);
  float sum = parts::add_up_groups<kThreads, kVectors>(sums, C::lanes_log2);
  if (gridDim.y > 1) {
    std::uint64_t* slots = g.flags + first * (gridDim.y - 1);
    if (!parts::gather_values<kThreads>(slots, C::lanes_log2 + 2, sum)) return;
  }
  const int column = threadIdx.x;
  if (column < C::columns && first + column < g.length) store_scaled(g, first + column, sum);
}

void launch_along(const Gemv& g, runtime::StreamView& stream) {
  const Pieces pieces = pieces_of_line(g, *stream.machine);
  runtime::launch(stream, {dim3(to_grid(g.lines), to_grid(pieces.count)), dim3(kThreads)},
                  vectors_allowed(g) ? multiply_along<4> : multiply_along<1>, g, pieces.size);
}
template <bool kVectors>
void launch_strips(const Gemv& g, runtime::StreamView& stream) {
  const Pieces pieces = pieces_of_strip<kVectors>(g, *stream.machine);
  const std::int64_t strips = ceil_div(g.length, Strip<kVectors>::columns);
  runtime::launch(stream, {dim3(to_grid(strips), to_grid(pieces.count)), dim3(kThreads)},
                  multiply_across<kVectors>, g, pieces.size);
}
void launch_across(const Gemv& g, runtime::StreamView& stream) {
  vectors_allowed(g) ? launch_strips<true>(g, stream) : launch_strips<false>(g, stream);
}

ladder::Totals predict_along(const Gemv& g, const runtime::Machine& machine) {
  const std::uint64_t steps = g.lines * g.length / 128, pieces = pieces_of_line(g, machine).count,
                      blocks = g.lines * pieces, others = pieces - 1;
  ladder::Totals t;
  t.global_load_requests = 2 * steps;
  t.global_load_sectors = (16 + 16) * steps;
  t.shared_store_requests = t.shared_store_wavefronts = t.barriers = kWarps * blocks;
  t.shared_load_requests = t.shared_load_wavefronts = (kWarps - 1) * blocks;
  t.global_store_requests = g.lines * (others + (others + 31) / 32 + 1);
  t.global_store_sectors = g.lines * (others + (others + 3) / 4 + 1);
  t.shuffles = 5 * (kWarps * blocks + (others ? g.lines : 0));
  t.fmas = 128 * steps;
  return t;
}
ladder::Totals predict_across(const Gemv& g, const runtime::Machine& machine) {
  const std::uint64_t steps = g.lines * g.length / 128,
                      pieces = pieces_of_strip<true>(g, machine).count,
                      strips = g.length / Strip<true>::columns, blocks = strips * pieces,
                      words = (pieces - 1) * g.length, last = pieces > 1 ? strips : 0,
                      took = pieces < 5 ? pieces - 1 : 4;  // of the last block's four groups
  ladder::Totals t;
  t.global_load_requests = steps + steps / 4;
  t.global_load_sectors = 16 * steps + steps / 4;
  t.shared_store_requests = t.barriers = kWarps * (blocks + last);
  t.shared_store_wavefronts = 2 * kWarps * blocks + kWarps * last;
  t.shared_load_requests = t.shared_load_wavefronts = 2 * kWarps * blocks + 2 * took * last;
  t.global_store_requests = (2 * words + g.length) / 32;
  t.global_store_sectors = (2 * 8 * words + 4 * g.length) / 32;
  t.shuffles = 4 * kWarps * blocks;
  t.fmas = 128 * steps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(06_flag_finish) = {
    .idea = "split sums meet in one kernel: value and flag in one word",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch_along, launch_across>,
    .predict = predict_call<predict_along, predict_across>};

}  // namespace warpladder::sgemv
