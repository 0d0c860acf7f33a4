// Bound before: stores that run down a column.
// Idea: threads take up others' elements. A warp reads a row of the tile from global memory. It
// writes a row of the transposed tile, which it reads as a column from shared memory. 32×8 threads,
// four elements each, so that four loads of a thread are under way at once.
//
// Prediction, per warp and row of the tile: a load and a store of 4 sectors, all of each used. In
// shared memory a store of 1 wavefront, and a load of 32, for a column's words all lie on one bank.
// Accepts: every problem. What binds it: those bank conflicts.

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
  __shared__ float shared[kConfig.tile][kConfig.tile];
  const Tile tile = tile_of_block<kConfig.tile, kConfig.tile>(tiles);
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < kConfig.tile; y += kConfig.rows_at_once) {
    if (y < tile.rows && x < tile.columns) {
      shared[y][x] = tile.in[y * tiles.ld_in + x];
    }
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
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

ladder::Totals predict(const Problem& p) {
  const std::uint64_t accesses = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = accesses;
  t.global_load_sectors = t.global_store_sectors = 4 * accesses;
  t.shared_store_requests = t.shared_store_wavefronts = accesses;
  t.shared_load_requests = accesses;
  t.shared_load_wavefronts = 32 * accesses;
  t.barriers = accesses / 4;
  return t;
}

}  // namespace

WARPLADDER_RUNG(03_tile_coalesced) = {
    .idea = "rows are read and rows are written, by way of shared memory",
    .accepts = "every problem",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>,
    .takes = out_of_place};

}  // namespace warpladder::transpose
