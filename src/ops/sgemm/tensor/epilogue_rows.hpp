#pragma once
// The epilogue by way of shared memory. Warps stage eight rows of sums there and store them to C in
// whole sectors, wherever the rows begin and end.
//
// The code is short on purpose. It runs once a tile, and an instruction that is not in the
// instruction cache costs about 10 ns. Only code that must name registers is unrolled.

#include "ops/sgemm/tensor/epilogue.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The origin of tile `t` of 64-row tiles stacked along m.
__device__ __forceinline__ TileOrigin origin_of_tile(TileOrigin corner, int t) {
  return {corner.row + t * 64, corner.column};
}

// A warp's eight staged rows. A warp owns 16 of each 64 128-byte rows of a ring stage.
// To avoid bank conflicts, groups of eight columns are swizzled from row to row. And every other 32
// columns exchange columns 0 and 1, 2 and 3, …
template <int kColumns_>
class StagedRows {
 public:
  static constexpr int kRows = 8, kColumns = kColumns_;
  static constexpr int kPeriod = 4;  // the swizzle repeats after so many rows
  // `stage_rows`: the warpgroup's rows of the stage.
  __device__ __forceinline__ explicit StagedRows(unsigned char* stage_rows)
      : own_(reinterpret_cast<float*>(stage_rows) + threadIdx.x % 128 / 32 * kFloatsOfWarp) {}
  __device__ __forceinline__ static constexpr bool swaps(int column) {
    return kColumns > 32 && column / 32 % 2 == 1;
  }
  __device__ __forceinline__ float* at(int row, int column) const {
    constexpr int kRowsOfWarp = kFloatsOfWarp / kColumns;
    return own_ + row / kRowsOfWarp * (64 * 32) + row % kRowsOfWarp * kColumns +
           (column ^ row % kPeriod * 8 ^ (swaps(column) ? 1 : 0));
  }

 private:
  static constexpr int kFloatsOfWarp = 16 * 32;
  float* own_;
};

// Which columns of staged rows a lane stores: kPieces times two columns, kStride apart, of kAtOnce
// rows at the same time. Two columns begin at a multiple of eight bytes. If ldc is odd, that is the
// row's first column in every other row (turn), and its second in the rows between.
template <int kColumns>
struct LaneColumns {
  static constexpr int kLanes = kColumns < 64 ? kColumns / 2 : 32, kAtOnce = 32 / kLanes,
                       kTurns = 2 / kAtOnce, kStride = 2 * kLanes, kPieces = kColumns / kStride;
  // Factors: two columns for each piece of each turn; then the row's first or last column.
  static constexpr int kEnd = kTurns * kPieces * 2, kFactors = kEnd + 1;
  float* row[kTurns];
  int first[kTurns];
  __device__ __forceinline__ LaneColumns(const Gemm& g, TileOrigin corner) {
    const int lane = threadIdx.x % 32;
    WARPLADDER_UNROLL_ON_GPU
    for (int turn = 0; turn < kTurns; ++turn) {
      row[turn] = g.c + (corner.row + turn + lane / kLanes) * g.ldc + corner.column;
      first[turn] = head_of(row[turn]) + 2 * (lane % kLanes);
    }
  }
  // Columns in front of a row's first multiple of eight bytes.
  __device__ __forceinline__ static int head_of(const float* row) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float) % 2);
  }
};

// A warp's factors. Each lane holds the factor of one row (16 rows for each of kTiles tiles). It
// also holds those of its columns on each of kSides sides of kColumns columns.
template <int kColumns, int kTiles, int kSides>
struct RowFactors {
  using Own = LaneColumns<kColumns>;
  float of_row;
  float of_columns[kSides][Own::kFactors];

