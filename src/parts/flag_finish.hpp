#pragma once
// Sums that the blocks of one kernel share. Blocks (x, 0), (x, 1), … of a grid hand what they have
// to the last of them, which finishes. They do so in slots of 64 bits (flags.hpp). Sums have one
// order, and therefore the same bits in every run.

#include "parts/flags.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// The sum of slots first, first + step, … below `count`, `stride` words apart, in this order. Waits
// until each is set, and leaves it zero. kInFlight of them are asked for at once.
template <int kInFlight>
__device__ __forceinline__ float take_sum(std::uint64_t* slots, int stride, int first, int step,
                                          int count) {
  float sum = 0.0f;
  WARPLADDER_NO_UNROLL
  for (int i = first; i < count; i += kInFlight * step) {
    std::uint64_t *word[kInFlight], content[kInFlight];
    WARPLADDER_UNROLL
    for (int k = 0; k < kInFlight; ++k) {
      const int slot = i + k * step;
      word[k] = slot < count ? slots + slot * stride : nullptr;
    }
    take_words(word, content);
    WARPLADDER_UNROLL
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * step < count) sum += float_in(content[k]);
    }
  }
  return sum;
}

// What x blocks of a grid with gridDim.y > 1 need to share one value each.
__host__ __device__ __forceinline__ int slots_of_value(unsigned blocks) {
  return static_cast<int>(blocks + 2) / 4 * 4;  // all but the last, and whole sectors
}

// Adds to thread 0's sum of the last block those of the others. Called by every thread; true in the
// warp, and the block, that has the result. `slots` are those of slots_of_value().
__device__ __forceinline__ bool gather_value(std::uint64_t* slots, float& sum) {
  const int others = static_cast<int>(gridDim.y) - 1, lane = threadIdx.x;
  if (static_cast<int>(blockIdx.y) < others) {
    if (lane == 0) slots[blockIdx.y] = to_word(sum);
    return false;
  }
  if (lane >= 32) return false;
  const float taken = take_sum<1>(slots, 1, lane, 32, others);
  sum = warp::reduce(lane == 0 ? sum + taken : taken, warp::Sum());
  return true;
}

// The same for 2^width_log2 values, of which thread t has value t, and (gridDim.y - 1)·2^width_log2
// slots. The block has at least as many threads.
template <int kThreads>
__device__ __forceinline__ bool gather_values(std::uint64_t* slots, int width_log2, float& sum) {
  __shared__ float of_thread[kThreads];
  const int others = static_cast<int>(gridDim.y) - 1, t = threadIdx.x, width = 1 << width_log2;
  if (static_cast<int>(blockIdx.y) < others) {
    if (t < width) slots[(blockIdx.y << width_log2) + t] = to_word(sum);
    return false;
  }
  // Threads that have no value of their own help to take the others'.
  const int groups = kThreads >> width_log2, group = t >> width_log2;
  const float taken = take_sum<8>(slots + (t & (width - 1)), width, group, groups, others);
  of_thread[t] = taken;
  __syncthreads();  // all sums are there before they are added up
  if (t >= width) return false;
  const int took = groups < others ? groups : others;  // groups that had a slot to take
  for (int other = 0; other < took; ++other) sum += of_thread[(other << width_log2) + t];
  return true;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
