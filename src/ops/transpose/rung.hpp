#pragma once
// The only project header that a transpose rung includes, parts/ apart.

#include <type_traits>

#include "ladder/rung.hpp"
#include "ops/transpose/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::transpose {
inline namespace WARPLADDER_FLAVOUR {

// A block's tile: where it begins in either matrix, and how much of it there is.
struct Tile {
  const float* in;    // element (row0, column0) of the input
  float* out;         // element (column0, row0) of the output
  int rows, columns;  // of the tile, which the matrices' edges may cut
};

// What a kernel is told of a call. The grid is three-dimensional, and the host works out what the
// edges leave of their tiles. A block that divides to find its tile does so before its first load,
// which a small matrix feels. Index: what distances are reckoned in.
template <class Index>
struct TilesIn {
  const float* in;
  float* out;
  Index ld_in, ld_out, stride_in, stride_out;
  int last_rows, last_columns;
};
using Tiles = TilesIn<std::int64_t>;

template <int kRows, int kColumns, class Index>
__device__ __forceinline__ Tile tile_of_block(const TilesIn<Index>& tiles) {
  const Index row0 = static_cast<Index>(blockIdx.x) * kRows,
              column0 = static_cast<Index>(blockIdx.y) * kColumns,
              matrix = static_cast<Index>(blockIdx.z);
  return {tiles.in + (matrix * tiles.stride_in + row0 * tiles.ld_in + column0),
          tiles.out + (matrix * tiles.stride_out + column0 * tiles.ld_out + row0),
          blockIdx.x + 1 == gridDim.x ? tiles.last_rows : kRows,
          blockIdx.y + 1 == gridDim.y ? tiles.last_columns : kColumns};
}

// Runs the kernel with one block for each tile of each matrix. They are numbered down the input's
// columns: blocks that run together then write neighbouring pieces of the same output rows. A
// grid's y and z end at 65,535; what is beyond goes into further launches. `more` are the kernel's
// further arguments.
template <int kRows, int kColumns, class Index, class... More>
void launch_tiles(const Call& call, runtime::StreamView& stream, dim3 threads,
                  std::size_t shared_bytes, void (*kernel)(TilesIn<Index>, More...),
                  std::type_identity_t<More>... more) {
  constexpr std::int64_t kMost = 65535;
  for_each_part(call, kMost * kColumns, kMost, [&](const Call& part) {
    const Problem& p = part.problem;
    const std::int64_t down = (p.rows + kRows - 1) / kRows,
                       across = (p.columns + kColumns - 1) / kColumns;
    const TilesIn<Index> tiles{part.in,
                               part.out,
                               static_cast<Index>(p.ld_in),
                               static_cast<Index>(p.ld_out),
                               static_cast<Index>(p.stride_in),
                               static_cast<Index>(p.stride_out),
                               static_cast<int>(p.rows - (down - 1) * kRows),
                               static_cast<int>(p.columns - (across - 1) * kColumns)};
    const dim3 grid(static_cast<unsigned>(down), static_cast<unsigned>(across),
                    static_cast<unsigned>(p.batch));
    runtime::launch(stream, {grid, threads, shared_bytes}, kernel, tiles, more...);
  });
}

// 04_padded's way, for rungs that fall back on it: kThreads threads, a word each at a time.
template <int kTile, int kThreads, class Index>
__device__ __forceinline__ void transpose_words(const TilesIn<Index>& tiles) {
  __shared__ float shared[kTile][kTile + 1];
  const Tile tile = tile_of_block<kTile, kTile>(tiles);
  const int x = threadIdx.x % kTile, first = threadIdx.x / kTile;
  for (int y = first; y < tile.rows; y += kThreads / kTile) {
    if (x < tile.columns) shared[y][x] = tile.in[y * tiles.ld_in + x];
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  for (int y = first; y < tile.columns; y += kThreads / kTile) {
    if (x < tile.rows) tile.out[y * tiles.ld_out + x] = shared[x][y];
  }
}

// What transpose_words() asks for with tiles of 32 and 256 threads: 04_padded's prediction.
inline ladder::Totals predict_words(const Problem& p) {
  const std::uint64_t accesses = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = accesses;
  t.global_load_sectors = t.global_store_sectors = 4 * accesses;
  t.shared_store_requests = t.shared_store_wavefronts = accesses;
  t.shared_load_requests = t.shared_load_wavefronts = accesses;
  t.barriers = accesses / 4;
  return t;
}

// Whether rows of 16 bytes may be read and written at once: addresses, leading dimensions, strides
// and sizes are multiples of four elements.
inline bool vectors_allowed(const Call& call) {
  const Problem& p = call.problem;
  const auto address =
      reinterpret_cast<std::uintptr_t>(call.in) | reinterpret_cast<std::uintptr_t>(call.out);
  return address % 16 == 0 &&
         (p.rows | p.columns | p.ld_in | p.ld_out | p.stride_in | p.stride_out) % 4 == 0;
}

// launch() is called with at least one element. `predict` counts for compact, aligned operands
// whose sizes are multiples of 128.
using LaunchRung = void (*)(const Call& call, runtime::StreamView& stream);

template <LaunchRung launch>
void launch_call(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (p.rows > 0 && p.columns > 0 && p.batch > 0) launch(call, stream);
}
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(call.problem, machine);
}

inline bool in_place(const Call& call) { return call.in_place(); }
inline bool out_of_place(const Call& call) { return !call.in_place(); }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::transpose
