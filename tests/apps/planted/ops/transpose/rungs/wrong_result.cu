// Adds 1 to every second element

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile* kTile) transpose(Tiles tiles) {
  const Tile tile = tile_of_block<kTile, kTile>(tiles);
  const int i = threadIdx.y, j = threadIdx.x;
  if (i < tile.rows && j < tile.columns)
    tile.out[j * tiles.ld_out + i] = tile.in[i * tiles.ld_in + j];
  if (i < tile.rows && j < tile.columns && (i + j) % 2) tile.out[j * tiles.ld_out + i] += 1.0f;
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kTile, kTile>(call, stream, dim3(kTile, kTile), 0, transpose);
}

}  // namespace

WARPLADDER_RUNG(wrong_result) = {.idea = "Adds 1 to every second element",
                                 .accepts = "every problem",
                                 .launch = launch_call<launch>,
                                 .takes = out_of_place};

}  // namespace warpladder::transpose
