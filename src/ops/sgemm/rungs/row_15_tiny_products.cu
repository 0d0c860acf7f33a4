// Bound before: row_09 lays a product of 8×8×8 down in a tile of 32×32: most of a CTA's threads
// copy and multiply zeros.
// Idea: threads have tiles of two or four rows by four columns of C. The grid has as many threads
// as all products of the batch need. Operands come straight from global memory: neighbouring
// threads read neighbouring elements, also of consecutive products, and what several threads read
// comes from L1. No barrier, no shared memory. Where C is small and k is long, 4 or 16 lanes share
// k, and shuffles join their sums.
//
// Prediction: of 8×8×8, 80 % of what memory gives. Measured on an H100: 65,536 of 8×8×8 in 23 µs,
// 2.2 TB/s, where cuBLAS takes 132. And 100,000 of 3×3×3 in 8 µs, where it takes 196.
// Accepts: m and n up to 1,024, batches in strides or in arrays of pointers; float4 where alignment
// allows; runs on every GPU.
// What binds it: memory; from n = 16 on the loads, six for 32 multiply-adds.

#include <bit>

#include "ops/sgemm/rung_threads.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kThreads = 256;

// The tiles, and how many of a product's lie side by side.
struct Deal {
  DealtTiles tiles;
  parts::Divisor across;
  bool whole;  // sizes and leading dimensions are multiples of 4
};

template <class C, bool kARows, bool kBRows>
__global__ void __launch_bounds__(kThreads) multiply(Gemm g, Batch batch, Deal deal) {
  constexpr int kTiles = kThreads / C::lanes;  // of a CTA
  DealtTile first(deal.tiles, blockIdx.x * kTiles),
      own(deal.tiles, blockIdx.x * kTiles + threadIdx.x / C::lanes);
  for (; first.product < batch.count; first.advance(deal.tiles), own.advance(deal.tiles)) {
    // Lanes without a tile go along with the last one.
    const bool is_there = own.product < batch.count;
    const ProductOperands x = operands_of(g, batch, is_there ? own.product : batch.count - 1);
    const auto [down, across] = deal.across(is_there ? own.tile : deal.tiles.of_product.by - 1);
    const Place at{static_cast<int>(down) * C::rows, static_cast<int>(across) * C::columns,
                   static_cast<int>(threadIdx.x % C::lanes)};
    const bool whole = deal.whole && is_whole(x.a) && is_whole(x.b) && is_whole(x.c);
    if (__all_sync(parts::warp::kAllLanes, whole)) {
      multiply_tile<C, kARows, kBRows, true>(g, x, at, is_there);
    } else {
      multiply_tile<C, kARows, kBRows, false>(g, x, at, is_there);
    }
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const bool whole = (g.n | g.k | g.lda | g.ldb | g.ldc) % kFour == 0;
    const ThreadedShape shape{g.m, g.n, g.k, batch.count, trans_a, trans_b, whole};
    with_thread_tile(shape, *stream.machine, [&]<class C>(double) {
      constexpr int kTiles = kThreads / C::lanes;
      constexpr std::int64_t kMostBlocks = (1 << 30) / kTiles;
      const std::int64_t across = tiles(g.n, C::columns), of_product = tiles(g.m, C::rows) * across,
                         blocks = std::min(tiles(batch.count * of_product, kTiles), kMostBlocks);
      const Deal deal{DealtTiles::of(of_product, blocks * kTiles), parts::Divisor::of(across),
                      whole};
      const dim3 grid(static_cast<unsigned>(blocks));
      for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
        runtime::launch(stream, {grid, dim3(kThreads)}, multiply<C, kARows, kBRows>, g, batch,
                        deal);
      });
    });
  });
}

// Of one product whose tiles fill CTAs, of a k that fills steps. Which sectors neighbours share
// depends on n.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  with_thread_tile(threaded_shape(p, 1), machine, [&]<class C>(double) {
    const std::uint64_t warps = p.m * p.n / (C::rows * C::columns) * C::lanes / 32;
    t.global_load_requests = warps * (p.k / C::depth) * (C::rows + kFour);
    t.global_load_sectors = ladder::kNotPredicted;
    t.global_store_requests = warps * C::rows;
    t.global_store_sectors = p.m * p.n / 8;
    const auto joins = static_cast<std::uint64_t>(std::bit_width(unsigned{C::lanes}) - 1);
    t.shuffles = warps * (1 + joins * C::rows * C::columns);  // the first is a vote
    t.fmas = p.m * p.n * p.k;
  });
  return t;
}

bool takes(const Call& call) {
  return fits_threads(call.problem.m, call.problem.n, call.problem.k);
}

}  // namespace

WARPLADDER_RUNG(row_15_tiny_products) = {.idea = "threads straight from global memory, for batches",
                                         .accepts = "m and n up to 1,024, and batches",
                                         .launch = launch,
                                         .predict = predict_in<Layout::row_major, predict>,
                                         .takes = takes};

}  // namespace warpladder::sgemm
