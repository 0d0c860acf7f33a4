// Bound before (03): 32 wavefronts to read a column of the tile; 04 spends a column of padding on
// it. Idea: put word x of row y where x ^ y would be. A row's words change places among themselves,
// and a column's fall on 32 different banks. No padding, so that rows keep their alignment: what
// vector accesses will need.
//
// Prediction: 04's counts to the letter, with 4 KiB of shared memory instead of 4.1.
// Accepts: every problem. What binds it: requests of 128 bytes, as in 04.

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
  __shared__ float shared[kConfig.tile][kConfig.tile];  // word x of row y lies at x ^ y
  const Tile tile = tile_of_block<kConfig.tile, kConfig.tile>(tiles);
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < kConfig.tile; y += kConfig.rows_at_once) {
    if (y < tile.rows && x < tile.columns) {
      shared[y][x ^ y] = tile.in[y * tiles.ld_in + x];
    }
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  for (int y = threadIdx.y; y < kConfig.tile; y += kConfig.rows_at_once) {
    if (y < tile.columns && x < tile.rows) {
      tile.out[y * tiles.ld_out + x] = shared[x][y ^ x];
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
  t.shared_load_wavefronts = accesses;
  t.barriers = accesses / 4;
  return t;
}

}  // namespace

WARPLADDER_RUNG(05_swizzled) = {
    .idea = "words change places within their row: no conflicts, no padding",
    .accepts = "every problem",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>,
    .takes = out_of_place};

}  // namespace warpladder::transpose
