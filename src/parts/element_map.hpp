#pragma once
// A function of one element, applied to each element of a matrix in place. Also compiled at run
// time.

#include <cstdint>

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kMapThreads = 256;

// Rows lie in memory, `ld` apart. Blocks walk over pieces of rows; any grid will do. kVector: 4
// where rows begin at multiples of 16 bytes and columns is a multiple of 4, else 1.
template <class Function, int kVector>
static __global__ void __launch_bounds__(kMapThreads)
    map_elements(float* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  const std::int64_t pieces = columns / kVector, all = rows * pieces,
                     leap = std::int64_t{gridDim.x} * kMapThreads;
  const Function f{};
  for (std::int64_t e = std::int64_t{blockIdx.x} * kMapThreads + threadIdx.x; e < all; e += leap) {
    float* const at = data + e / pieces * ld + e % pieces * kVector;
    if constexpr (kVector == 4) {
      const float4 v = *reinterpret_cast<const float4*>(at);
      *reinterpret_cast<float4*>(at) = make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
    } else {
      *at = f(*at);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
