#pragma once
// The products of a batch as one stream of rounds. A round is C::depth of k of one tile; it comes
// to a stage of a ring in shared memory by asynchronous copies. A CTA stays. Its consumers multiply
// the last rounds of a tile and store its sums. Meanwhile its producers, the last warps, copy the
// first rounds of its next tile, mostly of another product.

#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/streams.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/register_share.hpp"
#include "parts/ring_place.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// `width`: how many neighbours may be copied at once, as far as the leading dimension tells.
struct StreamedGemm {
  Gemm gemm;
  Batch batch;
  DealtTiles tiles;
  parts::Divisor tiles_y;  // along n
  std::int64_t own_tiles;  // of a CTA; the first `more` CTAs have one more
  unsigned more;
  int rounds;  // of a tile; at least 1
  int width_a, width_b, width_c;
};

// Of a tile of kRows by kColumns of C.
template <int kRows, int kColumns>
__device__ __forceinline__ TileOrigin origin_of(const StreamedGemm& x, const DealtTile& at) {
  const auto [down, across] = x.tiles_y(at.tile);
  return {std::int64_t{down} * kRows, std::int64_t{across} * kColumns};
}

// The same as far as the address tells, too.
__device__ __forceinline__ int width_of(const float* data, int most) {
  const auto address = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(data));
  return min(most, address % 16 == 0 ? 4 : address % 8 == 0 ? 2 : 1);
}

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

template <int kLines, int kDepth, bool kAlong, bool kPairs>
struct StreamedPlaces {
  __device__ __forceinline__ static int at(int row, int piece) {
    return kAlong ? place_in_line<kDepth, kPairs>(row, piece)
                  : place_in_row<kLines, kPairs>(row, piece);
  }
};

// The producers copy a round of a tile.
template <int kLines, class C, bool kAlong, bool kPairs>
__device__ __forceinline__ void copy_tile(float* to, const float* from, std::int64_t ld, int lines,
                                          int depths, int width) {
  using Copier = PieceCopier<StreamedPlaces<kLines, C::depth, kAlong, kPairs>, kLines, C::depth,
                             C::producers, kAlong, false>;
  if (width == 4) {
    Copier::template copy<4>(to, from, ld, lines, depths);
  } else if (width == 2) {
    Copier::template copy<2>(to, from, ld, lines, depths);
  } else {
    Copier::template copy<1>(to, from, ld, lines, depths);
  }
}

// Where C takes no float4, a warp lays down sums of 32 neighbouring columns and then stores row by
// row: neighbouring lanes store neighbouring words. It pays for itself where rows of C are long.
// The padding keeps rows from meeting on a bank.
constexpr int kLongRow = 64;
template <class Sum, int kRows>
struct StagedSums {
  Sum row[kRows][32 + 16 / sizeof(Sum)];

  __device__ __forceinline__ void put(int r, int column, const Sum (&four)[4]) {
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) row[r][column + j] = four[j];
  }
  // row_of(r): of C. `column`: the first one's.
  template <class RowOf>
  __device__ __forceinline__ void store(float* c, const Gemm& g, std::int64_t column,
                                        const RowOf& row_of) {
    __syncwarp();  // all lanes have put theirs
    const int lane = threadIdx.x % 32;
    WARPLADDER_UNROLL_ON_GPU
    for (int r = 0; r < kRows; ++r) {
      const std::int64_t to = row_of(r);
      if (to < g.m && column + lane < g.n) {
        parts::store1(c + to * g.ldc + column + lane, g.alpha, row[r][lane], g.beta);
      }
    }
    __syncwarp();  // all rows have been read
  }
};

template <class C, class Sums>
struct StreamedShared {
  struct Stage {
    float a[C::tile_x * C::depth], b[C::tile_y * C::depth];
  } stage[C::stages];
  typename Sums::Staged staged[C::consumers / 32];
  ptx::Barrier full[C::stages];   // the producers' copies have arrived
  ptx::Barrier empty[C::stages];  // the consumers have read the stage

  // Called by all threads; a barrier of all follows. `whole`: all lines of all tiles exist.
  __device__ __forceinline__ void init(bool whole) {
    constexpr std::size_t kBytes = sizeof stage, kPieces = kBytes / sizeof(float4);
    auto* const pieces = reinterpret_cast<float4*>(stage);
    for (std::size_t i = threadIdx.x; !whole && i < kPieces; i += blockDim.x) {
      pieces[i] = make_float4(0, 0, 0, 0);
    }
    if (threadIdx.x > 0) return;
    for (int s = 0; s < C::stages; ++s) {
      ptx::barrier_init(&full[s], C::producers);
      ptx::barrier_init(&empty[s], C::consumers);
    }
    ptx::fence_barrier_init();
  }
};

