#pragma once
// The tile of a product that a block computes. Also compiled at run time, so it includes nothing of
// the host.

#include "ops/sgemm/gemm.hpp"
#include "parts/shares.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A stored matrix seen as op(X): element (i, j) of op(X), whichever way it lies in memory.
// kByRows: neighbours along j are neighbours in memory.
template <bool kByRows>
struct Operand {
  const float* data;
  std::int64_t ld;
  // The distance from element (i, j) to (i + 1, j), and to (i, j + 1).
  __host__ __device__ __forceinline__ std::int64_t down() const { return kByRows ? ld : 1; }
  __host__ __device__ __forceinline__ std::int64_t across() const { return kByRows ? 1 : ld; }
  __host__ __device__ __forceinline__ const float& operator()(std::int64_t i,
                                                              std::int64_t j) const {
    return kByRows ? data[i * ld + j] : data[i + j * ld];
  }
};

// C's element after the product: beta == 0 must not read it, nor the source.
__host__ __device__ __forceinline__ void store_scaled(float* c, const float* source, float alpha,
                                                      float sum, float beta) {
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *source;
}
__host__ __device__ __forceinline__ void store_scaled(float* c, float alpha, float sum,
                                                      float beta) {
  store_scaled(c, c, alpha, sum, beta);
}

// Tiles of `tile` that cover `size`.
__host__ __device__ __forceinline__ std::int64_t tiles(std::int64_t size, int tile) {
  return (size + tile - 1) / tile;
}

// The first element of a tile of C.
struct TileOrigin {
  std::int64_t row, column;
};
// The origin of the tile that a block computes. Tiles are numbered in bands of 64 tile rows, down
// each column of a band. So blocks that run at the same time share rows of A and columns of B.
template <int kBlockM, int kBlockN>
__device__ __forceinline__ TileOrigin tile_of_block(const Gemm& g) {
  constexpr unsigned kBand = 64;
  const auto tiles_m = static_cast<unsigned>(tiles(g.m, kBlockM)),
             tiles_n = static_cast<unsigned>(tiles(g.n, kBlockN));
  const unsigned first = blockIdx.x / (kBand * tiles_n) * kBand,
                 in_band = blockIdx.x % (kBand * tiles_n);
  const unsigned rows = tiles_m - first < kBand ? tiles_m - first : kBand;
  return {std::int64_t{first + in_band % rows} * kBlockM, std::int64_t{in_band / rows} * kBlockN};
}

// The same where the host divides.
struct BandedTiles {
  static constexpr unsigned kBand = 64;
  parts::Divisor of_band, of_last;  // tiles of a band, and those down the last one
  unsigned whole;                   // bands

  __host__ __device__ __forceinline__ static BandedTiles of(std::int64_t tiles_m,
                                                            std::int64_t tiles_n) {
    return {parts::Divisor::of((tiles_m < kBand ? tiles_m : kBand) * tiles_n),
            parts::Divisor::of(tiles_m % kBand > 0 ? tiles_m % kBand : 1),
            static_cast<unsigned>(tiles_m / kBand)};
  }
  template <int kBlockM, int kBlockN>
  __device__ __forceinline__ TileOrigin origin(unsigned block) const {
    const auto [band, in_band] = of_band(block);
    const auto [column_of_last, row_of_last] = of_last(in_band);
    const bool is_whole = band < whole;
    const unsigned column = is_whole ? in_band / kBand : column_of_last,
                   row = band * kBand + (is_whole ? in_band % kBand : row_of_last);
    return {std::int64_t{row} * kBlockM, std::int64_t{column} * kBlockN};
  }
};

// The same for a column-major rung: numbered down C's columns.
template <int kBlockM, int kBlockN>
__device__ __forceinline__ TileOrigin column_tile_of_block(const Gemm& g) {
  const auto tiles_m = static_cast<unsigned>(tiles(g.m, kBlockM));
  return {std::int64_t{blockIdx.x % tiles_m} * kBlockM,
          std::int64_t{blockIdx.x / tiles_m} * kBlockN};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
