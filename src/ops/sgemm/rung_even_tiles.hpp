#pragma once
// The kernel of row_30_even_tiles and of the rungs behind it: CTAs share a product's tiles evenly.

#include <atomic>

#include "ops/sgemm/even_tiles.hpp"
#include "ops/sgemm/join_slices.hpp"
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
  float4* partial;  // a tile's elements for each CTA
  // By CTA: `mark` where it has laid its sums down for the CTA that ends the tile, which takes the
  // mark away. No launch in front clears them: each launch has a mark of its own.
  unsigned long long* laid_down;
  unsigned long long mark;
  bool turned = false;  // C's rows are the columns of this product

  __host__ __device__ __forceinline__ int first_round(int cta) const {
    return shares.first(cta) * unit;
  }
  // A tile's place in C. Of batches `g` becomes the tile's product.
  template <class C>
  __device__ __forceinline__ TileOrigin take_tile(int tile, Gemm& /*g*/) const {
    return tiles.origin<C::rows, C::columns>(static_cast<unsigned>(tile));
  }
};
// Of a tile, the rounds that a CTA multiplies.
struct EvenPiece {
  int tile, begin, end, of_tile;
  __device__ __forceinline__ bool ends_tile() const { return end == of_tile; }
};

// The largest leading dimension whose distances a SpreadCopy holds: of the longer side of a tile.
template <class C>
constexpr std::int64_t kMostSpreadLd =
    SpreadCopy<std::max(C::rows, C::columns), C::depth, C::threads, true, 1>::most_ld;

// How a CTA copies A and B: a RingCopy asks for all of a round's copies at once, a SpreadCopy for
// some between its steps. A HeldCopy loads early in a round, and stores at its end.
template <class Tile, bool kARows, bool kBRows, class CopyA, class CopyB>
struct EvenOperands {
  using C = Tile;
  using Product = EvenGemm;
  static constexpr bool joins = true;  // slices of C may be stored
  template <class Copy>
  static constexpr bool is_spread = requires(const Copy& copy) {
    copy.copy_part(nullptr, 0);
  };
  template <class Copy>
  static constexpr bool is_held = requires(Copy& copy) {
    copy.load_part(0, true);
  };
  static constexpr bool any_spread = is_spread<CopyA> || is_spread<CopyB>;
  struct Stage {
    float a[C::depth][CopyA::stride], b[C::depth][CopyB::stride];
  };
  CopyA a;
  CopyB b;

  // Of a piece, whose part of k becomes g's.
  __device__ __forceinline__ static EvenOperands of(const EvenGemm& e, const EvenPiece& piece,
                                                    const TileOrigin& tile, Gemm& g) {
    take_rounds<C, kARows, kBRows>(g, piece.begin, piece.end, piece.of_tile);
    return {{g.a, g.lda, e.lines_a, tile.row}, {g.b, g.ldb, e.lines_b, tile.column}};
  }
  __device__ __forceinline__ static void store(const EvenGemm&, const ProductPart& part,
                                               ParityPlace at, const ParitySums<C>& sums,
                                               float* staging) {
    store_part<C, parts::AsItIs>(part, at, sums.sum, staging);
  }

  // The next `depths` of k, and zeros after them.
  __device__ __forceinline__ void copy(Stage& stage, int depths) {
    a.copy(stage.a, depths);
    b.copy(stage.b, depths);
  }
  // Of the next C::depth of k, what is asked for at once.
  __device__ __forceinline__ void copy_at_once(Stage& stage) {
    if constexpr (!is_spread<CopyA>) a.copy(stage.a, C::depth);
    if constexpr (!is_spread<CopyB>) b.copy(stage.b, C::depth);
  }
  // What belongs to a step of C::depth, if it is wanted.
  __device__ __forceinline__ void copy_step(Stage& stage, int step, bool wanted) {
    if constexpr (is_spread<CopyA>) copy_parts(a, stage.a, step, wanted);
    if constexpr (is_spread<CopyB>) copy_parts(b, stage.b, step, wanted);
  }
  __device__ __forceinline__ void advance() {
    if constexpr (is_spread<CopyA>) a.advance(C::depth);
    if constexpr (is_spread<CopyB>) b.advance(C::depth);
  }

 private:
  template <class One, int kStride>
  __device__ __forceinline__ static void copy_parts(One& x, float (*tile)[kStride], int step,
                                                    bool wanted) {
    if constexpr (is_held<One>) {
      constexpr int kAtOnce = 2;  // so that the first steps ask for all
      WARPLADDER_UNROLL_ON_GPU
      for (int p = step * kAtOnce; p < (step + 1) * kAtOnce && p < One::copies; ++p) {
        x.load_part(p, wanted);
      }
      if (step == C::depth - 1 && wanted) x.store(tile);
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int p = step * One::copies / C::depth; p < (step + 1) * One::copies / C::depth; ++p) {
        if (wanted) x.copy_part(tile, p);
      }
    }
  }
};

