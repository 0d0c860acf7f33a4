// Bound before: columns of 3000000x7. They are read a word at a time, in strips of 32 columns of
// which 25 are not there.
// Idea: read the matrix as the one piece of memory that it is, in vectors. Let the threads that go
// through it side by side be a multiple of a row. Each then meets the same four columns in every
// lap. It keeps four partial results in registers; the block joins them in shared memory, and
// blocks join as in 04_split. Wider matrices, whose rows are not whole vectors either, get strips
// of 64 columns with eight rows under way, twice what 04 has. Prediction, for more than 64 columns:
// 04's loads of words; a ninth of a request's sectors more where rows do not begin on sectors.
// Accepts: columns. Predicted: 3000000x7 at 85 % of a read on an H100; measured: 90 % (LADDER.md).
// What binds it: memory, and for few MiB the words that blocks leave for each other.

#include "ops/reduce_axis/rung.hpp"

namespace warpladder::reduce_axis {
namespace {

constexpr int kThreads = 256, kInFlight = 8, kNarrow = 64;
constexpr int kStripThreads = kRagged.threads, kStripShift = kRagged.shift, kStripRows = 8;

// Blocks that go through the matrix, in laps of `threads` vectors each, and blocks that collect
// what they leave, of 8 columns each.
struct Laps {
  int threads;
  unsigned splits, collectors;
};
constexpr int kCollected = kThreads / 32;

// Where the whole vectors begin, and how many they are; up to three elements are in front of them,
// and behind.
struct Vectors {
  int front, behind;
  std::int64_t count, elements;
  __device__ __forceinline__ explicit Vectors(const Call& call) {
    const Problem& p = call.problem;
    const int into = static_cast<int>(reinterpret_cast<std::uintptr_t>(call.in) / 4 % 4);
    elements = (p.rows - 1) * p.ld + p.columns;
    front = static_cast<int>(min(elements, std::int64_t{-into & 3}));
    count = (elements - front) / 4;
    behind = static_cast<int>((elements - front) % 4);
  }
};

// Joins column j, which has every ld-th word of the block's table; the first word is of column
// `front` mod ld. Called by a warp; block 0 adds what is no vector.
template <class F>
__device__ __forceinline__ typename F::Value join_column(const Call& call, const Vectors& of,
                                                         const typename F::Value* table,
                                                         int threads, int j) {
  const int ld = static_cast<int>(call.problem.ld), lane = threadIdx.x % 32;
  typename F::Value v = F::none();
  for (int i = (j + ld - of.front % ld) % ld + lane * ld; i < 4 * threads; i += 32 * ld) {
    v = F::join(v, table[i]);
  }
  if (blockIdx.x == 0 && lane < of.front + of.behind) {
    const std::int64_t end = lane < of.front ? lane : of.elements - of.behind + lane - of.front;
    if (end % ld == j) v = F::join(v, F::of(call.in[end], end / ld));
  }
  return parts::warp_reduce<F>(v);
}

template <class F>
__global__ void __launch_bounds__(kThreads, 2) reduce_narrow(Call call, Laps laps) {
  constexpr int kWords = parts::kWordsOf<F>;
  __shared__ typename F::Value table[4 * kThreads];
  const Problem& p = call.problem;
  if (blockIdx.x >= laps.splits) {
    const std::int64_t column0 = std::int64_t{blockIdx.x - laps.splits} * kCollected;
    return collect_columns<F, kThreads, 32>(call, column0, laps.splits, table);
  }
  const Vectors of(call);
  const int t = threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * laps.threads + t;
  typename F::Value v[4] = {F::none(), F::none(), F::none(), F::none()};
  if (t < laps.threads && first < of.count) {
    const auto row_of = [&](int c, std::int64_t at) { return (of.front + 4 * at + c) / p.ld; };
    const int step = static_cast<int>(laps.splits) * laps.threads;
    go_down<F, 4, kInFlight>(call.in + of.front, 4, first, of.count, step, row_of, v);
  }
  WARPLADDER_UNROLL
  for (int c = 0; c < 4; ++c) table[4 * t + c] = v[c];
  __syncthreads();  // all are there before they are joined
  for (int j = t / 32; j < p.columns; j += kThreads / 32) {
    const auto joined = join_column<F>(call, of, table, laps.threads, j);
    if (t % 32 > 0) continue;
    if (laps.splits == 1) finish(call, j, joined);
    if (laps.splits > 1) parts::publish(&call.flags[kWords * (blockIdx.x * p.columns + j)], joined);
  }
}

// A strip to a block; where it is split, to as many blocks and one or more that collect.
template <class F>
__global__ void __launch_bounds__(kStripThreads, 2)
    reduce_strips(Call call, unsigned splits, unsigned collectors) {
  __shared__ typename F::Value table[StripTable<F, kStripThreads, 1, kStripShift>::kSize];
  const std::int64_t columns = call.problem.columns,
                     column0 = std::int64_t{blockIdx.x} << kStripShift;
  const unsigned split = blockIdx.y;
  if (split >= splits) {
    return collect_strip<F, kStripThreads, 1, kStripShift>(call, column0, splits, split, collectors,
                                                           table);
  }
  reduce_strip<F, kStripThreads, 1, kStripShift, kStripRows>(
      call, column0, split, splits, table, [&](int r, auto v) {
        if (splits == 1) return finish(call, column0 + r, v);
        parts::publish(&call.flags[parts::kWordsOf<F> * (split * columns + column0 + r)], v);
      });
}

// As many blocks as there are flags for, two a multiprocessor at the most; each with a turn to
// take.
template <class F>
Laps laps_of(const Problem& p, const runtime::Machine& machine) {
  const auto lap = static_cast<int>(p.ld / std::gcd(p.ld, std::int64_t{4}));
  const std::int64_t threads = kThreads / lap * lap, multiprocessors = machine.multiprocessors,
                     words = static_cast<std::int64_t>(flag_words(machine)),
                     most = std::min(2 * multiprocessors, words / (parts::kWordsOf<F> * p.columns));
  const unsigned splits = splits_for(1, most, p.rows * p.ld / (4 * threads * kInFlight / 2));
  return {static_cast<int>(threads), splits, splits > 1 ? blocks_for(p.columns, kCollected) : 0};
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  parts::for_function(p.function, p.length(), [&](auto function) {
    using F = decltype(function);
    if (p.ld <= kNarrow && p.ld < 2 * p.columns && p.rows > 0) {
      const Laps laps = laps_of<F>(p, *stream.machine);
      return runtime::launch(stream, {dim3(laps.splits + laps.collectors), dim3(kThreads)},
                             reduce_narrow<F>, call, laps);
    }
    const Strips s = ragged_strips_for(p, *stream.machine, kStripRows, parts::kWordsOf<F>);
    runtime::launch(stream, {dim3(s.count, s.splits + s.collectors), dim3(kStripThreads)},
                    reduce_strips<F>, call, s.splits, s.collectors);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_strips(p, ragged_strips_for(p, machine, kStripRows, 1));
}

bool takes_columns(const Call& call) { return call.problem.lines == Lines::columns; }

}  // namespace

WARPLADDER_RUNG(06_whole_laps) = {.idea = "few columns: laps of whole rows in vectors",
                                  .accepts = "columns",
                                  .launch = launch_call<launch>,
                                  .predict = predict_call<predict>,
                                  .takes = takes_columns};

}  // namespace warpladder::reduce_axis
