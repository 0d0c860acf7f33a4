#pragma once
// One value of many by a function of two that is associative and commutative. Also compiled at run
// time, with a function that somebody wrote.

#include <cstdint>

#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kFoldThreads = 256, kFoldInFlight = 4;

// Block b leaves its part in out[b]; a second launch of one block makes one value of these. The
// order depends on n and the grid alone. `identity` joins with anything and changes nothing; Join
// is a type whose objects join two floats.
template <class Join>
static __global__ void __launch_bounds__(kFoldThreads)
    fold(const float* in, std::int64_t n, float identity, float* out) {
  constexpr int kWarps = kFoldThreads / 32;
  __shared__ float of_warp[kWarps];
  const Join join{};
  const std::int64_t leap = std::int64_t{gridDim.x} * kFoldThreads;
  std::int64_t at = std::int64_t{blockIdx.x} * kFoldThreads + threadIdx.x;
  float part[kFoldInFlight];
  WARPLADDER_UNROLL
  for (int u = 0; u < kFoldInFlight; ++u) part[u] = identity;
  for (; at + (kFoldInFlight - 1) * leap < n; at += kFoldInFlight * leap) {
    WARPLADDER_UNROLL
    for (int u = 0; u < kFoldInFlight; ++u) part[u] = join(part[u], in[at + u * leap]);
  }
  for (; at < n; at += leap) part[0] = join(part[0], in[at]);
  float all = join(join(part[0], part[1]), join(part[2], part[3]));
  const auto functor = [&](float a, float b) { return join(a, b); };
  all = warp::reduce(all, functor);
  const int lane = threadIdx.x % 32;
  if (lane == 0) of_warp[threadIdx.x / 32] = all;
  __syncthreads();  // all warps' parts are there
  if (threadIdx.x >= 32) return;
  all = warp::reduce(lane < kWarps ? of_warp[lane] : identity, functor);
  if (lane == 0) out[blockIdx.x] = all;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
