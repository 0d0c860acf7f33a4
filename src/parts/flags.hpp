#pragma once
// How blocks of one launch hand partial results to the last block. Each is a 64-bit word that is
// zero until it holds a value and the note that it does. Value and note travel together, so that no
// fence is needed between them. Nobody counts, so the last block can take the words in an order of
// its own, and add them the same way in every run.
//
// Words are zero before a launch and after it. A block may wait only for blocks of lower indices.
// Those have begun before it on a GPU, and have ended before it in the executor.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// A value as a word that is not zero; and back.
__device__ __forceinline__ std::uint64_t to_word(float v) {
  return std::uint64_t{1} << 32 | __float_as_uint(v);
}
__device__ __forceinline__ float float_in(std::uint64_t word) {
  return __uint_as_float(static_cast<unsigned>(word));
}

// Waits until all of these words are there, and leaves zero in their places; null pointers are
// passed over. Called by one thread. All that are missing are asked for together, over and over.
// Each takes the way to L2, and a wait for one alone finds out late that the next was there.
template <int kCount>
__device__ __forceinline__ void take_words(std::uint64_t* const (&word)[kCount],
                                           std::uint64_t (&content)[kCount]) {
#if defined(__CUDACC__)
  WARPLADDER_UNROLL
  for (int u = 0; u < kCount; ++u) content[u] = word[u] ? 0 : 1;
  for (bool all_there = false; !all_there;) {
    all_there = true;
    WARPLADDER_UNROLL
    for (int u = 0; u < kCount; ++u) {
      if (content[u] == 0) content[u] = *static_cast<volatile std::uint64_t*>(word[u]);
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kCount; ++u) all_there &= content[u] != 0;
  }
  WARPLADDER_UNROLL
  for (int u = 0; u < kCount; ++u) {
    if (word[u]) *word[u] = 0;
  }
#else
  // The block's first atomic waits until all lower blocks have ended.
  for (int u = 0; u < kCount; ++u) {
    content[u] = word[u] ? atomicExch(reinterpret_cast<unsigned long long*>(word[u]), 0ull) : 1;
  }
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
