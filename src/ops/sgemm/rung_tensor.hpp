#pragma once
// What the tc_ rungs share apart from parts/: how a product's operands are split in its workspace
// (rung_tensor_split.hpp), and how a warpgroup's sums become C. Rungs of the tc_ ladder include
// this instead of rung.hpp.

#include "ops/sgemm/rung_tensor_split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The order in which tiles of C are worked on: in bands of 8 rows of tiles, down each column of a
// band, so that what runs at the same time shares what it reads. Places count tiles.
//
// Where two blocks work on a tile of `sharers` times block_n columns together, what would leave
// them half idle comes last: the last columns of C, if they are one block's, by the two below each
// other; and its last rows, if they are block_n or fewer, as columns of C's transpose (turned).
// What of C is both belongs to the former. Up to kThin of these columns, or rows, are thin tiles.
struct TileOrder {
  static constexpr int kThin = 32;
  int tiles_m = 0, tiles_n = 0, below = 0, turned = 0;
  int thin = 0;                 // so many tiles at the end
  int apart = 0;                // so many workers, the last ones, have these and no others
  std::int64_t turned_end = 0;  // the first column of C that is not turned
  TileOrder(const Gemm& g, int block_m, int block_n, int sharers = 1)
      : tiles_m(static_cast<int>(tiles(g.m, block_m))),
        tiles_n(static_cast<int>(tiles(g.n, block_n * sharers))) {
    if (sharers != 2) return;
    if (tiles(g.n, block_n) % 2 == 1) {
      --tiles_n;
      below = (tiles_m + 1) / 2;
      if (g.n - std::int64_t{tiles_n} * sharers * block_n <= kThin) thin = below;
    }
    if (g.m - std::int64_t{tiles_m - 1} * block_m <= block_n) {
      --tiles_m;
      turned_end = below > 0 ? std::int64_t{tiles_n} * sharers * block_n : g.n;
      turned = static_cast<int>(tiles(turned_end, 2 * block_m));
      thin = g.m - std::int64_t{tiles_m} * block_m <= kThin ? thin + turned : 0;
    }
  }
  __host__ __device__ __forceinline__ int beside() const { return tiles_m * tiles_n; }
  __host__ __device__ __forceinline__ int count() const { return beside() + below + turned; }
  __host__ __device__ __forceinline__ int whole() const { return count() - thin; }
  __device__ __forceinline__ TilePlace place(int tile) const {
    constexpr int kBand = 8;
    const int first = tile / (kBand * tiles_n) * kBand, in_band = tile % (kBand * tiles_n);
    const int rows = tiles_m - first < kBand ? tiles_m - first : kBand;
    return {first + in_band % rows, in_band / rows};
  }
};

// As many workers, up to `most`, as leave none with less to do than it takes: the board's power is
// what binds, and a worker that waits for others' last round has wasted its share of it.
inline unsigned balanced(unsigned pieces, unsigned most) {
  if (pieces == 0) return 0;
  const unsigned rounds = (pieces + most - 1) / most;
  return (pieces + rounds - 1) / rounds;
}

// A factor that is NaN marks a line that Tf32Pairs do not hold.
__device__ __forceinline__ bool holds(float factor) { return factor == factor; }

// Factors of columns that are loaded together, in front of what is stored: as far as the compiler
// knows a store may change a factor, and a load behind each store would be waited for.
template <int count>
constexpr int kLoadedGroups = count / 4 < 8 ? count / 4 : 8;  // of eight columns
template <int count>
__device__ __forceinline__ void load_groups(const float* from, float2 (&to)[count]) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < count; ++i) to[i] = *reinterpret_cast<const float2*>(from + 8 * i);
}

// The thread's first element of a warpgroup's tile of which `corner` is the first, in C: the sums
// lie as ptx/wgmma.hpp says.
__device__ __forceinline__ TilePlace own_place(TilePlace corner) {
  const int thread = threadIdx.x % 128;
  return {corner.row + thread / 32 * 16 + thread % 32 / 4, corner.column + thread % 4 * 2};
}

