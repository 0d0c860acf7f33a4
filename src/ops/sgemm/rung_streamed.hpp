#pragma once
// The products of a batch as one stream of rounds. A round is C::depth of k of one tile; it comes
// to a stage of a ring in shared memory by asynchronous copies. A CTA stays: while its consumers
// multiply the last rounds of a tile and store its sums, its producer, the last warp, already
// copies the first rounds of its next tile, mostly of another product.

#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/streams.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ring_place.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// `whole`: the leading dimension is a multiple of 4 elements. CTAs go on by a grid of tiles, which
// is step_products products and step_tiles tiles.
struct StreamedGemm {
  Gemm gemm;
  Batch batch;
  unsigned tiles_y, tiles;  // along n, and of a product
  unsigned step_products, step_tiles;
  int rounds;  // of a tile; at least 1
  bool whole_a, whole_b, whole_c;
};

// The tile that a CTA is at.
struct StreamedTile {
  std::int64_t product;
  unsigned tile;
  __device__ __forceinline__ void advance(const StreamedGemm& x) {
    product += x.step_products;
    tile += x.step_tiles;
    if (tile < x.tiles) return;
    tile -= x.tiles;
    ++product;
  }
  template <class C>
  __device__ __forceinline__ TileOrigin origin(const StreamedGemm& x) const {
    return {std::int64_t{tile / x.tiles_y} * C::tile_x, std::int64_t{tile % x.tiles_y} * C::tile_y};
  }
};

// In shared memory an operand lies as it does in memory, in pieces of four. Where a piece lies in
// its row keeps the requests that read it from meeting on a bank. kPairs: a request reads two of k
// of eight lines, else all of a piece.
template <int kDepth, bool kPairs>
__device__ __forceinline__ int place_in_line(int line, int piece) {
  if constexpr (!kPairs) return place_along<kDepth>(line, piece);
  static_assert(kDepth == 16);
  return line * kDepth + (piece ^ (line / 2 + line / 4) % 2 * 2) * 4;
}
template <int kLines, bool kPairs>
__device__ __forceinline__ int place_in_row(int k, int piece) {
  return k * kLines + (kPairs ? piece ^ k / 2 % 4 * 2 : piece) * 4;
}

// A warp copies kDepth of k of kLines lines, kWidth neighbours a lane. Only `lines` and `depths` of
// them exist, zeros are laid down for the others.
template <int kLines, int kDepth, bool kAlong, bool kPairs, int kWidth>
__device__ __forceinline__ void copy_pieces(float* to, const float* from, std::int64_t ld,
                                            int lines, int depths) {
  constexpr int kRow = kAlong ? kDepth : kLines, kRows = kAlong ? kLines : kDepth,
                kWarp = 32 * kWidth, kStep = kWarp > kRow ? kWarp / kRow : 1,
                kParts = kRow > kWarp ? kRow / kWarp : 1;
  static_assert(kRow % kWarp == 0 || kWarp % kRow == 0);
  const int rows = kAlong ? lines : depths, columns = kAlong ? depths : lines;
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane * kWidth / kRow,
            column0 = lane * kWidth % kRow;
  const float* line = from + first * ld;
  WARPLADDER_UNROLL_BY(4)
  for (int row = first; row < kRows; row += kStep, line += kStep * ld) {
    WARPLADDER_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const int column = column0 + part * kWarp, left = row < rows ? columns - column : 0,
                count = left < 0        ? 0
                        : left < kWidth ? left
                                        : kWidth;
      const int place = kAlong ? place_in_line<kDepth, kPairs>(row, column / 4)
                               : place_in_row<kLines, kPairs>(row, column / 4);
      ptx::cp_async<4 * kWidth>(to + place + column % 4, count ? line + column : from, 4 * count);
    }
  }
}
// `vectors`: four neighbours may be copied at once.
template <int kLines, int kDepth, bool kAlong, bool kPairs>
__device__ __forceinline__ void copy_tile(float* to, const float* from, std::int64_t ld, int lines,
                                          int depths, bool vectors) {
  vectors ? copy_pieces<kLines, kDepth, kAlong, kPairs, 4>(to, from, ld, lines, depths)
          : copy_pieces<kLines, kDepth, kAlong, kPairs, 1>(to, from, ld, lines, depths);
}

template <class C>
struct StreamedShared {
  struct Stage {
    float a[C::tile_x * C::depth], b[C::tile_y * C::depth];
  } stage[C::stages];
  ptx::Barrier full[C::stages];   // the producer's copies have arrived
  ptx::Barrier empty[C::stages];  // the consumers have read the stage

