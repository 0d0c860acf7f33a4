#pragma once
// The kernel of row_30_even_tiles and row_31_packed_operands: CTAs share a product's tiles evenly.

#include "ops/sgemm/even_tiles.hpp"
#include "ops/sgemm/rung_ring.hpp"
#include "ops/sgemm/spread_copy.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// CTA i has the rounds from first_round(i) on. `lines_a`, `lines_b`: those that may be copied.
struct EvenGemm {
  Gemm gemm;
  std::int64_t lines_a, lines_b;
  BandedTiles tiles;
  parts::Divisor rounds;  // of a tile
  parts::EvenParts shares;
  int unit;         // rounds that are not parted
  float4* partial;  // EvenTile::threads · kEvenFours for each CTA
  unsigned* parts;  // by the CTA that ends a tile: how many others have laid their sums down

  __host__ __device__ __forceinline__ int first_round(int cta) const {
    return shares.first(cta) * unit;
  }
};
// Of a tile, the rounds that a CTA multiplies.
struct EvenPiece {
  int tile, begin, end, of_tile;
  __device__ __forceinline__ bool ends_tile() const { return end == of_tile; }
};

// Both operands by fours are so few copies that all are asked for at once. Words are spread over a
// round's steps.
enum class Copying { at_once, spread };
template <Copying kHow, bool kARows, bool kBRows, int kOfA, int kOfB>
struct EvenOperands {
  using C = EvenTile;
  static constexpr Copying how = kHow;
  static constexpr bool a_rows = kARows, b_rows = kBRows;
  template <int kOuter, bool kAlong, int kVector>
  using Copy = std::conditional_t<how == Copying::spread,
                                  SpreadCopy<kOuter, C::depth, C::threads, kAlong, kVector>,
                                  RingCopy<kOuter, C::depth, C::threads, kAlong, kVector>>;
  using OfA = Copy<C::rows, kARows, kOfA>;
  using OfB = Copy<C::columns, !kBRows, kOfB>;
  struct Stage {
    float a[C::depth][OfA::stride], b[C::depth][OfB::stride];
  };
  OfA a;
  OfB b;

  // The next `depths` of k, and zeros after them.
  __device__ __forceinline__ void copy(Stage& stage, int depths) {
    a.copy(stage.a, depths);
    b.copy(stage.b, depths);
  }
  // What belongs to a step of C::depth, of the next C::depth of k.
  __device__ __forceinline__ void copy_step(Stage& stage, int step) const {
    if constexpr (how == Copying::spread) {
      copy_parts(a, stage.a, step);
      copy_parts(b, stage.b, step);
    }
  }
  __device__ __forceinline__ void advance() {
    if constexpr (how == Copying::spread) {
      a.advance(C::depth);
      b.advance(C::depth);
    }
  }

 private:
  template <class One, int kStride>
  __device__ __forceinline__ static void copy_parts(const One& x, float (*tile)[kStride],
                                                    int step) {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = step * One::copies / C::depth; p < (step + 1) * One::copies / C::depth; ++p) {
      x.copy_part(tile, p);
    }
  }
};

// Adds up `rounds` of k of a tile. The last step of a round is multiplied when the next round's
// first loads are under way; before the first round it has zeros.
template <class Operands>
__device__ __forceinline__ void add_rounds(ParitySums<EvenTile>& sums,
                                           typename Operands::Stage (&ring)[EvenTile::stages],
                                           Operands& operands, ParityPlace at, int rounds,
                                           int first_depth) {
  using C = EvenTile;
  constexpr int kAhead = C::stages - 1;
  WARPLADDER_UNROLL
  for (int round = 0; round < kAhead; ++round) {
    if (round < rounds) operands.copy(ring[round], round > 0 ? C::depth : first_depth);
    ptx::cp_async_commit();
  }
  int reads = 0, writes = kAhead;
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    ptx::cp_async_wait<kAhead - 1>();
    __syncthreads();  // the round is whole, and nobody reads the stage to be filled
    const bool more = round + kAhead < rounds;
    sums.load(ring[reads].a, ring[reads].b, at, 0, 0);
    if constexpr (Operands::how == Copying::at_once) {
      if (more) operands.copy(ring[writes], C::depth);
      ptx::cp_async_commit();
    }
    sums.multiply(C::depth - 1);
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k + 1 < C::depth; ++k) {
      sums.load(ring[reads].a, ring[reads].b, at, k + 1, k + 1);
      if (more) operands.copy_step(ring[writes], k);
      sums.multiply(k);
    }
    if constexpr (Operands::how == Copying::spread) {
      if (more) operands.copy_step(ring[writes], C::depth - 1);
      operands.advance();
      ptx::cp_async_commit();
    }
    writes = reads;
    reads = reads + 1 == C::stages ? 0 : reads + 1;
  }
  sums.multiply(C::depth - 1);
}