// The factors of what a thread has of a 64×N tile, N = 2·count: of its rows, and of the first of
// its columns. A load takes its time: whoever has to wait for sums asks for them before.
template <int count>
struct TileFactors {
  float of_row[2];
  bool row_here[2], columns_here;
  float2 of_column[kLoadedGroups<count>];

  __device__ __forceinline__ TileFactors(const Gemm& g, const SplitGemm& s, TilePlace corner)
      : columns_here(corner.column + 2 * count <= g.n) {
    const TilePlace own = own_place(corner);
    WARPLADDER_UNROLL_ON_GPU
    for (int half = 0; half < 2; ++half) {
      row_here[half] = own.row + 8 * half < g.m;
      of_row[half] = row_here[half] ? s.a.factor[own.row + 8 * half] : 0.0f;
    }
    load(g, s, own.column);
  }
  // C's two elements of the sums of four, in the first row or the second, of group `i` of those
  // here.
  __device__ __forceinline__ float2 result(const Gemm& g, const float* four, int half,
                                           int i) const {
    return make_float2(g.alpha * (four[2 * half] * of_row[half] * of_column[i].x),
                       g.alpha * (four[2 * half + 1] * of_row[half] * of_column[i].y));
  }
  // From now on of the columns behind the first so many groups.
  __device__ __forceinline__ void advance(const Gemm& g, const SplitGemm& s, TilePlace own,
                                          int groups) {
    if (groups > 0) load(g, s, own.column + 8 * groups);
  }

 private:
  __device__ __forceinline__ void load(const Gemm& g, const SplitGemm& s, std::int64_t column) {
    const float* const from = s.b.factor + column;
    if (columns_here) {
      load_groups(from, of_column);
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kLoadedGroups<count>; ++i) {
        const std::int64_t left = g.n - column - 8 * i;
        of_column[i] =
            make_float2(left > 0 ? from[8 * i] : 0.0f, left > 1 ? from[8 * i + 1] : 0.0f);
      }
    }
  }
};

// Whether so many columns from `corner` on all lie in C, where rows begin with sectors of memory,
// and beta = 0.
__device__ __forceinline__ bool is_whole(const Gemm& g, TilePlace corner, int columns) {
  return corner.column + columns <= g.n && g.beta == 0.0f &&
         reinterpret_cast<std::uintptr_t>(g.c) % 32 == 0 && g.ldc % 8 == 0;
}

// store_sums() for a tile that is_whole().
template <int count>
__device__ __forceinline__ void store_whole(const Gemm& g, const SplitGemm& s,
                                            TileFactors<count>& factors, const float (&sums)[count],
                                            TilePlace own) {
  constexpr int kGroups = kLoadedGroups<count>;
  WARPLADDER_UNROLL_ON_GPU
  for (int first = 0; first < count / 4; first += kGroups) {
    factors.advance(g, s, own, first);
    WARPLADDER_UNROLL_ON_GPU
    for (int half = 0; half < 2; ++half) {
      if (!factors.row_here[half]) continue;
      float* const to = g.c + (own.row + 8 * half) * g.ldc + own.column + 8 * first;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kGroups; ++i) {  // what is read again shall stay
        __stcs(reinterpret_cast<float2*>(to + 8 * i),
               factors.result(g, &sums[4 * (first + i)], half, i));
      }
    }
  }
}

// C as rows and columns of sums, or its transpose; and the factors of both.
struct SumsPlace {
  std::int64_t rows, columns, row_step, column_step;
  const float *row_factor, *column_factor;
};

