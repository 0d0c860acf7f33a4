#pragma once
// The only project header that a transpose rung includes, parts/ apart.

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {
inline namespace WARPLADDER_FLAVOUR {

// A block's tile: where it begins in either matrix, and how much of it there is.
struct Tile {
  const float* in;    // element (row0, column0) of the input
  float* out;         // element (column0, row0) of the output
  int rows, columns;  // of the tile, which the matrices' edges may cut
};

// Tiles that cover all matrices: one block each, in one dimension (y and z end at 65,535).
template <int kRows, int kColumns>
std::int64_t tile_count(const Problem& p) {
  return (p.rows + kRows - 1) / kRows * ((p.columns + kColumns - 1) / kColumns) * p.batch;
}

// Numbered down the input's columns: blocks that run together then write neighbouring pieces of the
// same output rows. The count fits in 31 bits, as a grid's must.
template <int kRows, int kColumns>
__device__ __forceinline__ Tile tile_of_block(const Call& call) {
  const Problem& p = call.problem;
  const auto down = static_cast<unsigned>((p.rows + kRows - 1) / kRows);
  const auto all = down * static_cast<unsigned>((p.columns + kColumns - 1) / kColumns);
  const unsigned matrix = blockIdx.x / all, tile = blockIdx.x % all;
  const std::int64_t row0 = std::int64_t{tile % down} * kRows,
                     column0 = std::int64_t{tile / down} * kColumns;
  const std::int64_t rows = p.rows - row0, columns = p.columns - column0;
  return {call.in + matrix * p.stride_in + row0 * p.ld_in + column0,
          call.out + matrix * p.stride_out + column0 * p.ld_out + row0,
          rows < kRows ? static_cast<int>(rows) : kRows,
          columns < kColumns ? static_cast<int>(columns) : kColumns};
}

// 04_padded's way, for rungs that fall back on it: kThreads threads, a word each at a time.
template <int kTile, int kThreads>
__device__ __forceinline__ void transpose_words(const Call& call) {
  __shared__ float shared[kTile][kTile + 1];
  const Tile tile = tile_of_block<kTile, kTile>(call);
  const int x = threadIdx.x % kTile, first = threadIdx.x / kTile;
  for (int y = first; y < tile.rows; y += kThreads / kTile) {
    if (x < tile.columns) shared[y][x] = tile.in[y * call.problem.ld_in + x];
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  for (int y = first; y < tile.columns; y += kThreads / kTile) {
    if (x < tile.rows) tile.out[y * call.problem.ld_out + x] = shared[x][y];
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

// launch() is called with at least one element.
using LaunchRung = void (*)(const Call& call, device::Stream& stream);
using PredictRung = ladder::Totals (*)(const Problem& problem);

template <LaunchRung launch>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  const Problem& p = call.problem;
  if (p.rows > 0 && p.columns > 0 && p.batch > 0) launch(call, stream);
}
template <PredictRung predict>
ladder::Totals predict_call(const void* erased) {
  return predict(static_cast<const Call*>(erased)->problem);
}

inline bool in_place(const void* call) { return static_cast<const Call*>(call)->in_place(); }
inline bool out_of_place(const void* call) { return !in_place(call); }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::transpose

// Declares the rung of this file. `predict` counts for compact, aligned operands whose sizes are
// multiples of 128.
#define WARPLADDER_TRANSPOSE_RUNG(idea, accepts, launch, predict) \
  WARPLADDER_TRANSPOSE_RUNG_FOR(out_of_place, idea, accepts, launch, predict)
#define WARPLADDER_TRANSPOSE_RUNG_FOR(takes, idea, accepts, launch, predict)                   \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"transpose", __FILE__, idea, accepts, ::warpladder::device::kThisFlavour, false,        \
       &::warpladder::transpose::launch_call<launch>,                                          \
       &::warpladder::transpose::predict_call<predict>, &::warpladder::transpose::takes})
