#pragma once
// The only project header that a reduce_axis rung includes, parts/ apart.

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/reduce_axis/problem.hpp"
#include "ops/reduction_costs.hpp"
#include "parts/reduction.hpp"

namespace warpladder::reduce_axis {
inline namespace WARPLADDER_FLAVOUR {

// The result of line i. Called by one thread.
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, float v) {
  const Problem& p = call.problem;
  call.values[i] = p.function == Function::mean ? v / static_cast<float>(p.length()) : v;
}
__device__ __forceinline__ void finish(const Call& call, std::int64_t i, parts::Found v) {
  call.places[i] = v.at == parts::kNowhere ? -1 : v.at;
}

inline unsigned blocks_for(std::int64_t things, std::int64_t in_a_block) {
  return static_cast<unsigned>((things + in_a_block - 1) / in_a_block);
}

// ---- short rows

// Rows of up to kLanes vectors: four rows to each group of kLanes threads of the block. Or, of up
// to 4·kLanes vectors, one row to a group. Either way four vectors are under way in each thread.
template <class F, int kThreads, int kLanes, bool kFourRows>
__device__ __forceinline__ void short_rows(const Call& call) {
  constexpr int kGroups = kThreads / kLanes, kRows = kFourRows ? 4 : 1, kVectors = 4 / kRows;
  const Problem& p = call.problem;
  const int lane = threadIdx.x % kLanes, count = static_cast<int>(p.columns / 4);
  const std::int64_t row0 = std::int64_t{blockIdx.x} * kGroups * kRows + threadIdx.x / kLanes;
  constexpr float kPadding = F::padding();
  float4 v[kRows][kVectors];
  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    const auto* vectors = reinterpret_cast<const float4*>(call.in + row * p.ld);
    WARPLADDER_UNROLL
    for (int u = 0; u < kVectors; ++u) {
      v[i][u] = make_float4(kPadding, kPadding, kPadding, kPadding);
      if (lane + u * kLanes < count && row < p.rows) v[i][u] = __ldg(&vectors[lane + u * kLanes]);
    }
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + i * kGroups;
    typename F::Value result = F::none();
    if (lane < count) result = F::template of_vectors<4 * kLanes>(v[i], 4 * lane);
    result = parts::warp_reduce<F, kLanes>(result);
    if (lane == 0 && row < p.rows) finish(call, row, result);
  }
}

// ---- columns: a block of kThreads takes a strip, 2^kShift threads wide, each thread with kWidth
// neighbouring columns; groups of threads go down the rows side by side.

// Whether four neighbouring columns may be read at once.
inline bool vectors_allowed(const Call& call) {
  const Problem& p = call.problem;
  return reinterpret_cast<std::uintptr_t>(call.in) % 16 == 0 && (p.ld | p.columns) % 4 == 0;
}

// kWidth neighbouring elements, at x[0][u], x[1][u], …
template <int kInFlight>
__device__ __forceinline__ void load_row(float (&x)[4][kInFlight], int u, const float* at) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(at));
  x[0][u] = v.x;
  x[1][u] = v.y;
  x[2][u] = v.z;
  x[3][u] = v.w;
}
template <int kInFlight>
__device__ __forceinline__ void load_row(float (&x)[1][kInFlight], int u, const float* at) {
  x[0][u] = __ldg(at);
}

// What this thread has of its columns: the rows first, first + step, … below `end`.
template <class F, int kWidth, int kInFlight>
__device__ __forceinline__ void go_down(const Call& call, std::int64_t column, std::int64_t first,
                                        std::int64_t end, int step,
                                        typename F::Running (&running)[kWidth]) {
  const std::int64_t leap = step * call.problem.ld;
  const float* at = call.in + first * call.problem.ld + column;
  float x[kWidth][kInFlight];
  for (; first + (kInFlight - 1) * step < end; first += kInFlight * step) {
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) load_row(x, u, at + u * leap);
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) running[c].add(x[c], first, step);
    at += kInFlight * leap;
  }
  if (first >= end) return;
  WARPLADDER_UNROLL
  for (int u = 0; u < kInFlight; ++u) {  // the last turn, cut short
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) x[c][u] = F::padding();
    if (first + u * step < end) load_row(x, u, at + u * leap);
  }
  WARPLADDER_UNROLL
  for (int c = 0; c < kWidth; ++c) running[c].add(x[c], first, step);
}