template <class Operands>
__device__ __forceinline__ ProductPart add_piece(ParitySums<EvenTile>& sums,
                                                 typename Operands::Stage (&ring)[EvenTile::stages],
                                                 const EvenGemm& e, const EvenPiece& piece,
                                                 ParityPlace at) {
  using C = EvenTile;
  const auto [row0, column0] =
      e.tiles.origin<C::rows, C::columns>(static_cast<unsigned>(piece.tile));
  Gemm g = e.gemm;
  take_rounds<C, Operands::a_rows, Operands::b_rows>(g, piece.begin, piece.end, piece.of_tile);
  Operands operands{{g.a, g.lda, e.lines_a, row0}, {g.b, g.ldb, e.lines_b, column0}};
  WARPLADDER_UNROLL
  for (int i = 0; i < C::thread_rows; ++i) sums.a[1][i] = 0;
  WARPLADDER_UNROLL
  for (int j = 0; j < C::thread_columns; ++j) sums.b[1][j] = 0;
  add_rounds(sums, ring, operands, at, piece.end - piece.begin,
             static_cast<int>((g.k - 1) % C::depth) + 1);  // only the first is ragged
  return {g, row0, column0, g.ldc % 4 == 0 && is_whole(g.c)};
}

template <int kThreads>
__device__ __forceinline__ void clear_counts(unsigned* parts, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) parts[i] = 0;
}

// CTAs lay down the sums of a tile that others end, each thread its own.
constexpr int kEvenFours = EvenTile::thread_rows * EvenTile::thread_columns / 4;
__device__ WARPLADDER_INLINE_ON_GPU void lay_down_part(const EvenGemm& e, int cta,
                                                       const EvenPiece& piece,
                                                       ParitySums<EvenTile>& sums) {
  using C = EvenTile;
  float4* const to = e.partial + std::int64_t{cta} * (C::threads * kEvenFours) + threadIdx.x;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kEvenFours; ++i) {
    to[i * C::threads] =
        make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
  }
  __threadfence();
  __syncthreads();  // all sums are there
  if (threadIdx.x == 0) {
    atomicAdd(&e.parts[e.shares.part_of((piece.tile + 1) * piece.of_tile - 1)], 1u);
  }
}

// Adds to the sums of a tile that this CTA ends what CTAs before it have of it, in their order.
__device__ WARPLADDER_INLINE_ON_GPU void add_other_parts(const EvenGemm& e, int cta,
                                                         const EvenPiece& piece,
                                                         ParitySums<EvenTile>& sums) {
  using C = EvenTile;
  const int first = e.shares.part_of(piece.tile * piece.of_tile);
  if (threadIdx.x == 0) {
    while (atomicAdd(&e.parts[cta], 0u) < static_cast<unsigned>(cta - first)) {
    }
    __threadfence();
  }
  __syncthreads();  // their sums are there
  WARPLADDER_NO_UNROLL
  for (int other = first; other < cta; ++other) {
    const float4* const from =
        e.partial + std::int64_t{other} * (C::threads * kEvenFours) + threadIdx.x;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kEvenFours; ++i) {
      const float4 four = from[i * C::threads];
      sums[4 * i] += four.x;
      sums[4 * i + 1] += four.y;
      sums[4 * i + 2] += four.z;
      sums[4 * i + 3] += four.w;
    }
  }
}

