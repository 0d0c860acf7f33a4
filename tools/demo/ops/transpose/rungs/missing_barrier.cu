// A bug for the tour: transpose/04_padded without the barrier between the tile's stores and loads.
// On many GPUs the result is right most of the time.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

struct Config {
  int tile = 32, rows_at_once = 8;
  constexpr int threads() const { return tile * rows_at_once; }
};
constexpr bool valid(Config c) { return c.tile % c.rows_at_once == 0 && c.threads() % 32 == 0; }
constexpr Config kConfig;
static_assert(valid(kConfig));

__global__ void __launch_bounds__(kConfig.threads()) transpose(Tiles tiles) {
  __shared__ float shared[kConfig.tile][kConfig.tile + 1];  // padded: columns on 32 banks
  const Tile tile = tile_of_block<kConfig.tile, kConfig.tile>(tiles);
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < kConfig.tile; y += kConfig.rows_at_once) {
    if (y < tile.rows && x < tile.columns) {
      shared[y][x] = tile.in[y * tiles.ld_in + x];
    }
  }
  for (int y = threadIdx.y; y < kConfig.tile; y += kConfig.rows_at_once) {
    if (y < tile.columns && x < tile.rows) {
      tile.out[y * tiles.ld_out + x] = shared[x][y];
    }
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kConfig.tile, kConfig.tile>(call, stream, dim3(kConfig.tile, kConfig.rows_at_once),
                                           0, transpose);
}

}  // namespace

WARPLADDER_RUNG(missing_barrier) = {.idea = "04_padded without its barrier: wrong on purpose",
                                    .accepts = "every problem",
                                    .launch = launch_call<launch>,
                                    .takes = out_of_place};

}  // namespace warpladder::transpose
