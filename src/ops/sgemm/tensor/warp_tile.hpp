#pragma once
// A block's tile of a product by warps, from the workspace to C.

#include "ops/sgemm/tensor/warp_epilogue.hpp"
#include "ops/sgemm/tensor/warp_product.hpp"
#include "parts/ptx/hidden.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The block's tile: groups along k from the workspace, and then, if `stores()` says so, C.
template <class Pairs, class Config, class Stores>
__device__ __forceinline__ void multiply_tile(const Gemm& g, const SplitGemm& split,
                                              const TileSchedule& schedule, unsigned number,
                                              typename Config::Ring& ring,
                                              parts::RingPlace<Config::value.stages>& from,
                                              parts::RingPlace<Config::value.stages>& to,
                                              const Stores& stores) {
  const int groups = groups_of<Pairs>(g.k);
  const TileOrigin origin = warp_tile<Config>(schedule, number);
  typename Config::Copies copies(ring, to, split.a, split.b, origin.row, origin.column);
  WarpSums<Config> tile = {};
  multiply_groups<Pairs, Config>(ring, from, copies, groups, tile);
  to = copies.place();
  if (!stores()) return;
  // Computed again: registers that carried it through the loop would be too many.
  const TileOrigin corner = warp_tile<Config>(schedule, ptx::hidden(number)),
                   own = warp_origin<Config>();
  store_warp<Pairs>(g, split, tile, {corner.row + own.row, corner.column + own.column});
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
