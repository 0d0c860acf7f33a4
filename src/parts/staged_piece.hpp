#pragma once
// A piece of memory that a block brings into shared memory, 16 bytes a lane whatever the piece's
// alignment. One word in 33 of shared memory is left out, so that lanes which begin a power of two
// apart read different banks.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Of at most kMost words, kInFlight vectors to each of the block's kThreads threads.
template <int kThreads, int kInFlight>
struct StagedPiece {
  static constexpr int kMost = 4 * kThreads * kInFlight;
  // Where the piece's qth word lies. The first whole vector begins at q = kFirst, so that a warp
  // that stores vectors meets no bank twice. Four words from a multiple of four on have no gap.
  static constexpr int kFirst = 32, kEnd = kFirst + kMost, kSize = kEnd + kEnd / 32;
  __device__ __forceinline__ static int place_of(int q) { return q + q / 32; }

  // Brings so many elements, of which there is at least one, and returns the q of the first. Called
  // by every thread.
  __device__ __forceinline__ static int stage(float* staged, const float* from, int elements) {
    const int t = threadIdx.x,
              into = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) / 4 % 4);
    const int front = min(elements, -into & 3), count = (elements - front) / 4,
              behind = (elements - front) % 4;
    const auto* vectors = reinterpret_cast<const float4*>(from + front);
    const bool has_end = t < front + behind;  // what is no whole vector, under way with the rest
    const int end = t < front ? t : elements - behind + t - front;
    const float at_end = has_end ? __ldg(&from[end]) : 0.0f;
    float4 v[kInFlight] = {};
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      if (t + u * kThreads < count) v[u] = __ldg(&vectors[t + u * kThreads]);
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      const int vector = t + u * kThreads;
      if (vector >= count) continue;
      float* at = &staged[place_of(kFirst + 4 * vector)];
      at[0] = v[u].x;
      at[1] = v[u].y;
      at[2] = v[u].z;
      at[3] = v[u].w;
    }
    if (has_end) staged[place_of(kFirst - front + end)] = at_end;
    __syncthreads();  // the piece is whole before threads take up what others have brought
    return kFirst - front;
  }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
