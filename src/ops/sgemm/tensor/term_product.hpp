#pragma once
// The kernel of a product in three bfloat16 terms whose slices of k a second kernel joins
// (tc_15_split_on_the_way).

#include "ops/sgemm/tensor/term_epilogue.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <class C, bool kXAlong, bool kYAlong>
static __global__ void __launch_bounds__(C::threads, 1) multiply_terms(SlicedGemm g) {
  auto& shared = *runtime::dynamic_shared<TermShared<C>>();
  shared.init();
  __syncthreads();  // the barriers are there
  unsigned block = blockIdx.x;
  if (threadIdx.x >= C::consumers) {
    ptx::give_registers<C::producer_registers>();
    produce_slice<C, kXAlong, kYAlong>(shared, g, sliced_tile<C>(g, block));
    return;
  }
  ptx::take_registers<C::consumer_registers>();
  float sum[C::tile_x / 2];
  unsigned lost = 0;
  add_up_terms<C, kXAlong, kYAlong>(sum, shared, g.x.lines,
                                    term_depth<C>(g, sliced_tile<C>(g, block)).rounds, lost);
  ptx::allow_next_kernel();  // which waits for this one's end, but for its own launch
  report_lost(shared, lost);
  sync_consumers<C>();  // the ring is used no more
  lay_down_terms<C>(shared, sum);
  sync_consumers<C>();      // all sums are there
  ptx::make_opaque(block);  // the tile's place takes no registers meanwhile
  const SlicedTile tile = sliced_tile<C>(g, block);
  store_terms<C>(shared, g, tile, term_part<C>(g.x, kXAlong, tile.x0, C::tile_x, g, tile),
                 term_part<C>(g.y, kYAlong, tile.y0, C::tile_y, g, tile));
}

template <class C>
void launch_split_on_the_way(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                             runtime::StreamView& stream) {
  launch_lines_in_slices<C>(
      g, trans_a, trans_b, slices, sizeof(TermShared<C>), stream,
      [&]<bool kXAlong, bool kYAlong>() { return multiply_terms<C, kXAlong, kYAlong>; });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