// store_sums() for any tile: only what lies in C, and lines that the pairs hold.
template <int count>
__device__ __forceinline__ void store_ragged(const Gemm& g, const SumsPlace& place,
                                             const float (&sums)[count], TilePlace own) {
  WARPLADDER_UNROLL_ON_GPU
  for (int half = 0; half < 2; ++half) {
    const std::int64_t row = own.row + 8 * half;
    if (row >= place.rows) return;
    const float row_factor = place.row_factor[row];
    float* const to = g.c + row * place.row_step + own.column * place.column_step;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < 2 * count; ++j) {
      if (j % 8 > 1 || own.column + j >= place.columns) continue;
      const float of_column = place.column_factor[own.column + j];
      if (!holds(row_factor) || !holds(of_column)) continue;
      store_scaled(to + j * place.column_step, g.alpha,
                   sums[j / 8 * 4 + j % 8 + 2 * half] * row_factor * of_column, g.beta);
    }
  }
}

// C's elements of a rectangle whose row or column no pairs hold: in FP32 arithmetic from A and B
// themselves, one thread an element. Called by threads first, first + threads, …
__device__ __forceinline__ void multiply_apart(const Gemm& g, const SplitGemm& s, std::int64_t row0,
                                               int rows, std::int64_t column0, int columns,
                                               int first, int threads) {
  const std::int64_t a_line = s.a.along ? s.a.ld : 1, a_next = s.a.along ? 1 : s.a.ld,
                     b_line = s.b.along ? s.b.ld : 1, b_next = s.b.along ? 1 : s.b.ld;
  for (int at = first; at < rows * columns; at += threads) {
    const std::int64_t i = row0 + at / columns, j = column0 + at % columns;
    if (i >= g.m || j >= g.n || (holds(s.a.factor[i]) && holds(s.b.factor[j]))) continue;
    float sum = 0.0f;
    for (std::int64_t k = 0; k < g.k; ++k) {
      sum += s.a.data[i * a_line + k * a_next] * s.b.data[j * b_line + k * b_next];
    }
    store_scaled(g.c + i * g.ldc + j, g.alpha, sum, g.beta);
  }
}

// Whether pairs hold all of so many rows and columns of C from `corner` on.
template <class Pairs>
__device__ __forceinline__ bool all_held(const Gemm& g, const SplitGemm& s, TilePlace corner,
                                         int rows, int columns) {
  if constexpr (!Pairs::kNeedsLeast) return true;
  bool held = true;
  for (int i = threadIdx.x % 32; i < rows; i += 32) {
    held &= corner.row + i >= g.m || holds(s.a.factor[corner.row + i]);
  }
  for (int j = threadIdx.x % 32; j < columns; j += 32) {
    held &= corner.column + j >= g.n || holds(s.b.factor[corner.column + j]);
  }
  return __all_sync(0xffffffffu, held);
}

// What a warpgroup's sums of a 64×N tile, N = 2·count, become: C = alpha·factors·sums + beta·C.
// `corner` is the tile's in C. Called by the warpgroup's 128 threads.
template <class Pairs, int count>
__device__ __forceinline__ void store_sums(const Gemm& g, const SplitGemm& s,
                                           const float (&sums)[count], TilePlace corner) {
  TileFactors<count> factors(g, s, corner);
  const TilePlace own = own_place(corner);
  const bool held = all_held<Pairs>(g, s, corner, 64, 2 * count);
  if (held && is_whole(g, corner, 2 * count)) {
    store_whole(g, s, factors, sums, own);
  } else {
    store_ragged(g, {g.m, g.n, g.ldc, 1, s.a.factor, s.b.factor}, sums, own);
  }
  if (!held) multiply_apart(g, s, corner.row, 64, corner.column, 2 * count, threadIdx.x % 128, 128);
}
// The same of any tile, element by element.
template <class Pairs, int count>
__device__ __forceinline__ void store_few(const Gemm& g, const SplitGemm& s,
                                          const float (&sums)[count], TilePlace corner) {
  store_ragged(g, {g.m, g.n, g.ldc, 1, s.a.factor, s.b.factor}, sums, own_place(corner));
  if constexpr (Pairs::kNeedsLeast) {
    multiply_apart(g, s, corner.row, 64, corner.column, 2 * count, threadIdx.x % 128, 128);
  }
}

