#pragma once
// How a warp's sums become rows of C by way of shared memory, wherever the rows begin and end.
//
// A tile's end is code that is fetched while nobody multiplies, for some 10 ns an instruction the
// first time. So it is short: what has to name its registers, the sums' way to shared memory, does
// nothing else, and what follows is a loop.

#include "ops/sgemm/rung_tensor.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// The first element of tile `t` of those of 64 rows that lie below each other.
__device__ __forceinline__ TilePlace below(TilePlace corner, int t) {
  return {corner.row + t * 64, corner.column};
}

// Eight rows of sums in shared memory, a warp's: in the 16 rows of 128 bytes that are its own of
// each 64 in a stage of the ring. Groups of eight columns change places from row to row, and
// columns 0 and 1, 2 and 3, … in every other 32, so that both eight rows' groups and every other
// column of a row lie in different banks.
template <int kColumns_>
class StagedRows {
 public:
  static constexpr int kRows = 8, kColumns = kColumns_;
  static constexpr int kPeriod = 4;  // of rows: behind that columns change places alike
  // `of_tile`: a warpgroup's rows in the stage, of which 64 are one tile's.
  __device__ __forceinline__ explicit StagedRows(unsigned char* of_tile)
      : own_(reinterpret_cast<float*>(of_tile) + threadIdx.x % 128 / 32 * kHere) {}
  __device__ __forceinline__ static constexpr bool swaps(int column) {
    return kColumns > 32 && column / 32 % 2 == 1;
  }
  __device__ __forceinline__ float* at(int row, int column) const {
    constexpr int kRowsHere = kHere / kColumns;
    return own_ + row / kRowsHere * (64 * 32) + row % kRowsHere * kColumns +
           (column ^ row % kPeriod * 8 ^ (swaps(column) ? 1 : 0));
  }

 private:
  static constexpr int kHere = 16 * 32;
  float* own_;
};

// What a lane stores of eight staged rows: of kAtOnce rows at the same time kPieces times two
// columns, kApart from each other. They begin at a multiple of eight bytes, with the row's first
// column or with its second, in turns where the leading dimension is odd.
template <int kColumns>
struct LaneColumns {
  static constexpr int kLanes = kColumns < 64 ? kColumns / 2 : 32, kAtOnce = 32 / kLanes,
                       kTurns = 2 / kAtOnce, kApart = 2 * kLanes, kPieces = kColumns / kApart;
  // Factors: of two columns for each turn's pieces, and of the row's first column or last.
  static constexpr int kEnd = kTurns * kPieces * 2, kFactors = kEnd + 1;
  float* row[kTurns];
  int first[kTurns];
  __device__ __forceinline__ LaneColumns(const Gemm& g, TilePlace corner) {
    const int lane = threadIdx.x % 32;
    WARPLADDER_UNROLL_ON_GPU
    for (int turn = 0; turn < kTurns; ++turn) {
      row[turn] = g.c + (corner.row + turn + lane / kLanes) * g.ldc + corner.column;
      first[turn] = head_of(row[turn]) + 2 * (lane % kLanes);
    }
  }
  // The columns in front of a row's first multiple of eight bytes.
  __device__ __forceinline__ static int head_of(const float* row) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float) % 2);
  }
};

// The factors of a warp's rows in kTiles tiles of 64, a lane's the row of its number (16 a tile);
// and of its columns in each side of kColumns, as LaneColumns has them.
template <int kColumns, int kTiles, int kSides>
struct RowFactors {
  using Own = LaneColumns<kColumns>;
  float of_row;
  float of_columns[kSides][Own::kFactors];

  __device__ __forceinline__ void load(const Gemm& g, const SplitGemm& s, TilePlace corner) {
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
                                     i / 2 % Own::kPieces * Own::kApart + i % 2);
      }
      of_columns[side][Own::kEnd] = factor(lane % 2 == 0 ? column : (end < g.n ? end : g.n) - 1);
    }
  }
};

// Stores staged rows of sums, a warp's: C = alpha·factors·sums + beta·C. What does not change from
// eight rows to the next, with `corner` the first one's place in C, is found out once.
template <int kColumns>
class StagedStore {
 public:
  using Own = LaneColumns<kColumns>;
  static constexpr int kRows = StagedRows<kColumns>::kRows;

