// Bound before: a matrix of few columns, or few rows, fills tiles of 128×64 badly, and the ends of
// its many short rows are cut.
// Idea: such a matrix has one side that is short, and on that side 64 lines of the tile are one
// piece of memory, which no row's end cuts. Move that piece as it lies, 16 bytes a lane and by
// asynchronous copies where it is the input; on the other side eight lanes take 128 bytes of a row,
// and a warp four rows. Shared memory holds the piece as it is: an odd number of short lines meets
// all banks, an even one does not.
//
// Prediction, for n columns (n rows: the same, exchanged) and 64 rows: ceil(n/2) loads, 8·n
// sectors; as many sectors stored in 2·ceil(n/4) requests; four loads of a word from shared memory
// for each of those, of 1 wavefront where n is odd. Accepts: every problem. Up to 64 columns (rows)
// without gaps take this road, others 04's. What binds it: memory.

#include "ops/transpose/rung.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kThin = 64, kLines = 64, kThreads = 128, kTile = 32;

// What a block of either road moves: `lines` short lines of `thin` words, which are one piece in
// memory, and the same words with `ld` between the long lines.
struct Piece {
  std::int64_t matrix, first;
  int lines;
};
__device__ __forceinline__ Piece piece_of_block(std::int64_t length) {
  const auto pieces = static_cast<unsigned>((length + kLines - 1) / kLines);
  const std::int64_t first = std::int64_t{blockIdx.x % pieces} * kLines, left = length - first;
  return {blockIdx.x / pieces, first, left < kLines ? static_cast<int>(left) : kLines};
}

// visit(short line, word of it) for each float4 along the long lines: lane by lane neighbours.
template <class Visit>
__device__ __forceinline__ void for_each_vector(int thin, const Visit& visit) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int t = warp; t < kLines / 32 * ((thin + 3) / 4); t += kThreads / 32) {
    const int word = t / (kLines / 32) * 4 + lane / 8;
    if (word < thin) visit(t % (kLines / 32) * 32 + lane % 8 * 4, word);
  }
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads) few_columns(Call call) {
  float* piece = device::dynamic_shared<float>();
  const Problem& p = call.problem;
  const auto [matrix, row0, rows] = piece_of_block(p.rows);
  const int thin = static_cast<int>(p.columns), words = rows * thin, t = threadIdx.x;
  const float* in = call.in + matrix * p.stride_in + row0 * thin;
  float* out = call.out + matrix * p.stride_out + row0;
  const int whole = kVectors ? words / 4 * 4 : 0;
  for (int i = 4 * t; i < whole; i += 4 * kThreads) ptx::cp_async<16>(&piece[i], &in[i]);
  ptx::cp_async_commit();
  for (int i = whole + t; i < words; i += kThreads) piece[i] = in[i];
  ptx::cp_async_wait<0>();
  __syncthreads();  // the piece is whole before threads take up what others have brought
  if (kVectors && rows == kLines) {
    for_each_vector(thin, [&](int i, int j) {
      const float* at = &piece[i * thin + j];
      *reinterpret_cast<float4*>(&out[j * p.ld_out + i]) =
          make_float4(at[0], at[thin], at[2 * thin], at[3 * thin]);
    });
  } else {
    for (int j = t / kLines; j < thin; j += kThreads / kLines) {
      if (t % kLines < rows) out[j * p.ld_out + t % kLines] = piece[t % kLines * thin + j];
    }
  }
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads) few_rows(Call call) {
  float* piece = device::dynamic_shared<float>();
  const Problem& p = call.problem;
  const auto [matrix, column0, columns] = piece_of_block(p.columns);
  const int thin = static_cast<int>(p.rows), words = columns * thin, t = threadIdx.x;
  const float* in = call.in + matrix * p.stride_in + column0;
  float* out = call.out + matrix * p.stride_out + column0 * thin;
  if (kVectors && columns == kLines) {
    for_each_vector(thin, [&](int j, int i) {
      const float4 v = *reinterpret_cast<const float4*>(&in[i * p.ld_in + j]);
      float* at = &piece[j * thin + i];
      at[0] = v.x;
      at[thin] = v.y;
      at[2 * thin] = v.z;
      at[3 * thin] = v.w;
    });
  } else {
    for (int i = t / kLines; i < thin; i += kThreads / kLines) {
      if (t % kLines < columns) piece[t % kLines * thin + i] = in[i * p.ld_in + t % kLines];
    }
  }
  __syncthreads();  // the piece is whole before threads take up what others have brought
  const int whole = kVectors ? words / 4 * 4 : 0;
  for (int i = 4 * t; i < whole; i += 4 * kThreads) {
    *reinterpret_cast<float4*>(&out[i]) = *reinterpret_cast<const float4*>(&piece[i]);
  }
  for (int i = whole + t; i < words; i += kThreads) out[i] = piece[i];
}

__global__ void __launch_bounds__(kTile * 8) any_shape(Tiles tiles) {
  transpose_words<kTile, kTile * 8>(tiles);
}

void launch(const Call& call, device::Stream& stream) {
  const Problem& p = call.problem;
  const bool columns = p.columns <= kThin && p.ld_in == p.columns;
  if (!columns && !(p.rows <= kThin && p.ld_out == p.rows)) {
    return launch_tiles<kTile, kTile>(call, stream, dim3(kTile * 8), 0, any_shape);
  }
  const auto address =
      reinterpret_cast<std::uintptr_t>(call.in) | reinterpret_cast<std::uintptr_t>(call.out);
  const std::int64_t steps = p.stride_in | p.stride_out | (columns ? p.ld_out : p.ld_in);
  const bool vectors = address % 16 == 0 && steps % 4 == 0;
  const std::int64_t pieces = ((columns ? p.rows : p.columns) + kLines - 1) / kLines;
  const device::LaunchShape shape{
      dim3(static_cast<unsigned>(pieces * p.batch)), dim3(kThreads),
      static_cast<std::size_t>(kLines * (columns ? p.columns : p.rows)) * sizeof(float)};
  const auto kernel = columns ? (vectors ? few_columns<true> : few_columns<false>)
                              : (vectors ? few_rows<true> : few_rows<false>);
  device::launch(stream, shape, kernel, call);
}

// For thin matrices: an odd number of columns (rows), and a multiple of 64 of the others.
ladder::Totals predict(const Problem& p) {
  const bool columns = p.columns <= kThin;
  if (!columns && p.rows > kThin) return predict_words(p);
  ladder::Totals t;
  const std::uint64_t n = columns ? p.columns : p.rows, pieces = p.rows * p.columns / n / kLines;
  const std::uint64_t along = pieces * ((n + 1) / 2), across = pieces * 2 * ((n + 3) / 4);
  t.global_load_requests = columns ? along : across;
  t.global_store_requests = columns ? across : along;
  t.global_load_sectors = t.global_store_sectors = 8 * n * pieces;
  t.shared_store_requests = columns ? along : 4 * across;
  t.shared_store_wavefronts = columns ? 2 * n * pieces : 4 * across;
  t.shared_load_requests = columns ? 4 * across : along;
  t.shared_load_wavefronts = columns ? 4 * across : 2 * n * pieces;
  t.barriers = pieces * (kThreads / 32);
  return t;
}

WARPLADDER_TRANSPOSE_RUNG("few columns or rows: the short side is one piece of memory",
                          "every problem; its own road for up to 64 columns or rows", launch,
                          predict);

}  // namespace
}  // namespace warpladder::transpose