  __device__ __forceinline__ void load(const Gemm& g, const SplitGemm& s, TileOrigin corner) {
    const int lane = threadIdx.x % 32;
    const std::int64_t row =
        corner.row + lane / 16 % kTiles * 64 + threadIdx.x % 128 / 32 * 16 + lane % 16;
    of_row = row < g.m ? s.a.factor[row] : 0.0f;
    const Own own(g, corner);
    const auto factor = [&](std::int64_t column) {
      return column < g.n ? s.b.factor[column] : 0.0f;
    };
    WARPLADDER_UNROLL_ON_GPU
    for (int side = 0; side < kSides; ++side) {
      const std::int64_t column = corner.column + side * kColumns, end = column + kColumns;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < Own::kEnd; ++i) {
        of_columns[side][i] = factor(column + own.first[i / (2 * Own::kPieces)] +
                                     i / 2 % Own::kPieces * Own::kStride + i % 2);
      }
      of_columns[side][Own::kEnd] = factor(lane % 2 == 0 ? column : (end < g.n ? end : g.n) - 1);
    }
  }
};

// Stores a warp's staged rows to C. The constructor computes what does not change from eight rows
// to the next; `corner` is the first row's origin in C.
template <int kColumns>
class StagedStore {
 public:
  using Own = LaneColumns<kColumns>;
  static constexpr int kRows = StagedRows<kColumns>::kRows;

