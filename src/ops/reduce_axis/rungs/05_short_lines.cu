// Bound before: rows of 7 elements. They are not whole vectors, so that a warp takes a row and 25
// of its lanes are idle. Of columns of 7 elements a block of 16 groups of threads has 9 idle.
// Idea: a block reads many whole rows into shared memory as the one piece of memory that they are.
// It reads 16 bytes a lane, whatever their alignment. Then 1 to 16 lanes fold each row. One word in
// 33 of the piece is left out, so that lanes which begin a row apart meet few banks twice. Short
// columns take a thread each, with eight rows under way.
// Prediction: for rows of 128 elements, 16 bytes a load, four stores to shared memory for each,
// free of conflicts, and loads of two wavefronts. For other aligned rows, 02_warp_per_line's way in
// vectors. Columns: a word a lane, no exchange. Accepts: every problem; wants rows of up to 256
// elements, or columns of few. Predicted: rows of 3000000x7 at 85 % of a read on an H100; measured:
// 97 % (LADDER.md). What binds it: memory; places, the instructions for each element.

#include "ops/reduce_axis/rung.hpp"
#include "parts/staged_piece.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kThreads = 256, kInFlight = 4, kStaged = 4 * kThreads * kInFlight, kLongest = 256;
constexpr int kColumnThreads = 128, kColumnShift = 7;

using Piece = parts::StagedPiece<kThreads, kInFlight>;

// A row from the qth word on; kLanes neighbours have an element of it by turns, each at least one.
template <class F, int kLanes>
__device__ __forceinline__ typename F::Value fold(const float* staged, int q, int columns) {
  const int lane = threadIdx.x % kLanes, count = (columns - lane + kLanes - 1) / kLanes;
  typename F::template Running<> running;
  q += lane;
  WARPLADDER_NO_UNROLL
  for (int k = 0; k < count; k += 4, q += 4 * kLanes) {
    float x[4];
    WARPLADDER_UNROLL
    for (int u = 0; u < 4; ++u) {
      x[u] = F::padding();
      if (k + u < count) x[u] = staged[Piece::place_of(q + u * kLanes)];
    }
    running.add(x, k);
  }
  return running.value([&](int of) { return std::int64_t{lane} + of * kLanes; });
}

template <class F, int kLanes>
__global__ void __launch_bounds__(kThreads) reduce_staged_rows(Call call, int rows_of_block) {
  __shared__ float staged[Piece::kSize];
  constexpr int kGroups = kThreads / kLanes;
  const Problem& p = call.problem;
  const int ld = static_cast<int>(p.ld), columns = static_cast<int>(p.columns);
  const std::int64_t row0 = std::int64_t{blockIdx.x} * rows_of_block, left = p.rows - row0;
  const int rows = left < rows_of_block ? static_cast<int>(left) : rows_of_block;
  const int first = Piece::stage(staged, call.in + row0 * ld, (rows - 1) * ld + columns);
  WARPLADDER_NO_UNROLL
  for (int base = 0; base < rows; base += kGroups) {  // all lanes go round as often
    const int row = base + threadIdx.x / kLanes;
    typename F::Value v = F::none();
    if (row < rows) v = fold<F, kLanes>(staged, first + row * ld, columns);
    v = parts::warp_reduce<F, kLanes>(v);
    if (row < rows && threadIdx.x % kLanes == 0) finish(call, row0 + row, v);
  }
}

template <class F>
__global__ void __launch_bounds__(kThreads) reduce_rows_by_warps(Call call) {
  const Problem& p = call.problem;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (row >= p.rows) return;
  const auto v = parts::warp_reduce<F>(
      parts::part_of_line<F, 32, kInFlight>(call.in + row * p.ld, p.columns, 0, 1));
  if (threadIdx.x % 32 == 0) finish(call, row, v);
}

template <class F>
__global__ void __launch_bounds__(kColumnThreads) reduce_columns(Call call) {
  typename F::Value* const no_table = nullptr;  // nothing to join
  const std::int64_t column0 = std::int64_t{blockIdx.x} * kColumnThreads;
  reduce_strip<F, kColumnThreads, 1, kColumnShift, 8>(
      call, column0, 0, 1, no_table, [&](int r, auto v) { finish(call, column0 + r, v); });
}

// Gaps between rows are read too, which is worth it where they are shorter than the rows.
bool is_short(const Problem& p) {
  return p.columns > 0 && p.ld <= kLongest && p.ld < 2 * p.columns;
}
int lanes_of(const Problem& p) {
  return p.ld <= 16 ? 1 : p.ld <= 32 ? 2 : p.ld <= 64 ? 4 : p.ld <= 128 ? 8 : 16;
}

template <class F>
void launch_rows(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (!is_short(p)) {
    return runtime::launch(stream, {dim3(blocks_for(p.rows, kThreads / 32)), dim3(kThreads)},
                           reduce_rows_by_warps<F>, call);
  }
  const int lanes = lanes_of(p), at_once = kThreads / lanes,
            rows = kStaged / (at_once * static_cast<int>(p.ld)) * at_once;
  const auto kernel = lanes == 1   ? reduce_staged_rows<F, 1>
                      : lanes == 2 ? reduce_staged_rows<F, 2>
                      : lanes == 4 ? reduce_staged_rows<F, 4>
                      : lanes == 8 ? reduce_staged_rows<F, 8>
                                   : reduce_staged_rows<F, 16>;
  runtime::launch(stream, {dim3(blocks_for(p.rows, rows)), dim3(kThreads)}, kernel, call, rows);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  parts::for_function(p.function, p.length(), [&](auto function) {
    using F = decltype(function);
    if (p.lines == Lines::rows) return launch_rows<F>(call, stream);
    const dim3 grid(blocks_for(p.columns, kColumnThreads));
    runtime::launch(stream, {grid, dim3(kColumnThreads)}, reduce_columns<F>, call);
  });
}

ladder::Totals predict(const Problem& p) {
  if (p.lines == Lines::columns) {
    return predict_strips(
        p, {{kColumnThreads, kColumnShift, 1}, blocks_for(p.columns, kColumnThreads)});
  }
  ladder::Totals t = predict_rows(p, 4);
  const ops::PartialCosts cost(p.function);
  cost.add_warp_reduce(t, is_short(p) ? p.rows / 4 : p.rows, is_short(p) ? 8 : 32);
  if (!is_short(p)) return t;
  t.global_store_requests = p.rows / 4;
  t.global_store_sectors = p.rows / 4;
  t.shared_store_requests = t.shared_store_wavefronts = 4 * t.global_load_requests;
  t.shared_load_requests = p.rows * p.columns / 32;
  t.shared_load_wavefronts = 2 * t.shared_load_requests;
  t.barriers = p.rows * p.columns / kStaged * kThreads / 32;
  return t;
}

}  // namespace

WARPLADDER_RUNG(05_short_lines) = {
    .idea = "many whole rows staged in one piece, a few lanes to each",
    .accepts = "every problem; wants short lines",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>};

}  // namespace warpladder::reduce_axis
