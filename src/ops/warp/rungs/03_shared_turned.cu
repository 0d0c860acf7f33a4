// Bound before: four wavefronts for each of the four loads that gather a row's words.
// Idea: turn the tile on its way into shared memory. A lane stores its four words where they belong
// in the transposed tile: neighbouring lanes side by side, on 32 different banks. What comes out is
// a float4 from where it lies.
//
// Prediction, per tile: a load and a store of 16 sectors. In shared memory four stores of 1
// wavefront each, and a load of 4, the least for 512 bytes: 8 wavefronts where 02 takes 20.
// Accepts: every problem. What binds it: memory; five requests to shared memory a tile.

#include "ops/warp/rung.hpp"

namespace warpladder::warp {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) transpose(Call call) {
  __shared__ float4 shared[kWarps][kTileWords / 4];  // a warp's transposed tile
  const std::int64_t tile = tile_of_warp();
  if (tile >= call.tiles) return;
  const int lane = threadIdx.x % 32;
  float4* const turned = shared[threadIdx.x / 32];
  const float4 row = load4<kAligned>(call.in + tile * kTileWords, lane);
  float* const words = reinterpret_cast<float*>(turned) + lane;
  words[0 * kRows] = row.x;
  words[1 * kRows] = row.y;
  words[2 * kRows] = row.z;
  words[3 * kRows] = row.w;
  __syncwarp();  // the tile is whole before lanes take up what others have brought
  store4<kAligned>(call.out + tile * kTileWords, lane, turned[lane]);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_warps(call, stream, transpose<true>, transpose<false>);
}

ladder::Totals predict(std::uint64_t tiles) {
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = tiles;
  t.global_load_sectors = t.global_store_sectors = 16 * tiles;
  t.shared_store_requests = t.shared_store_wavefronts = 4 * tiles;
  t.shared_load_requests = tiles;
  t.shared_load_wavefronts = 4 * tiles;
  return t;
}

}  // namespace

WARPLADDER_RUNG(03_shared_turned) = {
    .idea = "words go into shared memory where they belong: no bank conflicts",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_call<launch>,
    .predict = predict_call<predict>};

}  // namespace warpladder::warp
