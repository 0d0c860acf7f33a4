// Bound before: five requests to shared memory a tile, and the memory that they need.
// Idea: exchange registers. Four neighbouring lanes hold 4×4 words, and transpose them in two steps
// of a butterfly. Lanes that differ in bit 0 swap words whose columns differ in bit 0, then the
// same with bit 1. A lane gives away half its words in a step, two shuffles. It ends with four
// words of row lane % 4 of the transposed tile. Selects choose what is given: an index that depends
// on the lane would put the words into memory.
//
// Prediction, per tile: a load and a store of 16 sectors, and 4 shuffles; no shared memory.
// Accepts: every problem. What binds it: memory.

#include "ops/warp/rung.hpp"
#include "parts/warp.hpp"

namespace warpladder::warp {
namespace {

// Between the lanes that differ in bit kBit: the upper one's `low` against the lower one's `high`.
template <int kBit>
__device__ __forceinline__ void swap_across(int lane, float& low, float& high) {
  const bool is_upper = lane & kBit;
  const float received = parts::warp::exchange(is_upper ? low : high, kBit);
  low = is_upper ? received : low;
  high = is_upper ? high : received;
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads) transpose(Call call) {
  const std::int64_t tile = tile_of_warp();
  if (tile >= call.tiles) return;
  const int lane = threadIdx.x % 32;
  float4 words = load4<kAligned>(call.in + tile * kTileWords, lane);
  swap_across<1>(lane, words.x, words.y);
  swap_across<1>(lane, words.z, words.w);
  swap_across<2>(lane, words.x, words.z);
  swap_across<2>(lane, words.y, words.w);
  // Column lane % 4 of the four rows that these four lanes have loaded.
  const int column = lane % 4, row = lane / 4 * 4;
  store4<kAligned>(call.out + tile * kTileWords, (column * kRows + row) / 4, words);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_warps(call, stream, transpose<true>, transpose<false>);
}

ladder::Totals predict(std::uint64_t tiles) {
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = tiles;
  t.global_load_sectors = t.global_store_sectors = 16 * tiles;
  t.shuffles = 4 * tiles;
  return t;
}

}  // namespace

WARPLADDER_RUNG(04_xor_shuffle) = {.idea = "4x4 words transposed among four lanes by shuffles",
                                   .accepts = "every problem; float4 where alignment allows",
                                   .launch = launch_call<launch>,
                                   .predict = predict_call<predict>};

}  // namespace warpladder::warp
