#pragma once
// The only project header that a warp rung includes, parts/ apart.

#include "device/kernel.hpp"
#include "ladder/rung.hpp"
#include "ops/warp/problem.hpp"

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
inline void launch_warps(const Call& call, device::Stream& stream, void (*aligned)(Call),
                         void (*others)(Call)) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(call.in) | reinterpret_cast<std::uintptr_t>(call.out);
  const auto blocks = static_cast<unsigned>((call.tiles + kWarps - 1) / kWarps);
  device::launch(stream, {dim3(blocks), dim3(kThreads)}, addresses % 16 == 0 ? aligned : others,
                 call);
}

// launch() is called with at least one tile.
using LaunchRung = void (*)(const Call& call, device::Stream& stream);
using PredictRung = ladder::Totals (*)(std::uint64_t tiles);

template <LaunchRung launch>
void launch_call(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  if (call.tiles > 0) launch(call, stream);
}
template <PredictRung predict>
ladder::Totals predict_call(const void* erased) {
  return predict(static_cast<std::uint64_t>(static_cast<const Call*>(erased)->tiles));
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::warp

// Declares the rung of this file. `predict` counts for operands on 16 bytes.
#define WARPLADDER_WARP_RUNG(idea, launch, predict)                                            \
  [[maybe_unused]] static const bool warpladder_rung_declared = ::warpladder::ladder::declare( \
      {"warp", __FILE__, idea, "every problem; float4 where alignment allows",                 \
       ::warpladder::device::kThisFlavour, false, &::warpladder::warp::launch_call<launch>,    \
       &::warpladder::warp::predict_call<predict>})
