// Bound before: four stores a tile, because a lane holds words of four different rows.
// Idea: lanes take up others' words in shared memory. A lane lays its float4 down as it came. It
// picks up four words of one row of the transposed tile, which it stores as a float4.
//
// Prediction, per tile: a load and a store of 16 sectors, and a store to shared memory of 4
// wavefronts, the least for 512 bytes. Four loads take 4 each: the lanes of a load ask for words 16
// apart, and so meet eight of the 32 banks.
// Accepts: every problem. What binds it: memory, and within a multiprocessor those bank conflicts.

#include "ops/warp/rung.hpp"

namespace warpladder::warp {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) transpose(Call call) {
  __shared__ float4 shared[kWarps][kRows];  // row l of a warp's tile as one float4
  const std::int64_t tile = tile_of_warp();
  if (tile >= call.tiles) return;
  const int lane = threadIdx.x % 32;
  float4* const rows = shared[threadIdx.x / 32];
  rows[lane] = load4<kAligned>(call.in + tile * kTileWords, lane);
  __syncwarp();  // the tile is whole before lanes take up what others have brought
  // Words 4·lane … of the transposed tile: column `column` of four rows, which are 4 words each.
  const int column = 4 * lane / kRows, row = 4 * lane % kRows;
  const float* const words = reinterpret_cast<const float*>(rows + row) + column;
  const float4 turned = make_float4(words[0], words[4], words[8], words[12]);
  store4<kAligned>(call.out + tile * kTileWords, lane, turned);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_warps(call, stream, transpose<true>, transpose<false>);
}

ladder::Totals predict(std::uint64_t tiles) {
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = tiles;
  t.global_load_sectors = t.global_store_sectors = 16 * tiles;
  t.shared_store_requests = tiles;
  t.shared_store_wavefronts = 4 * tiles;
  t.shared_load_requests = 4 * tiles;
  t.shared_load_wavefronts = 4 * 4 * tiles;
  return t;
}

}  // namespace

WARPLADDER_RUNG(02_shared) = {.idea = "words change lanes in shared memory, as they come",
                              .accepts = "every problem; float4 where alignment allows",
                              .launch = launch_call<launch>,
                              .predict = predict_call<predict>};

}  // namespace warpladder::warp