  __device__ __forceinline__ StagedStore(const Gemm& g, const StagedRows<kColumns>& staged,
                                         TilePlace corner)
      : g_(g), staged_(staged), corner_(corner), own_(g, corner) {
    const int lane = threadIdx.x % 32;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kHere / Own::kAtOnce; ++i) {
      const int row = i * Own::kAtOnce + lane / Own::kLanes, first = own_.first[i % Own::kTurns];
      left_of_[i] = staged.at(row, first);
      right_of_[i] = staged.at(row, (first + 1) % kColumns);
    }
    row_of_end_ = g.c + (corner.row + lane / 2 % kRows) * g.ldc + corner.column;
  }
  // The eight that begin so many rows and columns behind the corner: multiples of eight and of
  // kColumns. `row_lane` has the first row's factor.
  __device__ __forceinline__ void store(int row, int column, float of_row, int row_lane,
                                        const float (&of_columns)[Own::kFactors]) const {
    const std::int64_t rows = g_.m - corner_.row - row, columns = g_.n - corner_.column - column;
    const Place place{row * g_.ldc + column, row_lane,
                      rows < kRows ? static_cast<int>(rows) : kRows,
                      columns < kColumns ? static_cast<int>(columns) : kColumns};
    if (g_.beta == 0.0f) {
      store_twos<false>(place, of_row, of_columns);
    } else {
      store_twos<true>(place, of_row, of_columns);
    }
    store_ends(place, of_row, of_columns[Own::kEnd]);
  }

 private:
  static constexpr int kHere = StagedRows<kColumns>::kPeriod;
  struct Place {
    std::int64_t behind;          // the corner, in memory
    int row_lane, rows, columns;  // those that lie in C
    __device__ __forceinline__ float factor(float of_row, int row) const {
      return __shfl_sync(0xffffffffu, of_row, row_lane + row);
    }
  };

  // Two columns at a time. kAdds: beta is not zero.
  template <bool kAdds>
  __device__ __forceinline__ void store_twos(const Place& place, float of_row,
                                             const float (&of_columns)[Own::kFactors]) const {
    const int lane = threadIdx.x % 32;
    float* to[Own::kTurns];
    WARPLADDER_UNROLL_ON_GPU
    for (int turn = 0; turn < Own::kTurns; ++turn) {
      to[turn] = own_.row[turn] + own_.first[turn] + place.behind;
    }
    WARPLADDER_NO_UNROLL
    for (int row0 = 0; row0 < kRows; row0 += kHere) {
      const std::ptrdiff_t further = staged_.at(row0, 0) - staged_.at(0, 0);
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kHere / Own::kAtOnce; ++i) {
        const int turn = i % Own::kTurns, row = row0 + i * Own::kAtOnce + lane / Own::kLanes;
        const float row_factor = place.factor(of_row, row);
        WARPLADDER_UNROLL_ON_GPU
        for (int piece = 0; piece < Own::kPieces; ++piece) {
          const int behind = piece * Own::kApart, column = own_.first[turn] + behind;
          const float left = left_of_[i][further + behind],
                      right = column + 1 < kColumns ? right_of_[i][further + behind] : 0.0f;
          const float* const factors = &of_columns[(turn * Own::kPieces + piece) * 2];
          float2 c = make_float2(g_.alpha * (left * row_factor * factors[0]),
                                 g_.alpha * (right * row_factor * factors[1]));
          if (row < place.rows && column + 2 <= place.columns) {
            float2* const two = reinterpret_cast<float2*>(to[turn] + behind);
            if (kAdds) c.x += g_.beta * two->x, c.y += g_.beta * two->y;
            __stcs(two, c);  // what is read again shall stay in the L2 cache
          }
        }
        to[turn] += 2 * g_.ldc;
      }
    }
  }
  // What is left of a row in front and behind, by two lanes.
  __device__ __forceinline__ void store_ends(const Place& place, float of_row, float of_end) const {
    const int lane = threadIdx.x % 32, row = lane / 2 % kRows, head = Own::head_of(row_of_end_),
              column = lane % 2 == 0 ? 0 : place.columns - 1;
    const float row_factor = place.factor(of_row, row);
    const bool is_left =
        lane % 2 == 0 ? head == 1 && place.columns > 0 : (place.columns - head) % 2 == 1;
    if (lane < 2 * kRows && row < place.rows && is_left) {
      store_scaled(row_of_end_ + place.behind + column, g_.alpha,
                   *staged_.at(row, column) * row_factor * of_end, g_.beta);
    }
  }

  const Gemm& g_;
  const StagedRows<kColumns>& staged_;
  TilePlace corner_;
  Own own_;
  const float* left_of_[kHere / Own::kAtOnce];
  const float* right_of_[kHere / Own::kAtOnce];
  float* row_of_end_;
};