// A CTA goes through its share from the end: it lays down at once what a CTA behind it waits for,
// and when it ends a tile itself, the CTAs before it have long laid down theirs.
template <Copying how, bool kARows, bool kBRows, int kOfA, int kOfB>
static __global__ void __launch_bounds__(EvenTile::threads, EvenTile::resident)
    multiply_even_tiles(EvenGemm e) {
  using C = EvenTile;
  using Operands = EvenOperands<how, kARows, kBRows, kOfA, kOfB>;
  __shared__ __align__(16) typename Operands::Stage ring[C::stages];
  const ParityPlace at = parity_place<C>(threadIdx.x);
  const int cta = static_cast<int>(blockIdx.x), begin = e.first_round(cta);
  ptx::wait_for_previous_kernel();  // counts are zero, and operands are packed
  WARPLADDER_NO_UNROLL
  for (int end = e.first_round(cta + 1); end > begin;) {
    const auto [tile, last] = e.rounds(end - 1);
    const int ends_at = static_cast<int>(last) + 1, starts_at = max(0, ends_at - (end - begin));
    const EvenPiece piece{static_cast<int>(tile), starts_at, ends_at,
                          static_cast<int>(e.rounds.by)};
    ParitySums<C> sums;
    const ProductPart part = add_piece<Operands>(sums, ring, e, piece, at);
    if (piece.ends_tile()) {
      if (starts_at > 0) add_other_parts(e, cta, piece, sums);
      store_part<C, parts::AsItIs>(part, at, sums.sum, &ring[0].a[0][0]);
    } else {
      lay_down_part(e, cta, piece, sums);
    }
    end -= ends_at - starts_at;
    if (end > begin) __syncthreads();  // the ring is read no more
  }
}

// Sums lie in the workspace from `room` on.
inline EvenGemm even_gemm(const Gemm& g, const EvenShares& s, void* room) {
  using C = EvenTile;
  auto* const partial = static_cast<float4*>(room);
  const std::int64_t ctas = s.parted ? s.ctas : 0;  // that may lay down sums
  return {.gemm = g,
          .lines_a = g.m,
          .lines_b = g.n,
          .tiles = BandedTiles::of(tiles(g.m, C::rows), tiles(g.n, C::columns)),
          .rounds = parts::Divisor::of(s.rounds),
          .shares = parts::EvenParts::of(s.parted ? s.tiles * s.rounds : s.tiles, s.ctas),
          .unit = s.parted ? 1 : s.rounds,
          .partial = partial,
          .parts = reinterpret_cast<unsigned*>(partial + ctas * C::threads * kEvenFours)};
}

// `behind_another`: a launch that it waits for. Fewer CTAs that start before that one's end crowd
// onto the multiprocessors that are free first.
template <class Kernel>
void launch_even_tiles(const EvenGemm& e, const EvenShares& s, bool behind_another,
                       const Kernel& kernel, runtime::StreamView& stream) {
  runtime::LaunchShape shape{dim3(static_cast<unsigned>(s.ctas)), dim3(EvenTile::threads)};
  shape.overlaps_previous = behind_another && s.ctas >= even_slots(*stream.machine);
  runtime::launch(stream, shape, kernel, e);
}

inline bool takes_even(const Call& call) {
  return !call.batch.arrays && fits_even_tiles(call.problem);
}

// Of the product's kernel. Each piece of a tile adds a step of zeros.
inline ladder::Totals predict_even_tiles(const EvenShares& s) {
  using C = EvenTile;
  const std::uint64_t rounds = std::uint64_t{1} * s.tiles * s.rounds;
  const auto shares = parts::EvenParts::of(static_cast<int>(rounds), s.ctas);
  std::uint64_t pieces = s.tiles, barriers = rounds;
  for (int cta = 1, last = -1; s.parted && cta < s.ctas; ++cta) {
    const int first = shares.first(cta);
    if (first % s.rounds == 0) continue;
    ++pieces;
    barriers += first / s.rounds == last ? 1 : 2;  // one lays down, and one adds the others'
    last = first / s.rounds;
  }
  ladder::Totals t = no_predicted_accesses();
  t.shuffles = 0;
  t.fmas = (rounds * C::depth + pieces) * C::rows * C::columns;
  t.barriers = (barriers + pieces - s.ctas) * (C::threads / 32);
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