// Reduces a strip, or the share of it that is the `split`th of `splits`. visit(r, v) for the
// strip's column r, by one thread each.
template <class F, int kThreads, int kWidth, int kShift, int kInFlight, class Visit>
__device__ __forceinline__ void reduce_strip(const Call& call, std::int64_t column0, unsigned split,
                                             unsigned splits, const Visit& visit) {
  constexpr int kAcross = 1 << kShift, kGroups = kThreads / kAcross;
  const int t = threadIdx.x, a = t % kAcross, group = t / kAcross;
  const std::int64_t column = column0 + a * kWidth;
  typename F::Running running[kWidth];
  if (column < call.problem.columns) {
    const std::int64_t rows = call.problem.rows, share = (rows + splits - 1) / splits,
                       first = split * share, end = first + share < rows ? first + share : rows;
    go_down<F, kWidth, kInFlight>(call, column, first + group, end, kGroups, running);
  }
  if constexpr (kGroups == 1) {
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) {
      if (column < call.problem.columns) visit(a * kWidth + c, running[c].value());
    }
  } else {
    // Lanes with the same columns first, then what is left of them, in its order. Neighbouring
    // columns, which neighbouring threads pick up, lie on different banks.
    constexpr int kStride = kAcross > 8 ? kAcross + 8 : kAcross;
    constexpr int kLeft = kAcross < 32 ? kThreads / 32 : kGroups;
    __shared__ parts::SharedPartials<typename F::Value, kLeft * kWidth * kStride> partial;
    WARPLADDER_UNROLL
    for (int c = 0; c < kWidth; ++c) {
      typename F::Value v = running[c].value();
      WARPLADDER_UNROLL
      for (int distance = 16; distance >= kAcross; distance /= 2) {
        v = F::join(v, parts::exchange(v, distance));
      }
      const int row = (kAcross < 32 ? t / 32 : group) * kWidth + c;
      if (t % 32 < kAcross) partial.set(row * kStride + a, v);
    }
    __syncthreads();  // all are there before they are joined
    if (t >= kAcross * kWidth) return;
    typename F::Value v = F::none();
    for (int g = 0; g < kLeft; ++g) {
      v = F::join(v, partial.get((g * kWidth + t % kWidth) * kStride + t / kWidth));
    }
    if (column0 + t < call.problem.columns) visit(t, v);
  }
}

// Joins what the blocks of each split of a strip of kColumns have published, column by column, and
// writes the results. Groups of threads take every so many words; thread by thread the first group
// joins what they have. Unrolled, so that those loads do not wait for one another: everything here
// stands behind the last block's work.
template <class F, int kThreads, int kColumns>
__device__ __forceinline__ void collect_strip(const Call& call, std::int64_t column0,
                                              unsigned splits) {
  constexpr int kGroups = kThreads / kColumns;
  __shared__ parts::SharedPartials<typename F::Value, kThreads> partial;
  const int c = threadIdx.x % kColumns, group = threadIdx.x / kColumns;
  const std::int64_t columns = call.problem.columns, column = column0 + c;
  if (column < columns) {
    partial.set(threadIdx.x, parts::collect<F, 8>(&call.flags[2 * column], 2 * columns, group,
                                                  kGroups, static_cast<int>(splits)));
  }
  __syncthreads();  // all words are taken before they are joined
  if (group > 0 || column >= columns) return;
  typename F::Value v = F::none();
  WARPLADDER_UNROLL
  for (int g = 0; g < kGroups; ++g) v = F::join(v, partial.get(g * kColumns + c));
  finish(call, column, v);
}

// Strips of kWidth·2^shift columns: a block of so many threads to each, or to each of its splits.
struct Strips {
  int threads, shift;
  unsigned count, splits;
};