  __device__ __forceinline__ StagedStore(const Gemm& g, const StagedRows<kColumns>& staged,
                                         TileOrigin corner)
      : g_(g), staged_(staged), corner_(corner), own_(g, corner) {
    const int lane = threadIdx.x % 32;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kPeriod / Own::kAtOnce; ++i) {
      const int row = i * Own::kAtOnce + lane / Own::kLanes, first = own_.first[i % Own::kTurns];
      left_of_[i] = staged.at(row, first);
      right_of_[i] = staged.at(row, (first + 1) % kColumns);
    }
    row_of_end_ = g.c + (corner.row + lane / 2 % kRows) * g.ldc + corner.column;
  }
  // Stores the eight rows that begin `row` rows and `column` columns behind the corner: multiples
  // of eight and of kColumns. Lane `row_lane` holds the first row's factor.
  __device__ __forceinline__ void store(int row, int column, float of_row, int row_lane,
                                        const float (&of_columns)[Own::kFactors]) const {
    const std::int64_t rows = g_.m - corner_.row - row, columns = g_.n - corner_.column - column;
    const Place place{row * g_.ldc + column,
                      row,
                      column,
                      row_lane,
                      rows < kRows ? static_cast<int>(rows) : kRows,
                      columns < kColumns ? static_cast<int>(columns) : kColumns};
    if (g_.beta == 0.0f) {
      store_pairs<false>(place, of_row, of_columns);
    } else {
      store_pairs<true>(place, of_row, of_columns);
    }
    store_ends(place, of_row, of_columns[Own::kEnd]);
  }

 private:
  static constexpr int kPeriod = StagedRows<kColumns>::kPeriod;
  struct Place {
    std::int64_t offset;          // from the corner, in elements of C
    int row, column;              // from the corner
    int row_lane, rows, columns;  // rows and columns that lie in C
    __device__ __forceinline__ float factor(float of_row, int row) const {
      return __shfl_sync(0xffffffffu, of_row, row_lane + row);
    }
  };

  // The source of a place's first row and column.
  __device__ __forceinline__ const float* source_of(const Place& place) const {
    return g_.source + (corner_.row + place.row) * g_.ld_source + corner_.column + place.column;
  }

  // Rows that are stored at the same time, and the two columns that a lane stores of each.
  static constexpr int kSteps = kPeriod / Own::kAtOnce;
  using Columns = float2[kSteps][Own::kPieces];

  // Loads together what is added to kPeriod rows from `row0` on: behind a store, possible aliasing
  // would serialise each load.
  __device__ __forceinline__ void load_source(const Place& place, int row0, Columns& to) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kSteps; ++i) {
      const int row = row0 + i * Own::kAtOnce + threadIdx.x % 32 / Own::kLanes;
      const float* const from = source_of(place) + row * g_.ld_source;
      WARPLADDER_UNROLL_ON_GPU
      for (int piece = 0; piece < Own::kPieces; ++piece) {
        const int column = own_.first[i % Own::kTurns] + piece * Own::kStride;
        to[i][piece] = row < place.rows && column + 2 <= place.columns
                           ? make_float2(from[column], from[column + 1])
                           : make_float2(0.0f, 0.0f);
      }
    }
  }

  // Two columns at a time. kAdds: beta is not zero.
  template <bool kAdds>
  __device__ __forceinline__ void store_pairs(const Place& place, float of_row,
                                              const float (&of_columns)[Own::kFactors]) const {
    const int lane = threadIdx.x % 32;
    float* to[Own::kTurns];
    WARPLADDER_UNROLL_ON_GPU
    for (int turn = 0; turn < Own::kTurns; ++turn) {
      to[turn] = own_.row[turn] + own_.first[turn] + place.offset;
    }
    WARPLADDER_NO_UNROLL
    for (int row0 = 0; row0 < kRows; row0 += kPeriod) {
      const std::ptrdiff_t staged_offset = staged_.at(row0, 0) - staged_.at(0, 0);
      [[maybe_unused]] Columns added;
      if constexpr (kAdds) load_source(place, row0, added);
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kSteps; ++i) {
        const int turn = i % Own::kTurns, row = row0 + i * Own::kAtOnce + lane / Own::kLanes;
        const float row_factor = place.factor(of_row, row);
        WARPLADDER_UNROLL_ON_GPU
        for (int piece = 0; piece < Own::kPieces; ++piece) {
          const int offset = piece * Own::kStride, column = own_.first[turn] + offset;
          const float left = left_of_[i][staged_offset + offset],
                      right = column + 1 < kColumns ? right_of_[i][staged_offset + offset] : 0.0f;
          const float* const factors = &of_columns[(turn * Own::kPieces + piece) * 2];
          float2 c = make_float2(g_.alpha * (left * row_factor * factors[0]),
                                 g_.alpha * (right * row_factor * factors[1]));
          if constexpr (kAdds) {
            c.x += g_.beta * added[i][piece].x;
            c.y += g_.beta * added[i][piece].y;
          }
          if (row < place.rows && column + 2 <= place.columns) {
            // Evict C first: the L2 cache should keep the pairs.
            __stcs(reinterpret_cast<float2*>(to[turn] + offset), c);
          }
        }
        to[turn] += 2 * g_.ldc;
      }
    }
  }
  // The single columns that remain at a row's beginning and end; two lanes a row.
  __device__ __forceinline__ void store_ends(const Place& place, float of_row, float of_end) const {
    const int lane = threadIdx.x % 32, row = lane / 2 % kRows, head = Own::head_of(row_of_end_),
              column = lane % 2 == 0 ? 0 : place.columns - 1;
    const float row_factor = place.factor(of_row, row);
    const bool is_left =
        lane % 2 == 0 ? head == 1 && place.columns > 0 : (place.columns - head) % 2 == 1;
    if (lane < 2 * kRows && row < place.rows && is_left) {
      const float* const source = source_of(place) + row * g_.ld_source + column;
      store_scaled(row_of_end_ + place.offset + column, source, g_.alpha,
                   *staged_.at(row, column) * row_factor * of_end, g_.beta);
    }
  }

  const Gemm& g_;
  const StagedRows<kColumns>& staged_;
  TileOrigin corner_;
  Own own_;
  const float* left_of_[kPeriod / Own::kAtOnce];
  const float* right_of_[kPeriod / Own::kAtOnce];
  float* row_of_end_;
};

