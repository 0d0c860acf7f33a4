// Bound before: stores of 32 sectors for 128 bytes.
// Idea, and why it fails: bring a 32×32 tile to shared memory first. But each thread then writes
// the element that it has read, so that a warp's stores still run down a column. Shared memory is
// of no use by itself: what helps is that threads can take up others' elements there.
//
// Prediction, per warp: 01_naive's load and store, and on top of them a store and a load of one
// wavefront and a barrier. Slower than 01_naive.
// Accepts: every problem. What binds it: the stores, as before.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

struct Config {
  int tile = 32;
};
constexpr Config kConfig;

__global__ void __launch_bounds__(kConfig.tile* kConfig.tile) transpose(Tiles tiles) {
  __shared__ float shared[kConfig.tile][kConfig.tile];
  const Tile tile = tile_of_block<kConfig.tile, kConfig.tile>(tiles);
  const int i = threadIdx.y, j = threadIdx.x;
  const bool there = i < tile.rows && j < tile.columns;
  if (there) shared[i][j] = tile.in[i * tiles.ld_in + j];
  __syncthreads();  // the tile is whole; nobody needs it to be
  if (there) tile.out[j * tiles.ld_out + i] = shared[i][j];
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kConfig.tile, kConfig.tile>(call, stream, dim3(kConfig.tile, kConfig.tile), 0,
                                           transpose);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = warps;
  t.global_load_sectors = 4 * warps;
  t.global_store_sectors = 32 * warps;
  t.shared_store_requests = t.shared_store_wavefronts = warps;
  t.shared_load_requests = t.shared_load_wavefronts = warps;
  t.barriers = warps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(02_tile_uncoalesced) = {
    .idea = "a tile in shared memory, written as it was read: no use by itself",
    .accepts = "every problem",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>,
    .takes = out_of_place};

}  // namespace warpladder::transpose
