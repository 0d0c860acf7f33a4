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
// each 64 in a stage of the ring. Groups of eight columns change places from row to row, so that
// rows meet in other banks.
template <int kColumns_>
class StagedRows {
 public:
  static constexpr int kRows = 8, kColumns = kColumns_;
  // `of_tile`: a warpgroup's rows in the stage, of which 64 are one tile's.
  __device__ __forceinline__ explicit StagedRows(unsigned char* of_tile)
      : own_(reinterpret_cast<float*>(of_tile) + threadIdx.x % 128 / 32 * kHere) {}
  // Of a multiple of eight, and so many behind it.
  __device__ __forceinline__ float* at(int row, int group, int behind) const {
    constexpr int kRowsHere = kHere / kColumns;
    return own_ + row / kRowsHere * (64 * 32) + row % kRowsHere * kColumns + (group ^ row % 4) * 8 +
           behind;
  }

 private:
  static constexpr int kHere = 16 * 32;
  float* own_;
};

// The factors of a warp's rows in kTiles tiles of 64, a lane's the row of its number (16 a tile);
// and of all the tiles' columns, four beside each other a lane's.
template <int kColumns, int kTiles, int kSides>
struct RowFactors {
  float of_row;
  float of_columns[kSides][4];

  __device__ __forceinline__ RowFactors(const Gemm& g, const SplitGemm& s, TilePlace corner) {
    const int lane = threadIdx.x % 32;
    const std::int64_t row =
        corner.row + lane / 16 % kTiles * 64 + threadIdx.x % 128 / 32 * 16 + lane % 16;
    of_row = row < g.m ? s.a.factor[row] : 0.0f;
    WARPLADDER_UNROLL_ON_GPU
    for (int side = 0; side < kSides; ++side) {
      const std::int64_t column = corner.column + side * kColumns + lane % (kColumns / 4) * 4;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) {
        of_columns[side][i] = column + i < g.n ? s.b.factor[column + i] : 0.0f;
      }
    }
  }
};

// A warp stores eight staged rows of sums: C = alpha·factors·sums + beta·C. `top` is the place of
// the first in C, `row_lane` the lane that has its factor. A lane has four sums beside each other
// and stores the four of a row that begin at a multiple of 16 bytes: as many as the row has in
// front of its first such place, `head`, are its right neighbour's. The row's last lane is left
// with what does not fill one at both ends.
template <int kColumns>
__device__ __forceinline__ void store_staged(const Gemm& g, const StagedRows<kColumns>& staged,
                                             float of_row, const float (&of_columns)[4],
                                             int row_lane, TilePlace top) {
  constexpr int kLanes = kColumns / 4, kAtOnce = 32 / kLanes;
  const int lane = threadIdx.x % 32, quad = lane % kLanes, next = lane - quad + (quad + 1) % kLanes;
  const std::int64_t columns = g.n - top.column;
  const int left = columns < kColumns ? static_cast<int>(columns) : kColumns;
  WARPLADDER_UNROLL_BY(4)
  for (int first = 0; first < StagedRows<kColumns>::kRows; first += kAtOnce) {
    const int row = first + lane / kLanes;
    const float row_factor = __shfl_sync(0xffffffffu, of_row, row_lane + row);
    const float4 sums = *reinterpret_cast<const float4*>(staged.at(row, quad / 2, quad % 2 * 4));
    const auto scaled = [&](float sum, int i) {
      return g.alpha * (sum * row_factor * of_columns[i]);
    };
    float c[7] = {scaled(sums.x, 0), scaled(sums.y, 1), scaled(sums.z, 2), scaled(sums.w, 3)};
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 3; ++i) c[4 + i] = __shfl_sync(0xffffffffu, c[i], next);

    float* const to = g.c + (top.row + row) * g.ldc + top.column;
    const int head = static_cast<int>(-(reinterpret_cast<std::uintptr_t>(to) / 4) % 4),
              column = head + 4 * quad;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 6; ++i) c[i] = head % 2 == 1 ? c[i + 1] : c[i];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) c[i] = head >= 2 ? c[i + 2] : c[i];
    const bool here = top.row + row < g.m, together = here && column + 4 <= left;
    int place[4];
    bool alone[4];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      place[i] = column + i < kColumns ? column + i : column + i - kColumns;
      alone[i] = here && !together && place[i] < left;
    }
    if (g.beta != 0.0f) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) {
        if (alone[i] || together) c[i] += g.beta * to[place[i]];
      }
    }
    if (together) {  // what is read again shall stay in the L2 cache
      __stcs(reinterpret_cast<float4*>(to + column), make_float4(c[0], c[1], c[2], c[3]));
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      if (alone[i]) to[place[i]] = c[i];
    }
  }
}

