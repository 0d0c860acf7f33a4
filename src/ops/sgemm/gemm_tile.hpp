#pragma once
// The tile of a product that a block computes. Also compiled at run time, so it includes nothing of
// the host.

#include "ops/sgemm/gemm.hpp"
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
// each column of a band: blocks that run at the same time then share rows of A and columns of B.
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

// The same for a column-major rung: numbered down C's columns.
template <int kBlockM, int kBlockN>
__device__ __forceinline__ TileOrigin column_tile_of_block(const Gemm& g) {
  const auto tiles_m = static_cast<unsigned>(tiles(g.m, kBlockM));
  return {std::int64_t{blockIdx.x % tiles_m} * kBlockM,
          std::int64_t{blockIdx.x / tiles_m} * kBlockN};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
