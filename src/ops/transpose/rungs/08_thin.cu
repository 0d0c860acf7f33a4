// Bound before: a matrix of few columns, or few rows, fills tiles of 128×64 badly.
// Idea: 64 lines of its short side are one contiguous piece of memory. Move that piece as it lies,
// 16 bytes a lane. On the other side warps take 64 words of a long row. Few columns are written a
// word a lane, few rows are read by eight lanes for 128 bytes. A thread issues all its loads before
// its stores. In shared memory an odd number of short lines avoids bank conflicts.
// Prediction, for n columns and 64 rows: ceil(n/2) loads, 8·n sectors; as many sectors stored in
// 2·n requests. And as many loads from shared memory, of 1 wavefront where n is odd. For n rows and
// 64 columns: 8·n sectors loaded in 2·ceil(n/4) requests, four words stored to shared memory for
// each, ceil(n/2) stores. Accepts: every problem; up to 64 columns (rows) without gaps take this
// road, others 04's. What binds it: memory.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kThin = 64, kLines = 64, kThreads = 128, kTile = 32;

// Moves a piece as it lies. kHeld: the float4 that a thread holds, at least ceil(n/8), or 0 where
// alignment forbids them. (Cast from a float's address, a float4 was stored as four words by nvcc.)
// The loop that stores asks in other words whether it may: asked alike, compilers join each load
// with its store.
template <int kHeld>
__device__ __forceinline__ void move_piece(float* to, const float* from, int words) {
  const int t = threadIdx.x;
  if constexpr (kHeld == 0) {
    for (int i = t; i < words; i += kThreads) to[i] = from[i];
  } else {
    float4 held[kHeld] = {};
    WARPLADDER_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      const int at = t + l * kThreads;
      if (4 * at + 4 <= words) held[l] = reinterpret_cast<const float4*>(from)[at];
    }
    WARPLADDER_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      const int at = t + l * kThreads;
      if (at < words / 4) reinterpret_cast<float4*>(to)[at] = held[l];
    }
    if (const int i = words / 4 * 4 + t; i < words) to[i] = from[i];
  }
}

template <int kHeld>
__global__ void __launch_bounds__(kThreads, kHeld > 4 ? 8 : 16) few_columns(Tiles tiles) {
  float* piece = runtime::dynamic_shared<float>();
  const Tile tile = tile_of_block<kLines, kThin>(tiles);
  const int thin = tile.columns, t = threadIdx.x;
  move_piece<kHeld>(piece, tile.in, tile.rows * thin);
  __syncthreads();  // the piece is whole before threads take up what others have brought
  for (int j = t / 32; j < thin; j += kThreads / 32) {
    WARPLADDER_UNROLL
    for (int k = 0; k < kLines / 32; ++k) {
      const int i = t % 32 + 32 * k;
      if (i < tile.rows) tile.out[j * tiles.ld_out + i] = piece[i * thin + j];
    }
  }
}

template <int kHeld>
__global__ void __launch_bounds__(kThreads, kHeld > 4 ? 8 : 16) few_rows(Tiles tiles) {
  float* piece = runtime::dynamic_shared<float>();
  const Tile tile = tile_of_block<kThin, kLines>(tiles);
  const int thin = tile.rows, t = threadIdx.x;
  if (kHeld && tile.columns == kLines) {
    const int first = t / 64 * 4 + t % 32 / 8, j = t / 32 % 2 * 32 + t % 8 * 4;
    const float* in = &tile.in[first * tiles.ld_in + j];
    float4 held[kHeld > 0 ? kHeld : 1] = {};
    WARPLADDER_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      if (first + 8 * l >= thin) continue;
      held[l] = *reinterpret_cast<const float4*>(in + 8 * l * tiles.ld_in);
    }
    __syncwarp();  // no store moves up among the loads
    WARPLADDER_UNROLL
    for (int l = 0; l < kHeld; ++l) {
      if (first + 8 * l >= thin) continue;
      float* at = &piece[j * thin + first + 8 * l];
      at[0] = held[l].x;
      at[thin] = held[l].y;
      at[2 * thin] = held[l].z;
      at[3 * thin] = held[l].w;
    }
  } else {
    for (int i = t / kLines; i < thin; i += kThreads / kLines) {
      const int j = t % kLines;
      if (j < tile.columns) piece[j * thin + i] = tile.in[i * tiles.ld_in + j];
    }
  }
  __syncthreads();  // the piece is whole before threads take up what others have brought
  move_piece<kHeld>(tile.out, piece, tile.columns * thin);
}

__global__ void __launch_bounds__(kTile * 8) any_shape(Tiles tiles) {
  transpose_words<kTile, kTile * 8>(tiles);
}

template <int kHeld>
void launch_thin(const Call& call, runtime::StreamView& stream, bool columns) {
  const Problem& p = call.problem;
  const std::size_t bytes = sizeof(float) * kLines * (columns ? p.columns : p.rows);
  columns ? launch_tiles<kLines, kThin>(call, stream, dim3(kThreads), bytes, few_columns<kHeld>)
          : launch_tiles<kThin, kLines>(call, stream, dim3(kThreads), bytes, few_rows<kHeld>);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const bool columns = p.columns <= kThin && p.ld_in == p.columns;
  if (!columns && !(p.rows <= kThin && p.ld_out == p.rows)) {
    return launch_tiles<kTile, kTile>(call, stream, dim3(kTile * 8), 0, any_shape);
  }
  // What is read or written in float4: the piece, and the long rows where they are the input.
  auto steps = reinterpret_cast<std::uintptr_t>(call.in) / 4 | p.stride_in;
  if (!columns) steps |= reinterpret_cast<std::uintptr_t>(call.out) / 4 | p.stride_out | p.ld_in;
  const std::int64_t thin = columns ? p.columns : p.rows;
  const auto launch_held = steps % 4    ? launch_thin<0>
                           : thin <= 8  ? launch_thin<1>
                           : thin <= 16 ? launch_thin<2>
                           : thin <= 32 ? launch_thin<4>
                                        : launch_thin<8>;
  launch_held(call, stream, columns);
}

// For thin matrices: an odd number of columns (rows), and a multiple of 64 of the others.
ladder::Totals predict(const Problem& p) {
  const bool columns = p.columns <= kThin;
  if (!columns && p.rows > kThin) return predict_words(p);
  const std::uint64_t n = columns ? p.columns : p.rows, pieces = p.rows * p.columns / n / kLines;
  const std::uint64_t along = pieces * ((n + 1) / 2), across = pieces * 2 * ((n + 3) / 4);
  ladder::Totals t;
  t.global_load_requests = columns ? along : across;
  t.global_store_requests = columns ? pieces * 2 * n : along;
  t.global_load_sectors = t.global_store_sectors = 8 * n * pieces;
  t.shared_store_requests = columns ? along : 4 * across;
  t.shared_store_wavefronts = columns ? 2 * n * pieces : 4 * across;
  t.shared_load_requests = columns ? pieces * 2 * n : along;
  t.shared_load_wavefronts = 2 * n * pieces;
  t.barriers = pieces * (kThreads / 32);
  return t;
}

}  // namespace

WARPLADDER_RUNG(08_thin) = {.idea = "few columns or rows: the short side is one piece of memory",
                            .accepts = "every problem; its own road for up to 64 columns or rows",
                            .launch = launch_call<launch>,
                            .predict = predict_call<predict>,
                            .takes = out_of_place};

}  // namespace warpladder::transpose
