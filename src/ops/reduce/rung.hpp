#pragma once
// The only project header that a reduce rung includes, parts/ apart.

#include <algorithm>
#include <utility>

#include "ladder/rung.hpp"
#include "ops/reduce/problem.hpp"
#include "ops/reduction_costs.hpp"
#include "parts/reduction.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::reduce {
inline namespace WARPLADDER_FLAVOUR {

// ---- where partial results come from, and where they go

template <class F>
struct Elements {
  const float* in;
  __device__ __forceinline__ typename F::Value get(std::int64_t i) const { return F::of(in[i], i); }
};

template <class Value>
struct Partials {
  Value* value;
  __device__ __forceinline__ Value get(std::int64_t i) const { return value[i]; }
  __device__ __forceinline__ void set(std::int64_t i, Value v) const { value[i] = v; }
};
template <class Value>
Partials<Value> partials_in(std::uint64_t* scratch) {
  return {reinterpret_cast<Value*>(scratch)};
}

// The result itself. Called by one thread.
__device__ __forceinline__ void finish(const Call& call, float v) {
  const Problem& p = call.problem;
  *call.value = p.function == Function::mean ? v / static_cast<float>(p.n) : v;
}
template <class Word>
__device__ __forceinline__ void finish(const Call& call, parts::Found<Word> v) {
  *call.place = v.index();
}

// ---- rungs of many launches: each pass leaves one partial result a block, until one is left

template <class F>
struct PassEnd {
  Partials<typename F::Value> to;
  // Called by one thread of each block. The one block of the last pass has the result.
  __device__ __forceinline__ void end(const Call& call, typename F::Value v) const {
    if (gridDim.x == 1) {
      finish(call, v);
    } else {
      to.set(blockIdx.x, v);
    }
  }
};

// Runs kernel(call, source, count, PassEnd) for each pass; a block reduces kPerBlock values, and at
// least 256. Elements are the source of the first pass, partial results of the others:
// kernel_for(F, source) is the kernel for either.
template <class F, int kThreads, std::int64_t kPerBlock, class KernelFor>
void launch_passes_of(const Call& call, runtime::StreamView& stream, const KernelFor& kernel_for) {
  static_assert(kPerBlock >= 256);  // or scratch_words() would be too few
  using Value = typename F::Value;
  const auto blocks_for = [](std::int64_t count) {
    return count <= kPerBlock ? 1 : (count + kPerBlock - 1) / kPerBlock;
  };
  const auto launch_pass = [&](auto from, std::int64_t count, std::int64_t blocks,
                               const Partials<Value>& to) {
    runtime::launch(stream, {dim3(static_cast<unsigned>(blocks)), dim3(kThreads)},
                    kernel_for(F{}, from), call, from, count, PassEnd<F>{to});
  };
  std::int64_t count = call.problem.n, left = blocks_for(count);
  Partials<Value> to = partials_in<Value>(call.scratch),
                  other = partials_in<Value>(call.scratch + 2 * left);
  launch_pass(Elements<F>{call.in}, count, left, to);
  while (left > 1) {
    count = left;
    left = blocks_for(count);
    launch_pass(to, count, left, other);
    std::swap(to, other);  // the next pass may write over what this one read
  }
}
template <int kThreads, std::int64_t kPerBlock, class KernelFor>
void launch_passes(const Call& call, runtime::StreamView& stream, const KernelFor& kernel_for) {
  parts::for_function(call.problem.function, call.problem.n, [&](auto function) {
    launch_passes_of<decltype(function), kThreads, kPerBlock>(call, stream, kernel_for);
  });
}

using ops::PartialCosts;

// Of trees that leave one partial result for kPerBlock values: global accesses here, what a pass of
// so many blocks does besides by add_blocks(totals, blocks, costs).
template <std::int64_t kPerBlock, class AddBlocks>
ladder::Totals predict_trees(const Problem& p, const AddBlocks& add_blocks) {
  const PartialCosts cost(p.function);
  ladder::Totals t;
  for (std::uint64_t count = p.n, pass = 0;; ++pass) {
    const std::uint64_t blocks = (count + kPerBlock - 1) / kPerBlock;
    const std::uint64_t warps = (count + 31) / 32;
    t.global_load_requests += warps;
    t.global_load_sectors += pass ? cost.sectors(count) : count / 8;
    t.global_store_requests += blocks;
    t.global_store_sectors += blocks;
    add_blocks(t, blocks, cost);
    if (blocks == 1) return t;
    count = blocks;
  }
}

// ---- rungs of one launch: blocks publish what they have, the last one adds it up

// Blocks with elements where each multiprocessor holds `resident` blocks, the collecting one among
// them; as many as flags allow.
inline int blocks_at_once(int resident, const runtime::Machine& machine) {
  return std::min(resident * machine.multiprocessors, static_cast<int>(kMostFlagBlocks)) - 1;
}

// All of a launch of up to kMostFlagBlocks blocks besides the last, which has no elements. The last
// block waits from its start for what the others publish, and writes the result.
template <class F, int kThreads, int kInFlight>
__device__ __forceinline__ void reduce_and_collect(const Call& call) {
  constexpr int kWords = parts::kWordsOf<F>;
  const unsigned last = gridDim.x - 1, block = blockIdx.x;
  typename F::Value v;
  if (block == last) {
    const int first = threadIdx.x, count = static_cast<int>(last);
    v = parts::collect<F, 1>(call.flags, kWords, first, kThreads, count);
  } else {
    v = parts::part_of_line<F, kThreads, kInFlight>(call.in, call.problem.n, block, last);
  }
  v = parts::block_reduce<F, kThreads>(v);
  if (threadIdx.x != 0) return;
  if (block == last) {
    finish(call, v);
  } else {
    parts::publish(&call.flags[kWords * block], v);
  }
}

// The same where a turn is enough: n is less than 2^31. One warp of the last block collects, and
// each of its lanes asks for up to kTogether words at once. The fewer ask, the sooner they know.
template <class F, int kThreads, int kInFlight, int kTogether>
__device__ __forceinline__ void reduce_at_once(const Call& call) {
  constexpr int kWords = parts::kWordsOf<F>;
  const unsigned last = gridDim.x - 1, t = threadIdx.x;
  if (blockIdx.x == last) {
    if (t >= 32) return;
    const auto v = parts::warp_reduce<F>(parts::collect<F, kTogether>(
        call.flags, kWords, static_cast<int>(t), 32, static_cast<int>(last)));
    if (t == 0) finish(call, v);
    return;
  }
  const auto v = parts::block_reduce<F, kThreads>(
      parts::part_at_once<F, kThreads, kInFlight>(call.in, static_cast<int>(call.problem.n)));
  if (t == 0) parts::publish(&call.flags[kWords * blockIdx.x], v);
}

// `blocks` of them with elements. The last block's words are atomics, which count as stores; it has
// as many warps, or one.
inline ladder::Totals predict_one_launch(const Problem& p, std::uint64_t blocks, int warps,
                                         int collecting_warps) {
  const PartialCosts cost(p.function);
  ladder::Totals t;
  t.global_load_requests = (p.n + 127) / 128;
  t.global_load_sectors = p.n / 8;
  t.global_store_requests = 1 + blocks + (blocks + 31) / 32;
  t.global_store_sectors = 1 + blocks + (blocks + 3) / 4;
  cost.add_block_reduce(t, blocks, warps);
  cost.add_block_reduce(t, 1, collecting_warps);
  return t;
}

// launch() is called with any n of at least 0. `predict` counts for aligned values, as many as 256
// or a multiple of 8192.
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(call.problem, machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce
