// Idea: one thread per element. A warp reads 32 neighbours of a row, and writes them down a column.
//
// Prediction, per warp: a load of 4 sectors, every byte of them used. And a store of 32 sectors, of
// each of which it uses 4 bytes.
// Accepts: every problem. What binds it: the stores, eight times the sectors that their bytes need.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

struct Config {
  int rows = 8, columns = 32;
};
constexpr Config kConfig;

__global__ void __launch_bounds__(kConfig.rows* kConfig.columns) transpose(Tiles tiles) {
  const Tile tile = tile_of_block<kConfig.rows, kConfig.columns>(tiles);
  const int i = threadIdx.y, j = threadIdx.x;
  if (i >= tile.rows || j >= tile.columns) return;
  tile.out[j * tiles.ld_out + i] = tile.in[i * tiles.ld_in + j];
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kConfig.rows, kConfig.columns>(call, stream, dim3(kConfig.columns, kConfig.rows), 0,
                                              transpose);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t warps = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = warps;
  t.global_load_sectors = 4 * warps;
  t.global_store_sectors = 32 * warps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_naive) = {.idea = "one thread per element: rows are read, columns are written",
                             .accepts = "every problem",
                             .launch = launch_call<launch>,
                             .predict = predict_call<predict>,
                             .takes = out_of_place};

}  // namespace warpladder::transpose
