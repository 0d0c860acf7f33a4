#pragma once
// Slices of k that meet in a cluster. Its CTAs multiply one tile of C in three bfloat16 terms
// (term_tiles.hpp), each a slice. They add up their sums through each other's shared memory.

#include "ops/sgemm/tensor/cluster_slices.hpp"
#include "ops/sgemm/tensor/lines_of_product.hpp"
#include "ops/sgemm/tensor/term_epilogue.hpp"
#include "parts/ptx/cluster.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The operands of a batch: those of the product `of` where they lie within one allocation.
struct ClusterGemm {
  SlicedGemm lines;
  Gemm of;
  Batch batch;
  parts::Divisor by_blocks, by_slices;  // blocks: of a product
  int rows_of_cta;                      // of the tile's rows of C, that a CTA adds up
};

// Which product this CTA works at, as lines.
__device__ __forceinline__ SlicedGemm lines_of_product(const ClusterGemm& all) {
  return all.batch.count == 1 && !all.batch.arrays
             ? all.lines
             : lines_of_product(all.lines, all.of, all.batch, all.by_blocks(blockIdx.x).quotient);
}

// A cluster's CTAs are neighbours in the grid, and slices of one tile.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU SlicedTile tile_of_cluster(const ClusterGemm& all) {
  const SlicedGemm& g = all.lines;
  const auto [tile, of_tile] = all.by_slices(all.by_blocks(blockIdx.x).remainder);
  const auto [y, x] = g.tiles_x(tile);
  const auto slice = static_cast<int>(of_tile);
  return {std::int64_t{x} * C::tile_x, std::int64_t{y} * C::tile_y, g.of_rounds.first(slice),
          g.of_rounds.first(slice + 1), slice};
}

constexpr int kSumsPad = 4;  // elements between rows

// A tile's sums lie in shared memory as they do in C, in rows of neighbours.
template <class C>
__device__ __forceinline__ int place_of_sum(int x, int y, bool x_in_rows) {
  return x_in_rows ? y * (C::tile_x + kSumsPad) + x : x * (C::tile_y + kSumsPad) + y;
}

// A sum that is not right becomes none at all, and so does what it is added to.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void lay_down_in_rows(float* to, bool x_in_rows,
                                                          float (&sum)[C::tile_x / 2],
                                                          float least) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::tile_x / 2; ++i) {
    if (!is_right(sum[i], least)) sum[i] = __int_as_float(0x7fffffff);
  }
  const int y = static_cast<int>(fragment_line()), x = threadIdx.x % 4 * 2;
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < C::tile_x / 8; ++j) {
    const float* const four = &sum[4 * j];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float2*>(to + (x_in_rows ? place_of_sum<C>(8 * j + x, y + i, true)
                                                 : place_of_sum<C>(8 * j + x + i, y, false))) =
          x_in_rows ? make_float2(four[2 * i], four[2 * i + 1]) : make_float2(four[i], four[2 + i]);
    }
  }
}

// This CTA's share of its tile's rows of C.
struct RowShare {
  float* c;  // the tile's corner
  std::int64_t ldc;
  int first, end, columns;  // those that exist
  int width_log2;           // of a row that is laid down
};
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU RowShare share_of_rows(const SlicedGemm& g,
                                                           const SlicedTile& tile,
                                                           int rows_of_cta) {
  constexpr auto kLog2 = [](int width) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(width))) - 1;
  };
  const auto within = [](std::int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  };
  const int x = within(g.x.lines - tile.x0, C::tile_x), y = within(g.y.lines - tile.y0, C::tile_y),
            first = tile.slice * rows_of_cta;
  return {g.c + tile.x0 * g.c_x + tile.y0 * g.c_y,
          g.x_in_lines ? g.c_y : g.c_x,
          first,
          min(first + rows_of_cta, g.x_in_lines ? y : x),
          g.x_in_lines ? x : y,
          g.x_in_lines ? kLog2(C::tile_x) : kLog2(C::tile_y)};
}