// A warpgroup's sums of a 64×N tile as rows of `row_length` floats in shared memory.
template <int count>
__device__ __forceinline__ void keep_sums(const float (&sums)[count], float* tile, int row_length) {
  const int thread = threadIdx.x % 128;
  tile += (thread / 32 * 16 + thread % 32 / 4) * row_length + thread % 4 * 2;
  WARPLADDER_UNROLL_ON_GPU
  for (int half = 0; half < 2; ++half) {
    WARPLADDER_UNROLL_ON_GPU
    for (int quad = 0; quad < count / 4; ++quad) {
      *reinterpret_cast<float2*>(tile + half * 8 * row_length + quad * 8) =
          make_float2(sums[4 * quad + 2 * half], sums[4 * quad + 2 * half + 1]);
    }
  }
}

// C's tile of 128 columns from the sums that kBlocks blocks keep: block `rank` adds up its share of
// the rows, in the order of the blocks. Called by kThreads threads, of which a warp has a row.
template <class Pairs, int kBlocks, int kBlockM, int kThreads>
__device__ __forceinline__ void add_and_store(const Gemm& g, const SplitGemm& s, float* shared,
                                              int row_length, unsigned rank, std::int64_t row0,
                                              std::int64_t column0) {
  constexpr int kWarps = kThreads / 32, kRows = kBlockM / kBlocks, kInFlight = 8 / kBlocks;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            first = static_cast<int>(rank) * kRows;
  const std::int64_t j = column0 + lane * 4;
  float column_factor[4];
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4; ++i) column_factor[i] = j + i < g.n ? s.b.factor[j + i] : 0.0f;
  const bool in_quads = (reinterpret_cast<std::uintptr_t>(g.c) & 15) == 0 && g.ldc % 4 == 0 &&
                        j + 4 <= g.n && g.beta == 0.0f;
  bool columns_held = true;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4; ++i) columns_held &= holds(column_factor[i]);
  const float* kept[kBlocks];
  WARPLADDER_UNROLL_ON_GPU
  for (int b = 0; b < kBlocks; ++b) kept[b] = ptx::in_block(shared, b) + lane * 4;
  WARPLADDER_NO_UNROLL
  for (int r0 = first + warp; r0 < first + kRows; r0 += kInFlight * kWarps) {
    float4 of_block[kInFlight][kBlocks];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 0; b < kBlocks; ++b) {
        const int row = r0 + u * kWarps;
        of_block[u][b] = *reinterpret_cast<const float4*>(kept[b] + row * row_length);
      }
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const std::int64_t i = row0 + r0 + u * kWarps;
      if (i >= g.m) break;
      float4 sum = of_block[u][0];
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 1; b < kBlocks; ++b) {
        const float4& more = of_block[u][b];
        sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
      }
      const float row_factor = s.a.factor[i];
      const bool held = columns_held && holds(row_factor);
      const float c[] = {
          sum.x * row_factor * column_factor[0], sum.y * row_factor * column_factor[1],
          sum.z * row_factor * column_factor[2], sum.w * row_factor * column_factor[3]};
      float* const to = g.c + i * g.ldc + j;
      if (in_quads && held) {
        *reinterpret_cast<float4*>(to) =
            make_float4(g.alpha * c[0], g.alpha * c[1], g.alpha * c[2], g.alpha * c[3]);
      } else {
        WARPLADDER_UNROLL_ON_GPU
        for (int q = 0; q < 4; ++q) {
          if (j + q < g.n && holds(row_factor) && holds(column_factor[q])) {
            store_scaled(to + q, g.alpha, c[q], g.beta);
          }
        }
      }
    }
  }
  if constexpr (Pairs::kNeedsLeast) {
    multiply_apart(g, s, row0 + rank * kRows, kRows, column0, 128, threadIdx.x, kThreads);
  }
}

