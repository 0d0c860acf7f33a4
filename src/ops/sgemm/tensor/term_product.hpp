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

// Adds the slices' sums. One that is not right is multiplied again, over all of k: a slice may
// overflow where the product does not.
template <int kJoiners, bool kXAlong, bool kYAlong>
static __global__ void __launch_bounds__(kJoinThreads) join_terms(Join join, SlicedGemm g) {
  const auto right = [&](double sum, std::int64_t row, std::int64_t column) {
    auto value = static_cast<float>(sum);
    if (is_right(value, 0.0f)) return sum;
    const std::int64_t x = g.x_in_lines ? column : row, y = g.x_in_lines ? row : column;
    make_right<kXAlong, kYAlong>(value, g, {}, x, y);
    return double{value};
  };
  add_slices<double, kJoiners>(join, right);
}

// Launches kernel<whether X lies along k, whether Y does>() in tiles of C, then the join.
template <class C, class Kernel, class... Arguments>
void launch_terms(const Lines& lines, const Gemm& g, std::size_t shared_bytes,
                  runtime::StreamView& stream, const Kernel& kernel,
                  const Arguments&... arguments) {
  const Join join = join_of(g, lines.gemm.slices, g.n);
  const auto add_up = [&]<bool kXAlong, bool kYAlong>() {
    with_join_shape(join, 1, [&]<int kJoiners>(const runtime::LaunchShape& shape) {
      runtime::launch(stream, shape, join_terms<kJoiners, kXAlong, kYAlong>, join, lines.gemm);
    });
  };
  launch_lines_in_slices<C>(lines, shared_bytes, stream, kernel, add_up, arguments...);
}

template <class C>
void launch_split_on_the_way(const Gemm& g, bool trans_a, bool trans_b, const Slices& slices,
                             runtime::StreamView& stream) {
  launch_terms<C>(
      tiled_lines<C>(g, trans_a, trans_b, slices), g, sizeof(TermShared<C>), stream,
      [&]<bool kXAlong, bool kYAlong>() { return multiply_terms<C, kXAlong, kYAlong>; });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