// One tile, round by round. Sums says how the operands lie.
template <class C, class Sums>
__device__ __forceinline__ void produce_tile(StreamedShared<C, Sums>& shared, const StreamedGemm& x,
                                             const DealtTile& at,
                                             parts::RingPlace<C::stages>& place) {
  const Gemm& g = x.gemm;
  const ProductOperands operands = operands_of(g, x.batch, at.product);
  const auto [row, column] = origin_of<C::tile_x, C::tile_y>(x, at);
  const auto within = [](std::int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  };
  const int a_lines = within(g.m - row, C::tile_x), b_lines = within(g.n - column, C::tile_y);
  const int a_width = width_of(operands.a, x.width_a), b_width = width_of(operands.b, x.width_b);
  const float *a = operands.a + (Sums::a_along ? row * g.lda : row),
              *b = operands.b + (Sums::b_along ? column * g.ldb : column);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < x.rounds; ++round, place.advance()) {
    const int depths = within(g.k - std::int64_t{round} * C::depth, C::depth);
    auto& stage = shared.stage[place.stage];
    ptx::wait(&shared.empty[place.stage], place.parity ^ 1);
    copy_tile<C::tile_x, C, Sums::a_along, Sums::in_pairs>(stage.a, a, g.lda, a_lines, depths,
                                                           a_width);
    copy_tile<C::tile_y, C, Sums::b_along, Sums::in_pairs>(stage.b, b, g.ldb, b_lines, depths,
                                                           b_width);
    ptx::cp_async_arrive(&shared.full[place.stage]);
    a += Sums::a_along ? C::depth : C::depth * g.lda;
    b += Sums::b_along ? C::depth : C::depth * g.ldb;
  }
}

// Sums: are_of() says whether any of the warp's are elements of C; add(a, b) multiplies a round;
// store(c, gemm, origin, whether c takes float4, the warp's Staged) ends a tile.
template <class C, class Sums>
__device__ __forceinline__ void consume_tile(StreamedShared<C, Sums>& shared, const StreamedGemm& x,
                                             const DealtTile& at,
                                             parts::RingPlace<C::stages>& place) {
  Sums sums;
  const TileOrigin origin = origin_of<C::tile_x, C::tile_y>(x, at);
  const bool adds = sums.are_of(x.gemm, origin);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < x.rounds; ++round, place.advance()) {
    ptx::wait(&shared.full[place.stage], place.parity);
    if (adds) sums.add(shared.stage[place.stage].a, shared.stage[place.stage].b);
    ptx::arrive(&shared.empty[place.stage]);
  }
  if (!adds) return;
  float* const c = operands_of(x.gemm, x.batch, at.product).c;
  sums.store(c, x.gemm, origin, width_of(c, x.width_c) == 4, shared.staged[threadIdx.x / 32]);
}

template <class C, class Sums>
static __global__ void __launch_bounds__(C::consumers + C::producers, C::resident)
    multiply_stream(StreamedGemm x) {
  auto& shared = *runtime::dynamic_shared<StreamedShared<C, Sums>>();
  shared.init(x.gemm.m % C::tile_x == 0 && x.gemm.n % C::tile_y == 0);
  __syncthreads();  // the barriers are there
  DealtTile at(x.tiles, blockIdx.x);
  parts::RingPlace<C::stages> place;
  if (threadIdx.x >= C::consumers) {
    if constexpr (C::shares_registers) ptx::give_registers<40>();
    for (; at.product < x.batch.count; at.advance(x.tiles))
      produce_tile<C, Sums>(shared, x, at, place);
    ptx::cp_async_wait<0>();
  } else {
    if constexpr (C::shares_registers) ptx::take_registers<104>();
    for (; at.product < x.batch.count; at.advance(x.tiles))
      consume_tile<C, Sums>(shared, x, at, place);
  }
}

// The stream of a batch in tiles of `rows` by `columns`, and how many CTAs go through it.
struct StreamOfBatch {
  StreamedGemm gemm;
  unsigned ctas;
};
template <class C>
StreamOfBatch stream_of(const Gemm& g, const Batch& batch, int rows, int columns,
                        const runtime::Machine& machine) {
  const std::int64_t tiles_y = tiles(g.n, columns), per_product = tiles(g.m, rows) * tiles_y,
                     slots = std::int64_t{machine.multiprocessors} * C::resident,
                     all = per_product * batch.count, ctas = std::min(slots, all);
  return {{g, batch, DealtTiles::of(per_product, ctas), parts::Divisor::of(tiles_y), all / ctas,
           static_cast<unsigned>(all % ctas),
           static_cast<int>(std::max<std::int64_t>(1, tiles(g.k, C::depth))), width_for(g.lda),
           width_for(g.ldb), width_for(g.ldc)},
          static_cast<unsigned>(ctas)};
}

template <class C, template <class, bool, bool> class Sums>
void launch_stream(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                   runtime::StreamView& stream) {
  const auto [gemm, ctas] = stream_of<C>(g, batch, C::tile_x, C::tile_y, *stream.machine);
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    using Own = Sums<C, kARows, !kBRows>;
    const runtime::LaunchShape shape{dim3(ctas), dim3(C::consumers + C::producers),
                                     sizeof(StreamedShared<C, Own>)};
    runtime::launch(stream, shape, multiply_stream<C, Own>, gemm);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