// C from a warpgroup's sums of kTiles tiles of 64×2·count behind each other, all of whose rows and
// columns are held. Called by the warpgroup's 128 threads; warps do not wait for each other.
template <int kColumns, int kTiles, int count>
__device__ __forceinline__ void store_rows(const Gemm& g, const SplitGemm& s,
                                           const float (&sums)[kTiles][count], TilePlace corner,
                                           const StagedRows<kColumns>& staged) {
  constexpr int kGroups = kColumns / 8, kSides = 2 * count / kColumns,
                kRounds = kSides * kTiles * 2;
  const RowFactors<kColumns, kTiles, kSides> factors(g, s, corner);
  const int lane = threadIdx.x % 32;
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < kRounds; ++round) {
    __syncwarp();  // what lay there is stored
    float* to[4];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) to[i] = staged.at(lane / 4, i, lane % 4 * 2);
    WARPLADDER_UNROLL_ON_GPU
    for (int r = 0; r < kRounds; ++r) {
      if (r != round) continue;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kGroups; ++i) {
        const float* const four = &sums[r / 2 % kTiles][(r / (2 * kTiles) * kGroups + i) * 4];
        *reinterpret_cast<float2*>(to[i % 4] + i / 4 * 32) =
            make_float2(four[r % 2 * 2], four[r % 2 * 2 + 1]);
      }
    }
    __syncwarp();
    const int tile = round / 2 % kTiles, half = round % 2;
    const TilePlace top{corner.row + tile * 64 + threadIdx.x % 128 / 32 * 16 + half * 8,
                        corner.column + round / (2 * kTiles) * kColumns};
    const bool first_side = round < 2 * kTiles;
    float of_columns[4];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      of_columns[i] = first_side ? factors.of_columns[0][i] : factors.of_columns[kSides - 1][i];
    }
    store_staged(g, staged, factors.of_row, of_columns, tile * 16 + half * 8, top);
  }
}

// The same, whether held or not.
template <class Pairs, int kColumns, int kTiles, int count>
__device__ __forceinline__ void store_by_rows(const Gemm& g, const SplitGemm& s,
                                              const float (&sums)[kTiles][count], TilePlace corner,
                                              const StagedRows<kColumns>& staged) {
  if (all_held<Pairs>(g, s, corner, kTiles * 64, 2 * count)) {
    store_rows(g, s, sums, corner, staged);
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int t = 0; t < kTiles; ++t) store_few<Pairs>(g, s, sums[t], below(corner, t));
  }
}

// The same, and tiles that are whole directly. `factors` are the first tile's: whoever has to wait
// for sums asks for them before.
template <class Pairs, int kColumns, int kTiles, int count>
__device__ __forceinline__ void store_sums(const Gemm& g, const SplitGemm& s,
                                           TileFactors<count>& factors,
                                           const float (&sums)[kTiles][count], TilePlace corner,
                                           const StagedRows<kColumns>& staged) {
  if (is_whole(g, corner, 2 * count) && all_held<Pairs>(g, s, corner, kTiles * 64, 2 * count)) {
    store_whole(g, s, factors, sums[0], own_place(corner));
    WARPLADDER_UNROLL_ON_GPU
    for (int t = 1; t < kTiles; ++t) {
      TileFactors<count> more(g, s, below(corner, t));
      store_whole(g, s, more, sums[t], own_place(below(corner, t)));
    }
  } else {
    store_by_rows<Pairs>(g, s, sums, corner, staged);
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
