#pragma once
// The tile of C of a block with roles (tc_06 to tc_08): one warpgroup requests copies into a ring
// of stages, two multiply from it.

#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct SpecialisedTile {
  int cluster = 1;  // blocks that share the rows of A that they load
  int block_m = 256, block_n = 128, stages = 4, promoted = 2;  // promoted: groups
  static constexpr int consumers = 256, threads = consumers + 128;

  constexpr int warpgroup_m() const { return block_m / (consumers / 128); }
  constexpr int a_share() const { return block_m / cluster; }  // that a block loads for all
  constexpr bool valid() const {
    return warpgroup_m() % 64 == 0 && block_n == 128 && stages >= promoted &&
           stages * (block_m + block_n) * 128 <= 224 * 1024 && block_m % cluster == 0;
  }
};
template <SpecialisedTile tile>
using RingOf = parts::TileRing<tile.block_m, tile.block_n, tile.stages>;

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