// The sizes of a problem, for what needs no more.
inline Gemm sizes_of(const Problem& p) {
  Gemm g{};
  g.m = p.m, g.n = p.n, g.k = p.k;
  return g;
}

// How the pass is run: as a kernel of its own, or by tickets in another one.
enum class Pass { own_kernel, by_tickets };

// How often warps of the pass arrive at a barrier, in all.
template <class Pairs>
std::uint64_t split_barriers(const Problem& p, const runtime::Machine& machine, Operands which,
                             Pass pass) {
  const bool own = pass == Pass::own_kernel;
  const SplitGemm s = plan_split<Pairs>(sizes_of(p), p.trans_a, p.trans_b, machine, own);
  const auto count = [&]<parts::LineLength length>() {
    using Shape = parts::SplitShape<length>;
    constexpr int kOfSpread = Pairs::kCounted,
                  kOfRange = length == parts::LineLength::brief ? 0 : 1;
    const int of_ticket = own ? 0 : 2;
    std::uint64_t of_rank = 0;
    for (unsigned rank = 0; rank < s.cluster; ++rank) {
      const auto [begin, end, held_at_once] =
          parts::split_part<length>(s.a, s.depth, rank, s.cluster);
      const bool at_once = held_at_once || end - begin <= Shape::rows;
      of_rank += of_ticket + (s.cluster > 1 ? 2 : 1) + kOfSpread +
                 (at_once ? 0 : 2 * (tiles(end - begin, Shape::rows) - 1));
    }
    std::uint64_t of_warps = 0;
    for (const parts::SplitOperand* x : {&s.a, &s.b}) {
      if (which == (x == &s.a ? Operands::b : Operands::a)) continue;
      of_warps += x->along ? (of_ticket + kOfRange + kOfSpread) * x->blocks
                           : of_rank * (x->blocks / s.cluster);
    }
    if (own && Pairs::kCounted) {  // blocks that begin later decide whether to leave
      const unsigned blocks = (which == Operands::b ? 0 : s.a.blocks) +
                              (which == Operands::a ? 0 : s.b.blocks),
                     first = s.a.first_blocks;
      of_warps += blocks > first ? blocks - first : 0;
    }
    return of_warps * parts::kSplitWarps;
  };
  return own ? parts::with_length(s.depth, count) : count.template operator()<kTicketLength>();
}

// What a rung predicts whose pass writes Pairs and whose blocks cover `area` elements of C, edges
// included, in so many groups along k, each with so many products; which has the copy engine bring
// `group_bytes` for each group, and whose warps arrive `barriers` times. What the pass and the
// stores ask of memory depends on more than a number says: src/parts/split.hpp.
template <class Pairs>
ladder::Totals predict_tensor(const Problem& p, const runtime::Machine& machine,
                              std::int64_t groups, std::int64_t area, int products,
                              std::int64_t group_bytes, std::uint64_t barriers,
                              Operands which = Operands::both, Pass pass = Pass::own_kernel) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.shuffles = ladder::kNotPredicted;
  t.barriers = split_barriers<Pairs>(p, machine, which, pass) + barriers;
  t.bulk_bytes = group_bytes * groups;
  t.tensor_fmas = area * groups * Pairs::kDepth * products;
  return t;
}

// The arithmetic of a rung whose products leave out so many units of 2^-24 of the sum of
// magnitudes, beyond what FP32 arithmetic may.
constexpr ladder::Arithmetic in_halves(double roundings) {
  return {ladder::Unit::f16_tensor_cores, roundings};
}
constexpr ladder::Arithmetic in_tf32(double roundings) {
  return {ladder::Unit::tf32_tensor_cores, roundings};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
