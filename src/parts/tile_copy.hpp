#pragma once
// A tile of a split operand (split.hpp) brought to shared memory by a block's threads, as wgmma
// wants it. The copy engine does this for the rungs that have it.

#include "parts/split.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Group `group`, 128 bytes, of each of kLines lines from `line0` on comes to `tile`, a multiple of
// 1,024 bytes, in the 128-byte swizzle. Piece p of 16 bytes of line r goes to place p XOR r mod 8.
// Lines that the operand does not have are zeros. Eight threads copy a line; all loads are under
// way before the first store. Called by kThreads threads; what must follow before a product is
// ptx::fence_async_proxy() and a barrier.
template <int kLines, int kThreads>
__device__ __forceinline__ void copy_group(unsigned char* tile, const SplitOperand& x,
                                           std::int64_t line0, int group) {
  constexpr int kStep = kThreads / 8, kLoads = kLines / kStep;
  static_assert(kStep % 8 == 0 && kLines % kStep == 0);
  const int piece = threadIdx.x % 8, first = threadIdx.x / 8;
  const unsigned char* from =
      x.pairs + (line0 + first) * x.line_bytes + std::int64_t{group} * 128 + piece * 16;
  uint4 v[kLoads];
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kLoads; ++i) {
    v[i] = make_uint4(0, 0, 0, 0);
    if (line0 + first + i * kStep < x.lines) {
      v[i] = *reinterpret_cast<const uint4*>(from + i * kStep * x.line_bytes);
    }
  }
  unsigned char* const to = tile + first * 128 + (piece ^ first % 8) * 16;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kLoads; ++i) *reinterpret_cast<uint4*>(to + i * kStep * 128) = v[i];
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