// Into how many each line is split, so that with a block to each that collects there are at most as
// many blocks as run at once, and every split has about as many turns.
inline unsigned splits_for(std::int64_t lines, std::int64_t blocks, std::int64_t turns) {
  const std::int64_t most = blocks / lines - 1;
  if (most < 2 || turns < 2) return 1;
  const std::int64_t rounds = (turns + most - 1) / most;
  return static_cast<unsigned>((turns + rounds - 1) / rounds);
}

// Narrow strips make many of them, so that few columns need splits; few rows leave no work for
// groups.
inline Strips strips_for(const Problem& p, int width) {
  const auto strips = [&](int shift) {
    return blocks_for(p.columns, std::int64_t{width} << shift);
  };
  if (width == 4 && strips(3) >= 100) {
    if (p.rows <= 64 && strips(9) >= 100) return {512, 9, strips(9), 1};
    const int shift = strips(3) <= 264 ? 3 : 5;
    return {shift == 3 ? 1024 : 512, shift, strips(shift), 1};
  }
  const auto split = [&](int threads, int shift, int rows_in_flight, std::int64_t blocks) {
    const std::int64_t turns = p.rows / ((threads >> shift) * rows_in_flight);
    return Strips{threads, shift, strips(shift), splits_for(strips(shift), blocks, turns)};
  };
  // The fewer splits there are to collect the better, as long as they keep the memory busy.
  if (width == 1) return split(512, 5, 4, 264);
  if (p.columns <= 16) return split(1024, 2, 4, 66);
  if (p.columns <= 256) return split(1024, 3, 4, 132);
  return split(256, 3, 8, 297);
}

// Of aligned strips, four columns to a thread; where they are split, another block collects.
inline ladder::Totals predict_strips(const Problem& p, const Strips& s) {
  const ops::PartialCosts cost(p.function);
  const std::uint64_t blocks = std::uint64_t{s.count} * s.splits, warps = s.threads / 32;
  const std::uint64_t across = 1 << s.shift, width = 4 * across, reading = (width + 31) / 32;
  const std::uint64_t left = across < 32 ? warps : s.threads / across;
  ladder::Totals t;
  t.global_load_requests = p.rows * p.columns / 128;
  t.global_load_sectors = p.rows * p.columns / 8;
  t.global_store_requests = p.columns / 32;
  t.global_store_sectors = p.columns / 32 * (cost.place ? 8 : 4);
  for (std::uint64_t distance = 16; distance >= across; distance /= 2) {
    t.shuffles += 4 * cost.requests(blocks * warps);
  }
  const bool narrow = across <= 16;
  cost.add_shared_stores(t, narrow ? 0 : 4 * blocks * warps, narrow ? 4 * blocks * warps : 0);
  cost.add_shared_loads(t, blocks * reading * left, 0);
  // Of columns that lie on different banks every other place does not.
  if (cost.place) t.shared_load_wavefronts += 2 * blocks * reading * left;
  t.barriers = blocks * warps;
  if (s.splits == 1) return t;
  // Published and, by atomics, taken: two words for each result.
  t.global_store_requests += 2 * cost.requests(blocks * reading);
  t.global_store_sectors += 2 * 16 * cost.requests(blocks * reading);
  cost.add_shared_stores(t, s.count * warps, 0);
  cost.add_shared_loads(t, s.count * reading * (s.threads / width), 0);
  t.barriers += s.count * warps;
  return t;
}

// launch() is called with at least one result.
using LaunchRung = void (*)(const Call& call, device::Stream& stream);
using PredictRung = ladder::Totals (*)(const Problem& problem);

template <LaunchRung launch>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  if (call.problem.results() > 0) launch(call, stream);
}
template <PredictRung predict>
ladder::Totals predict_call(const void* erased) {
  return predict(static_cast<const Call*>(erased)->problem);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce_axis

// Declares the rung of this file. `predict` counts for a compact, aligned matrix whose sizes are
// multiples of 128.
#define WARPLADDER_REDUCE_AXIS_RUNG(idea, accepts, launch, predict)                            \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"reduce_axis", __FILE__, idea, accepts, ::warpladder::device::kThisFlavour, false,      \
       &::warpladder::reduce_axis::launch_call<launch>,                                        \
       &::warpladder::reduce_axis::predict_call<predict>})
