// Reads far past the input, and does not use it

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile) transpose(Tiles tiles) {
  const Tile tile = tile_of_block<kTile, kTile>(tiles);
  const int i = threadIdx.y, j = threadIdx.x;
  if (i < tile.rows && j < tile.columns) {
    tile.out[j * tiles.ld_out + i] = tile.in[i * tiles.ld_in + j];
    if (tile.in[(1 << 16) + j] == 1.5f) tile.out[j * tiles.ld_out + i] += 0.0f;
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kTile, kTile>(call, stream, dim3(kTile, kTile), 0, transpose);
}

}  // namespace

WARPLADDER_RUNG(past_the_end) = {.idea = "Reads far past the input, and does not use it",
                                 .accepts = "every problem",
                                 .launch = launch_call<launch>,
                                 .takes = out_of_place};

}  // namespace warpladder::transpose
