// Bound before: 50000x777 and 777x50000. No row of 777 begins on 16 bytes, and tiles of 128 leave a
// seventh of the last ones' width empty. Rows are read, or written, in pieces of sectors.
// Idea: a band of 32 whole lines of the short side is one contiguous piece of memory, as in
// 08_thin. Lines of up to 880 elements fit in half a multiprocessor's shared memory. The piece is
// moved in float4. On the other side each line of the band is 128 bytes, whole sectors where the
// long lines begin on them. An odd number of short lines avoids bank conflicts.
// Prediction, for n columns and 32 rows: n/4 loads, 4·n sectors; as many sectors stored in n
// requests. And n loads from shared memory, which for multiples of 32 columns meet one bank.
// Accepts: every problem; out of place; up to 880 columns (rows) without gaps take this road, as
// far as shared memory reaches, others 04's. Predicted: 90 % of a copy for both shapes on an H100.
// Measured there: 91 % at 50000x777, where 09_whole_sectors reaches 85, and 82 % at 777x50000.
// What binds it: memory.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kMost = 880, kLines = 32, kThreads = 512, kWarps = kThreads / 32, kTile = 32;
// Of vectors and of words that a thread has under way.
constexpr int kVectorsInFlight = 4, kWordsInFlight = 8;

// Moves a piece as it lies, in float4 where both sides are aligned. A turn's loads are all issued
// before its stores.
template <bool kVectors>
__device__ __forceinline__ void move_piece(float* to, const float* from, int words) {
  const int t = threadIdx.x;
  int first = 0;
  if constexpr (kVectors) {
    const auto* source = reinterpret_cast<const float4*>(from);
    auto* target = reinterpret_cast<float4*>(to);
    const int count = words / 4;
    for (int base = t; base < count; base += kThreads * kVectorsInFlight) {
      float4 held[kVectorsInFlight] = {};
      WARPLADDER_UNROLL
      for (int u = 0; u < kVectorsInFlight; ++u) {
        if (base + u * kThreads < count) held[u] = source[base + u * kThreads];
      }
      WARPLADDER_UNROLL
      for (int u = 0; u < kVectorsInFlight; ++u) {
        if (const int at = base + u * kThreads; at < count) target[at] = held[u];
      }
    }
    first = 4 * count;
  }
  for (int i = first + t; i < words; i += kThreads) to[i] = from[i];
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads, 2) few_columns(Tiles tiles) {
  float* piece = runtime::dynamic_shared<float>();
  const Tile tile = tile_of_block<kLines, kMost>(tiles);
  const int lane = threadIdx.x % 32;
  move_piece<kVectors>(piece, tile.in, tile.rows * tile.columns);
  __syncthreads();  // the piece is whole before threads take up what others have brought
  if (lane >= tile.rows) return;
  for (int j = threadIdx.x / 32; j < tile.columns; j += kWarps) {
    tile.out[j * tiles.ld_out + lane] = piece[lane * tile.columns + j];
  }
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads, 2) few_rows(Tiles tiles) {
  float* piece = runtime::dynamic_shared<float>();
  const Tile tile = tile_of_block<kMost, kLines>(tiles);
  const int lane = threadIdx.x % 32, rows = lane < tile.columns ? tile.rows : 0;
  for (int base = threadIdx.x / 32; base < rows; base += kWarps * kWordsInFlight) {
    float held[kWordsInFlight] = {};
    WARPLADDER_UNROLL
    for (int u = 0; u < kWordsInFlight; ++u) {
      if (const int i = base + u * kWarps; i < rows) held[u] = tile.in[i * tiles.ld_in + lane];
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kWordsInFlight; ++u) {
      if (const int i = base + u * kWarps; i < rows) piece[lane * tile.rows + i] = held[u];
    }
  }
  __syncthreads();  // the piece is whole before threads take up what others have brought
  move_piece<kVectors>(tile.out, piece, tile.rows * tile.columns);
}

__global__ void __launch_bounds__(kTile * 8) any_shape(Tiles tiles) {
  transpose_words<kTile, kTile * 8>(tiles);
}

std::int64_t most_lines(const runtime::Machine& machine) {
  const std::int64_t room = machine.shared_bytes_per_block / (kLines * sizeof(float));
  return room < kMost ? room : kMost;
}

template <bool kVectors>
void launch_bands(const Call& call, runtime::StreamView& stream, bool columns) {
  const Problem& p = call.problem;
  const std::size_t bytes = sizeof(float) * kLines * (columns ? p.columns : p.rows);
  columns ? launch_tiles<kLines, kMost>(call, stream, dim3(kThreads), bytes, few_columns<kVectors>)
          : launch_tiles<kMost, kLines>(call, stream, dim3(kThreads), bytes, few_rows<kVectors>);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const std::int64_t most = most_lines(*stream.machine);
  const bool columns = p.columns <= most && p.ld_in == p.columns;
  if (!columns && !(p.rows <= most && p.ld_out == p.rows)) {
    return launch_tiles<kTile, kTile>(call, stream, dim3(kTile * 8), 0, any_shape);
  }
  // A band begins on 16 bytes where its matrix does.
  const std::int64_t stride = p.batch > 1 ? (columns ? p.stride_in : p.stride_out) : 0;
  const auto address = reinterpret_cast<std::uintptr_t>(columns ? call.in : call.out);
  const bool vectors = address % 16 == 0 && stride % 4 == 0;
  (vectors ? launch_bands<true> : launch_bands<false>)(call, stream, columns);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  if (p.columns > most_lines(machine)) return predict_words(p);
  const std::uint64_t accesses = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.shared_store_requests = accesses / 4;
  t.global_load_sectors = t.global_store_sectors = 4 * accesses;
  t.shared_store_wavefronts = t.global_store_requests = t.shared_load_requests = accesses;
  t.shared_load_wavefronts = 32 * accesses;
  t.barriers = p.rows / kLines * kWarps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(11_bands) = {.idea = "bands of 32 whole short lines are one piece of memory",
                             .accepts = "every problem; its own road for up to 880 columns or rows",
                             .launch = launch_call<launch>,
                             .predict = predict_call<predict>,
                             .takes = out_of_place};

}  // namespace warpladder::transpose