// Adds up `rounds` of k of a tile. The last step of a round is multiplied when the next round's
// first loads are under way; before the first round it has zeros.
template <class Operands, class C = typename Operands::C>
__device__ __forceinline__ void add_rounds(ParitySums<C>& sums,
                                           typename Operands::Stage (&ring)[C::stages],
                                           Operands& operands, ParityPlace at, int rounds,
                                           int first_depth) {
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
    if (more) operands.copy_at_once(ring[writes]);
    if constexpr (!Operands::any_spread) ptx::cp_async_commit();
    sums.multiply(C::depth - 1);
    WARPLADDER_UNROLL_ON_GPU
    for (int k = 0; k + 1 < C::depth; ++k) {
      sums.load(ring[reads].a, ring[reads].b, at, k + 1, k + 1);
      operands.copy_step(ring[writes], k, more);
      sums.multiply(k);
    }
    if constexpr (Operands::any_spread) {
      operands.copy_step(ring[writes], C::depth - 1, more);
      operands.advance();
      ptx::cp_async_commit();
    }
    writes = reads;
    reads = reads + 1 == C::stages ? 0 : reads + 1;
  }
  sums.multiply(C::depth - 1);
}

template <class Operands, class C = typename Operands::C>
__device__ WARPLADDER_INLINE_ON_GPU ProductPart
add_piece(ParitySums<C>& sums, typename Operands::Stage (&ring)[C::stages],
          const typename Operands::Product& e, const EvenPiece& piece, ParityPlace at) {
  Gemm g = e.gemm;
  const TileOrigin tile = e.template take_tile<C>(piece.tile, g);
  auto operands = Operands::of(e, piece, tile, g);
  WARPLADDER_UNROLL
  for (int i = 0; i < C::thread_rows; ++i) sums.a[1][i] = 0;
  WARPLADDER_UNROLL
  for (int j = 0; j < C::thread_columns; ++j) sums.b[1][j] = 0;
  add_rounds(sums, ring, operands, at, piece.end - piece.begin,
             static_cast<int>((g.k - 1) % C::depth) + 1);  // only the first is ragged
  return {g, tile.row, tile.column, g.ldc % 4 == 0 && is_whole(g.c)};
}

// CTAs lay down the sums of a tile that others end, each thread its own.
template <class C>
constexpr int kEvenFours = C::thread_rows* C::thread_columns / 4;
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void lay_down_part(const EvenGemm& e, int cta,
                                                       ParitySums<C>& sums) {
  float4* const to = e.partial + std::int64_t{cta} * (C::threads * kEvenFours<C>)+threadIdx.x;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kEvenFours<C>; ++i) {
    to[i * C::threads] =
        make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
  }
  __threadfence();
  __syncthreads();  // all sums are there
  if (threadIdx.x == 0) atomicExch(&e.laid_down[cta], e.mark);
}

// Adds to the sums of a tile that this CTA ends what CTAs before it have of it, in their order.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void add_other_parts(const EvenGemm& e, int cta,
                                                         const EvenPiece& piece,
                                                         ParitySums<C>& sums) {
  const int first = e.shares.part_of(piece.tile * piece.of_tile);
  for (int other = first + static_cast<int>(threadIdx.x); other < cta; other += C::threads) {
    while (atomicExch(&e.laid_down[other], 0ull) != e.mark) {
    }
    __threadfence();
  }
  __syncthreads();  // their sums are there
  WARPLADDER_NO_UNROLL
  for (int other = first; other < cta; ++other) {
    const float4* const from =
        e.partial + std::int64_t{other} * (C::threads * kEvenFours<C>)+threadIdx.x;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kEvenFours<C>; ++i) {
      const float4 four = from[i * C::threads];
      sums[4 * i] += four.x;
      sums[4 * i + 1] += four.y;
      sums[4 * i + 2] += four.z;
      sums[4 * i + 3] += four.w;
    }
  }
}

// A CTA goes through its share from the end. So it lays down at once what a CTA behind it waits
// for. When it ends a tile itself, the CTAs before it have long laid down theirs.
template <class Operands>
static __global__ void __launch_bounds__(Operands::C::threads, Operands::C::resident)
    multiply_even_tiles(typename Operands::Product e) {
  using C = typename Operands::C;
  __shared__ __align__(16) typename Operands::Stage ring[C::stages];
  const ParityPlace at = parity_place<C>(threadIdx.x);
  const int cta = static_cast<int>(blockIdx.x), begin = e.first_round(cta);
  ptx::wait_for_previous_kernel();  // operands are packed
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
      Operands::store(e, part, at, sums, &ring[0].a[0][0]);
    } else {
      lay_down_part(e, cta, sums);
    }
    end -= ends_at - starts_at;
    if (end > begin) __syncthreads();  // the ring is read no more
  }
}

