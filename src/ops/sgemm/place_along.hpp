#pragma once
// Where lines along k lie in shared memory.

#include "runtime/kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A tile of kLines×kDepth in shared memory lies as its operand does in memory. Where that is along
// k, the pieces of four in a line are in places XORed with the line's number. So eight neighbouring
// lines give their pieces of the same k from different banks.
template <int kDepth>
__device__ __forceinline__ int place_along(int line, int piece) {
  constexpr int kPieces = kDepth / 4;
  static_assert(kPieces == 2 || kPieces == 4 || kPieces == 8);
  return line * kDepth + (piece ^ line / (32 / kDepth) % kPieces) * 4;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