// Stores a warpgroup's kTiles stacked tiles of 64×2·count, all of whose lines are representable.
// Called by the warpgroup's 128 threads; warps do not wait for each other.
template <int kColumns, int kTiles, int kSides, int count>
__device__ WARPLADDER_INLINE_ON_GPU void store_staged(
    const Gemm& g, const RowFactors<kColumns, kTiles, kSides>& factors,
    const float (&sums)[kTiles][count], TileOrigin corner, const StagedRows<kColumns>& staged) {
  static_assert(kSides * kColumns == 2 * count);
  constexpr int kGroups = kColumns / 8, kRounds = kSides * kTiles * 2;
  const int lane = threadIdx.x % 32;
  const StagedStore<kColumns> store(g, staged,
                                    {corner.row + threadIdx.x % 128 / 32 * 16, corner.column});
  float* to[4];
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < 4; ++i) to[i] = staged.at(lane / 4, 8 * i + lane % 4 * 2);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    __syncwarp();  // the previous rows are stored
    // Registers need constant indices: unroll all rounds, and execute this one.
    WARPLADDER_UNROLL_ON_GPU
    for (int r = 0; r < kRounds; ++r) {
      if (r != round) continue;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kGroups; ++i) {
        const int first = (r / (2 * kTiles) * kGroups + i) * 4 + r % 2 * 2;
        const float* const two = &sums[r / 2 % kTiles][first];
        const bool swaps = staged.swaps(8 * i);
        *reinterpret_cast<float2*>(to[i % 4] + i / 4 * 32) =
            make_float2(two[swaps ? 1 : 0], two[swaps ? 0 : 1]);
      }
    }
    __syncwarp();  // the rows are staged
    const int tile = round / 2 % kTiles, half = round % 2, side = round / (2 * kTiles);
    float of_columns[LaneColumns<kColumns>::kFactors];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < LaneColumns<kColumns>::kFactors; ++i) {
      of_columns[i] = factors.of_columns[0][i];
      WARPLADDER_UNROLL_ON_GPU
      for (int other = 1; other < kSides; ++other) {
        if (side == other) of_columns[i] = factors.of_columns[other][i];
      }
    }
    store.store(tile * 64 + half * 8, side * kColumns, factors.of_row, tile * 16 + half * 8,
                of_columns);
  }
}

// Stores the same tiles, representable or not.
template <class Pairs, int kColumns, int kTiles, int kSides, int count>
__device__ WARPLADDER_INLINE_ON_GPU void store_rows(
    const Gemm& g, const SplitGemm& s, const RowFactors<kColumns, kTiles, kSides>& factors,
    const float (&sums)[kTiles][count], TileOrigin corner, const StagedRows<kColumns>& staged) {
  if (all_representable<Pairs>(g, s, corner, kTiles * 64, 2 * count)) {
    store_staged(g, factors, sums, corner, staged);
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int t = 0; t < kTiles; ++t) {
      store_by_element<Pairs>(g, s, sums[t], origin_of_tile(corner, t));
    }
  }
}

// Stores one tile of 64 rows: directly if it is full and aligned, which is faster for so few sums.
template <class Pairs, int kColumns, int count>
__device__ WARPLADDER_INLINE_ON_GPU void store_sums(const Gemm& g, const SplitGemm& s,
                                                    TileFactors<count>& factors,
                                                    const float (&sums)[1][count],
                                                    TileOrigin corner,
                                                    const StagedRows<kColumns>& staged) {
  if (is_full_and_aligned(g, corner, 2 * count) &&
      all_representable<Pairs>(g, s, corner, 64, 2 * count)) {
    store_full(g, s, factors, sums[0], thread_origin(corner));
  } else {
    RowFactors<kColumns, 1, 2 * count / kColumns> of_rows;
    of_rows.load(g, s, corner);
    store_rows<Pairs>(g, s, of_rows, sums, corner, staged);
  }
}

// Stores tiles of C's transpose, element by element. Rows of the transpose from `end` on belong to
// other tiles.
template <class Pairs, int kTiles, int count>
__device__ WARPLADDER_INLINE_ON_GPU void store_transposed(const Gemm& g, const SplitGemm& s,
                                                          const float (&sums)[kTiles][count],
                                                          TileOrigin corner, std::int64_t end) {
  WARPLADDER_UNROLL_ON_GPU
  for (int t = 0; t < kTiles; ++t) {
    const TileOrigin origin = origin_of_tile(corner, t);
    if (origin.row >= end) return;
    store_predicated(g, as_transpose(g, s), sums[t], thread_origin(origin));
    if constexpr (Pairs::kNeedsLeast) {
      multiply_unsplit(g, s, origin.column, 2 * count, origin.row, 64, threadIdx.x % 128, 128);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