// C from a warpgroup's sums of kTiles tiles of 64×2·count behind each other, all of whose rows and
// columns are held. Called by the warpgroup's 128 threads; warps do not wait for each other.
template <int kColumns, int kTiles, int kSides, int count>
__device__ __forceinline__ void store_held(const Gemm& g,
                                           const RowFactors<kColumns, kTiles, kSides>& factors,
                                           const float (&sums)[kTiles][count], TilePlace corner,
                                           const StagedRows<kColumns>& staged) {
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
    __syncwarp();  // what lay there is stored
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
    __syncwarp();
    const int tile = round / 2 % kTiles, half = round % 2, side = round / (2 * kTiles);
    float of_columns[LaneColumns<kColumns>::kFactors];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < LaneColumns<kColumns>::kFactors; ++i) {
      of_columns[i] = side == 0 ? factors.of_columns[0][i] : factors.of_columns[kSides - 1][i];
    }
    store.store(tile * 64 + half * 8, side * kColumns, factors.of_row, tile * 16 + half * 8,
                of_columns);
  }
}

// The same, whether held or not.
template <class Pairs, int kColumns, int kTiles, int kSides, int count>
__device__ __forceinline__ void store_rows(const Gemm& g, const SplitGemm& s,
                                           const RowFactors<kColumns, kTiles, kSides>& factors,
                                           const float (&sums)[kTiles][count], TilePlace corner,
                                           const StagedRows<kColumns>& staged) {
  if (all_held<Pairs>(g, s, corner, kTiles * 64, 2 * count)) {
    store_held(g, factors, sums, corner, staged);
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int t = 0; t < kTiles; ++t) store_few<Pairs>(g, s, sums[t], below(corner, t));
  }
}

// The same of a tile of 64 rows, directly where it is whole: so few sums are stored faster than
// staged. `factors`: whoever has to wait for sums asks for them before.
template <class Pairs, int kColumns, int count>
__device__ __forceinline__ void store_sums(const Gemm& g, const SplitGemm& s,
                                           TileFactors<count>& factors,
                                           const float (&sums)[1][count], TilePlace corner,
                                           const StagedRows<kColumns>& staged) {
  if (is_whole(g, corner, 2 * count) && all_held<Pairs>(g, s, corner, 64, 2 * count)) {
    store_whole(g, s, factors, sums[0], own_place(corner));
  } else {
    RowFactors<kColumns, 1, 2 * count / kColumns> of_rows;
    of_rows.load(g, s, corner);
    store_rows<Pairs>(g, s, of_rows, sums, corner, staged);
  }
}

// The same of tiles of C's transpose, element by element; those from `end` on are not C's.
template <class Pairs, int kTiles, int count>
__device__ __forceinline__ void store_turned(const Gemm& g, const SplitGemm& s,
                                             const float (&sums)[kTiles][count], TilePlace corner,
                                             std::int64_t end) {
  WARPLADDER_UNROLL_ON_GPU
  for (int t = 0; t < kTiles; ++t) {
    const TilePlace at = below(corner, t);
    if (at.row >= end) return;
    store_ragged(g, {g.n, g.m, 1, g.ldc, s.b.factor, s.a.factor}, sums[t], own_place(at));
    if constexpr (Pairs::kNeedsLeast) {
      multiply_apart(g, s, at.column, 2 * count, at.row, 64, threadIdx.x % 128, 128);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
