#pragma once
// The only project header that a warp rung includes, parts/ apart.

#include "ladder/rung.hpp"
#include "ops/warp/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::warp {
inline namespace WARPLADDER_FLAVOUR {

// A warp has a tile for itself; of the last block's warps some may have none.
constexpr int kWarps = 8, kThreads = 32 * kWarps;

__device__ __forceinline__ std::int64_t tile_of_warp() {
  return std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
}

// Words 4·at … 4·at + 3 of a tile in global memory: as a float4 where tiles begin on 16 bytes, else
// one by one. The float4 is counted from the tile's begin: nvcc 13 makes four stores of one whose
// address it has added up from words.
template <bool kAligned>
__device__ __forceinline__ float4 load4(const float* tile, int at) {
  if constexpr (kAligned) {
    return reinterpret_cast<const float4*>(tile)[at];
  } else {
    const float* const words = tile + 4 * at;
    return make_float4(words[0], words[1], words[2], words[3]);
  }
}
template <bool kAligned>
__device__ __forceinline__ void store4(float* tile, int at, float4 v) {
  if constexpr (kAligned) {
    reinterpret_cast<float4*>(tile)[at] = v;
  } else {
    float* const words = tile + 4 * at;
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
  }
}

// Launches a warp for each tile: one kernel for operands on 16 bytes, another for the rest.
inline void launch_warps(const Call& call, runtime::StreamView& stream, void (*aligned)(Call),
                         void (*others)(Call)) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(call.in) | reinterpret_cast<std::uintptr_t>(call.out);
  const auto blocks = static_cast<unsigned>((call.tiles + kWarps - 1) / kWarps);
  runtime::launch(stream, {dim3(blocks), dim3(kThreads)}, addresses % 16 == 0 ? aligned : others,
                  call);
}

// launch() is called with at least one tile. `predict` counts for operands on 16 bytes.
using LaunchRung = void (*)(const Call& call, runtime::StreamView& stream);

template <LaunchRung launch>
void launch_call(const Call& call, runtime::StreamView& stream) {
  if (call.tiles > 0) launch(call, stream);
}
template <auto predict>
ladder::Totals predict_call(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(static_cast<std::uint64_t>(call.tiles), machine);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::warp