// A CTA has one of a tile's slices along k, and stores it to a C of its own: these begin `slice`
// elements apart. e.shares are of a tile's rounds. A kernel apart: as one with the other, ptxas
// gave its loop registers that took 2 % longer.
template <class Operands>
static __global__ void __launch_bounds__(Operands::C::threads, Operands::C::resident)
    multiply_slices_of_tiles(EvenGemm e, int slices, std::int64_t slice) {
  using C = typename Operands::C;
  __shared__ __align__(16) typename Operands::Stage ring[C::stages];
  const ParityPlace at = parity_place<C>(threadIdx.x);
  const int cta = static_cast<int>(blockIdx.x), tile = cta / slices, of_tile = cta - tile * slices;
  const EvenPiece piece{tile, e.shares.first(of_tile), e.shares.first(of_tile + 1),
                        static_cast<int>(e.rounds.by)};
  ptx::wait_for_previous_kernel();  // operands are packed
  ptx::allow_next_kernel();         // the join
  ParitySums<C> sums;
  ProductPart part = add_piece<Operands>(sums, ring, e, piece, at);
  part.gemm.c += of_tile * slice;
  part.vectors = true;
  Operands::store(e, part, at, sums, nullptr);
}

// No two launches of a process have the same, and memory holds it by chance alone.
inline unsigned long long mark_of_launch() {
  constexpr unsigned long long kOdd = 0x9e3779b97f4a7c15;
  static std::atomic<unsigned long long> launches{0};
  return (launches.fetch_add(1, std::memory_order_relaxed) + 1) * kOdd;
}

// Sums lie in the workspace from `room` on.
template <class C>
EvenGemm even_gemm(const Gemm& g, const EvenShares& s, void* room) {
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
          .laid_down =
              reinterpret_cast<unsigned long long*>(partial + ctas * C::threads * kEvenFours<C>),
          .mark = mark_of_launch()};
}

// Shared memory beyond a CTA's own `bytes`, so that no more CTAs fit on a multiprocessor than each
// is to have. It takes no more than that, for the rest is L1 cache, which words come through.
inline std::size_t spreading_bytes(std::int64_t each, std::size_t bytes,
                                   const runtime::Machine& machine) {
  constexpr std::int64_t kReserved = 1024, kUnit = 128;  // of a CTA; what is counted in
  const std::int64_t one_more = machine.shared_bytes_per_multiprocessor / (each + 1) - kReserved,
                     missing = one_more - static_cast<std::int64_t>(bytes);
  return static_cast<std::size_t>(missing < 0 ? 0 : (missing / kUnit + 1) * kUnit);
}

// Slices of C in the workspace, and what adds them up.
template <class Operands>
void launch_slices(EvenGemm e, const EvenShares& s, const runtime::LaunchShape& shape,
                   runtime::StreamView& stream) {
  e.gemm.workspace = e.partial;
  Gemm of_c = e.gemm;
  if (e.turned) std::swap(of_c.m, of_c.n);
  const std::int64_t line = line_of_slice(of_c.n);
  e.shares = parts::EvenParts::of(s.rounds, s.slices());
  e.gemm = gemm_of_slices(e.gemm, line);
  runtime::launch(stream, shape, multiply_slices_of_tiles<Operands>, e, s.slices(), of_c.m * line);
  launch_join<float>(of_c, s.slices(), line, stream);
}

// `behind_another`: a launch that it waits for. CTAs that start before that one's end crowd onto
// the multiprocessors that are free first, unless they have just as many places.
template <class Operands>
void launch_even_tiles(const typename Operands::Product& e, const EvenShares& s,
                       bool behind_another, runtime::StreamView& stream) {
  using C = typename Operands::C;
  runtime::LaunchShape shape{dim3(static_cast<unsigned>(s.ctas)), dim3(C::threads)};
  const std::int64_t each = tiles(s.ctas, stream.machine->multiprocessors);
  if (behind_another && each < C::resident) {
    shape.dynamic_shared_bytes =
        spreading_bytes(each, C::stages * sizeof(typename Operands::Stage), *stream.machine);
  }
  shape.overlaps_previous = behind_another;
  if constexpr (Operands::joins) {
    if (s.joined) return launch_slices<Operands>(e, s, shape, stream);
  }
  runtime::launch(stream, shape, multiply_even_tiles<Operands>, e);
}

inline bool takes_even(const Call& call) {
  return !call.batch.arrays && fits_even_tiles<EvenTile>(call.problem);
}

// Of the product's kernel, and of the join to C. Each piece of a tile adds a step of zeros.
template <class C>
ladder::Totals predict_even_tiles(const Problem& given, const EvenShares& s) {
  const std::uint64_t rounds = std::uint64_t{1} * s.tiles * s.rounds;
  const auto shares = parts::EvenParts::of(static_cast<int>(rounds), s.ctas);
  std::uint64_t pieces = static_cast<std::uint64_t>(s.joined ? s.ctas : s.tiles), barriers = rounds;
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
  t.barriers += barriers_of_join(given.m * line_of_slice(given.n), s.slices());
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