// Adds up the CTAs' sums in their order, and stores C's: four neighbours at a time, or one. Where
// they may be exact, float64 keeps them so.
template <class C, bool kXAlong, bool kYAlong, int kWidth>
__device__ __forceinline__ void add_up_rows(float* sums, const SlicedGemm& g,
                                            const SlicedTile& tile, const RowShare& share) {
  const int pieces_log2 = share.width_log2 - (kWidth == 4 ? 2 : 0),
            pitch = (1 << share.width_log2) + kSumsPad;
  WARPLADDER_NO_UNROLL
  for (int e = threadIdx.x; e < (share.end - share.first) << pieces_log2; e += C::threads) {
    const int row = share.first + (e >> pieces_log2),
              column = (e & ((1 << pieces_log2) - 1)) * kWidth;
    if (column >= share.columns) continue;
    float* const own = sums + row * pitch + column;
    using Sum = std::conditional_t<C::may_be_exact && kXAlong && kYAlong, double, float>;
    Sum all[kWidth] = {};
    WARPLADDER_UNROLL_BY(4)
    for (int slice = 0; slice < g.slices; ++slice) {
      float more[kWidth];
      const float* const there = ptx::in_block(own, slice);
      if constexpr (kWidth == 4) parts::load4(more, there);
      if constexpr (kWidth == 1) more[0] = *there;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kWidth; ++i) all[i] += more[i];
    }
    float sum[kWidth];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kWidth; ++i) {
      sum[i] = static_cast<float>(all[i]);
      const int x = g.x_in_lines ? column + i : row, y = g.x_in_lines ? row : column + i;
      make_right<kXAlong, kYAlong>(sum[i], g, tile, x, y);
    }
    float* const c = share.c + row * share.ldc + column;
    if constexpr (kWidth == 4) {
      *reinterpret_cast<float4*>(c) =
          make_float4(g.alpha * sum[0], g.alpha * sum[1], g.alpha * sum[2], g.alpha * sum[3]);
    } else {
      store_scaled(c, g.alpha, sum[0], g.beta);
    }
  }
}

// The consumers' work at a slice, until its sums are laid down.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void consume_slice(TermShared<C>& shared, float* staged,
                                              const SlicedGemm& g, const SlicedTile& tile) {
  float sum[C::tile_x / 2];
  unsigned lost = 0;
  add_up_terms<C, kXAlong, kYAlong>(sum, shared, g.x.lines, tile.end - tile.first, lost,
                                    row_shifts(g.y.data, g.y.ld));
  report_lost(shared, lost);
  sync_consumers<C>();  // the ring is used no more
  const float least =
      least_exact_sum<C>(shared, term_part<C>(g.x, kXAlong, tile.x0, C::tile_x, g, tile),
                         term_part<C>(g.y, kYAlong, tile.y0, C::tile_y, g, tile));
  lay_down_in_rows<C>(staged, g.x_in_lines, sum, least);
}

template <class C, bool kXAlong, bool kYAlong>
static __global__ void __launch_bounds__(C::threads, C::resident)
    multiply_in_cluster(ClusterGemm all) {
  static_assert(sizeof(float) * (C::tile_x + kSumsPad) * (C::tile_y + kSumsPad) <=
                sizeof(typename TermShared<C>::Ring));
  auto& shared = *runtime::dynamic_shared<TermShared<C>>();
  auto* const staged = reinterpret_cast<float*>(&shared.ring);
  shared.init();
  __syncthreads();  // the barriers are there
  const SlicedGemm g = lines_of_product(all);
  const SlicedTile tile = tile_of_cluster<C>(all);
  if (threadIdx.x >= C::consumers) {
    ptx::give_registers<C::producer_registers>();
    produce_slice<C, kXAlong, kYAlong>(shared, g, tile);
    ptx::cluster_arrive_relaxed();
  } else {
    ptx::take_registers<C::consumer_registers>();
    consume_slice<C, kXAlong, kYAlong>(shared, staged, g, tile);
    // A release waits for all of the thread's memory. One warp's, behind a barrier, serves for what
    // all have written.
    sync_consumers<C>();
    threadIdx.x < 32 ? ptx::cluster_arrive() : ptx::cluster_arrive_relaxed();
  }
  ptx::cluster_wait();  // all slices' sums are laid down
  const RowShare share = share_of_rows<C>(g, tile, all.rows_of_cta);
  is_whole(g.c) && (share.ldc | share.columns) % 4 == 0 && g.beta == 0.0f
      ? add_up_rows<C, kXAlong, kYAlong, 4>(staged, g, tile, share)
      : add_up_rows<C, kXAlong, kYAlong, 1>(staged, g, tile, share);
  // No CTA ends while others read its sums. What this one has read has come, for it was stored;
  // nobody waits for the stores.
  ptx::cluster_arrive_relaxed();
  ptx::cluster_wait();
}

template <class C>
void launch_in_clusters(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                        const Slices& slices, runtime::StreamView& stream) {
  const Lines lines = tiled_lines<C>(g, trans_a, trans_b, slices);
  const SlicedGemm& s = lines.gemm;
  const unsigned blocks = s.tiles_x.by * s.tiles_y.by * static_cast<unsigned>(s.slices);
  runtime::LaunchShape shape{dim3(blocks * static_cast<unsigned>(batch.count)), dim3(C::threads),
                             sizeof(TermShared<C>)};
  shape.cluster = static_cast<unsigned>(slices.count);
  for_transposes(!lines.x_along, lines.y_along, [&]<bool kXAlong, bool kYAcross>() {
    runtime::launch(
        stream, shape, multiply_in_cluster<C, kXAlong, !kYAcross>,
        ClusterGemm{s, g, batch, parts::Divisor::of(blocks), parts::Divisor::of(s.slices),
                    static_cast<int>(tiles(s.x_in_lines ? C::tile_y : C::tile_x, s.slices))});
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
