// Bound before: the rungs so far need a second matrix to write to.
// Idea: a tile and its mirror image across the diagonal change places. A block brings both into
// shared memory, and only then writes either; the tiles on the diagonal are their own images. Tiles
// above the diagonal are numbered without a root. Turn the lower half of a triangle of T columns,
// and put it beside the upper. The result is a rectangle of T + 1 (T even) or T (T odd) columns.
//
// Prediction, of n×n: as 04_padded, n²/32 loads and stores of 4 sectors, a wavefront for each; a
// block moves two tiles with one barrier. Accepts: square matrices in place. What binds it: memory.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kTile = 32, kThreads = 256, kRowsAtOnce = kThreads / kTile;

struct Tiles {
  std::int64_t up, down;  // up ≤ down: the tile (up, down) and its image (down, up)
};
__device__ __forceinline__ Tiles tiles_of_block(unsigned tiles) {
  const int odd = static_cast<int>(tiles % 2), t = static_cast<int>(tiles);
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y);
  return x + odd > y ? Tiles{y, x + odd - 1} : Tiles{t - 1 - y + odd, t - 1 - x};
}

__global__ void __launch_bounds__(kThreads) transpose(Call call) {
  __shared__ float upper[kTile][kTile + 1], lower[kTile][kTile + 1];
  const Problem& p = call.problem;
  const auto [up, down] = tiles_of_block(static_cast<unsigned>((p.rows + kTile - 1) / kTile));
  const int x = threadIdx.x % kTile, first = threadIdx.x / kTile;
  const std::int64_t i0 = up * kTile, j0 = down * kTile;
  const std::int64_t tall = p.rows - i0, wide = p.rows - j0;  // what the edge leaves of the tiles
  const bool pair = up != down;
  float* matrix = call.out + blockIdx.z * p.stride_in;
  WARPLADDER_UNROLL
  for (int y = first; y < kTile; y += kRowsAtOnce) {
    if (y < tall && x < wide) upper[y][x] = matrix[(i0 + y) * p.ld_in + j0 + x];
    if (pair && y < wide && x < tall) lower[y][x] = matrix[(j0 + y) * p.ld_in + i0 + x];
  }
  __syncthreads();  // both tiles are in shared memory before either is written over
  WARPLADDER_UNROLL
  for (int y = first; y < kTile; y += kRowsAtOnce) {
    if (y < wide && x < tall) matrix[(j0 + y) * p.ld_in + i0 + x] = upper[x][y];
    if (pair && y < tall && x < wide) matrix[(i0 + y) * p.ld_in + j0 + x] = lower[x][y];
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const auto tiles = static_cast<unsigned>((p.rows + kTile - 1) / kTile);
  constexpr std::int64_t kMostAtOnce = 65535;  // of a grid's third dimension
  for (std::int64_t done = 0; done < p.batch; done += kMostAtOnce) {
    const std::int64_t left = p.batch - done;
    Call some = call;
    some.out += done * p.stride_in;
    const dim3 grid(tiles + 1 - tiles % 2, (tiles + 1) / 2,
                    static_cast<unsigned>(left < kMostAtOnce ? left : kMostAtOnce));
    runtime::launch(stream, {grid, dim3(kThreads)}, transpose, some);
  }
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = predict_words(p);
  const std::uint64_t tiles = p.rows / kTile;
  t.barriers = p.batch * tiles * (tiles + 1) / 2 * (kThreads / 32);
  return t;
}

}  // namespace

WARPLADDER_RUNG(10_in_place) = {.idea = "a tile and its image change places",
                                .accepts = "square matrices in place",
                                .launch = launch_call<launch>,
                                .predict = predict_call<predict>,
                                .takes = in_place};

}  // namespace warpladder::transpose
