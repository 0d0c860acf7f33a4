// Idea: no exchange. A lane loads its row, a float4. It stores each of the four words into another
// row of the transposed tile, where the lanes' words lie side by side.
//
// Prediction, per tile: a load of 16 sectors and four stores of 4: no sector is touched twice.
// Accepts: every problem. What binds it: memory; five requests a tile, where two could move it.

#include "ops/warp/rung.hpp"

namespace warpladder::warp {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) transpose(Call call) {
  const std::int64_t tile = tile_of_warp();
  if (tile >= call.tiles) return;
  const int lane = threadIdx.x % 32;
  const float4 row = load4<kAligned>(call.in + tile * kTileWords, lane);
  float* const out = call.out + tile * kTileWords + lane;
  out[0 * kRows] = row.x;
  out[1 * kRows] = row.y;
  out[2 * kRows] = row.z;
  out[3 * kRows] = row.w;
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_warps(call, stream, transpose<true>, transpose<false>);
}

ladder::Totals predict(std::uint64_t tiles) {
  ladder::Totals t;
  t.global_load_requests = tiles;
  t.global_load_sectors = 16 * tiles;
  t.global_store_requests = 4 * tiles;
  t.global_store_sectors = 16 * tiles;
  return t;
}

}  // namespace

WARPLADDER_RUNG(01_scalar_stores) = {.idea = "a row loaded as a float4, stored word by word",
                                     .accepts = "every problem; float4 where alignment allows",
                                     .launch = launch_call<launch>,
                                     .predict = predict_call<predict>};

}  // namespace warpladder::warp