  // Called by one thread; a barrier of all follows.
  __device__ __forceinline__ void init() {
    for (int s = 0; s < C::stages; ++s) {
      ptx::barrier_init(&full[s], 32);
      ptx::barrier_init(&empty[s], C::consumers / 32);
    }
    ptx::fence_barrier_init();
  }
};

// One tile, round by round. Sums says how the operands lie.
template <class C, class Sums>
__device__ __forceinline__ void produce_tile(StreamedShared<C>& shared, const StreamedGemm& x,
                                             const StreamedTile& at,
                                             parts::RingPlace<C::stages>& place) {
  const Gemm& g = x.gemm;
  const ProductOperands operands = operands_of(g, x.batch, at.product);
  const auto [row, column] = at.origin<C>(x);
  const auto within = [](std::int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  };
  const int a_lines = within(g.m - row, C::tile_x), b_lines = within(g.n - column, C::tile_y);
  const bool a_vectors = x.whole_a && is_whole(operands.a),
             b_vectors = x.whole_b && is_whole(operands.b);
  const float *a = operands.a + (Sums::a_along ? row * g.lda : row),
              *b = operands.b + (Sums::b_along ? column * g.ldb : column);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < x.rounds; ++round, place.advance()) {
    const int depths = within(g.k - std::int64_t{round} * C::depth, C::depth);
    auto& stage = shared.stage[place.stage];
    ptx::wait(&shared.empty[place.stage], place.parity ^ 1);
    copy_tile<C::tile_x, C::depth, Sums::a_along, Sums::in_pairs>(stage.a, a, g.lda, a_lines,
                                                                  depths, a_vectors);
    copy_tile<C::tile_y, C::depth, Sums::b_along, Sums::in_pairs>(stage.b, b, g.ldb, b_lines,
                                                                  depths, b_vectors);
    ptx::cp_async_arrive(&shared.full[place.stage]);
    a += Sums::a_along ? C::depth : C::depth * g.lda;
    b += Sums::b_along ? C::depth : C::depth * g.ldb;
  }
}

// Sums: add(a, b) multiplies a round, store(c, gemm, origin, whether c takes float4) ends a tile.
template <class C, class Sums>
__device__ __forceinline__ void consume_tile(StreamedShared<C>& shared, const StreamedGemm& x,
                                             const StreamedTile& at,
                                             parts::RingPlace<C::stages>& place) {
  Sums sums;
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < x.rounds; ++round, place.advance()) {
    ptx::wait(&shared.full[place.stage], place.parity);
    sums.add(shared.stage[place.stage].a, shared.stage[place.stage].b);
    __syncwarp();  // all lanes have read the stage
    if (threadIdx.x % 32 == 0) ptx::arrive(&shared.empty[place.stage]);
  }
  float* const c = operands_of(x.gemm, x.batch, at.product).c;
  sums.store(c, x.gemm, at.origin<C>(x), x.whole_c && is_whole(c));
}

constexpr int kStreamProducers = 32;
template <class C, class Sums>
static __global__ void __launch_bounds__(C::consumers + kStreamProducers, C::resident)
    multiply_stream(StreamedGemm x) {
  auto& shared = *runtime::dynamic_shared<StreamedShared<C>>();
  if (threadIdx.x == 0) shared.init();
  __syncthreads();  // the barriers are there
  StreamedTile at{blockIdx.x / x.tiles, blockIdx.x % x.tiles};
  parts::RingPlace<C::stages> place;
  if (threadIdx.x >= C::consumers) {
    for (; at.product < x.batch.count; at.advance(x)) produce_tile<C, Sums>(shared, x, at, place);
    ptx::cp_async_wait<0>();
  } else {
    for (; at.product < x.batch.count; at.advance(x)) consume_tile<C, Sums>(shared, x, at, place);
  }
}

template <class C, template <class, bool, bool> class Sums>
void launch_stream(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                   runtime::StreamView& stream) {
  const std::int64_t tiles_y = tiles(g.n, C::tile_y), per_product = tiles(g.m, C::tile_x) * tiles_y,
                     slots = std::int64_t{stream.machine->multiprocessors} * C::resident,
                     grid = std::min(slots, per_product * batch.count);
  const auto whole = [](std::int64_t ld) { return ld % 4 == 0; };
  const StreamedGemm x{g,
                       batch,
                       static_cast<unsigned>(tiles_y),
                       static_cast<unsigned>(per_product),
                       static_cast<unsigned>(grid / per_product),
                       static_cast<unsigned>(grid % per_product),
                       static_cast<int>(std::max<std::int64_t>(1, tiles(g.k, C::depth))),
                       whole(g.lda),
                       whole(g.ldb),
                       whole(g.ldc)};
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(grid)),
                                   dim3(C::consumers + kStreamProducers),
                                   sizeof(StreamedShared<C>)};
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply_stream<C, Sums<C, kARows, !kBRows>>, x);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
