#pragma once
// How tiles of split operands get from the workspace to shared memory. Here are a tensor map for
// each operand, and the bulk copy of one group along k.

#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/split/operand.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The tensor map of a split operand; a box holds `box_lines` lines.
inline runtime::TensorMap map_of(const parts::SplitOperand& x, int box_lines,
                                 runtime::StreamView& stream) {
  const std::int64_t floats = x.line_bytes / 4;  // two halves are copied like one float
  return runtime::encode(stream, {x.pairs, 4, x.lines, floats, floats, box_lines});
}

// Starts the copy of group `group` of a tile's lines, from `line` on, to shared memory at `to`.
// With kCluster > 1 each block of the cluster loads `share` lines and multicasts them to all.
// Called by one thread.
template <int kCluster>
__device__ __forceinline__ void fetch(unsigned char* to, const runtime::TensorMap& map,
                                      ptx::Barrier* full, std::int64_t line, int group,
                                      int share = 0, unsigned rank = 0) {
  constexpr int kFloatsOfGroup = 32;
  if constexpr (kCluster > 1) {
    const int first = static_cast<int>(rank) * share;
    ptx::tma_load_multicast(to + first * 128, map, full, static_cast<int>(line) + first,
                            group * kFloatsOfGroup, (1u << kCluster) - 1);
  } else {
    ptx::tma_load(to, map, full, static_cast<int>(line), group * kFloatsOfGroup);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
