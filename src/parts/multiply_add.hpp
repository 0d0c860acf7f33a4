#pragma once
// sum += a·x for words and for float4, by components or by one factor for all.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

__device__ __forceinline__ void add_product(float& sum, float a, float x) { sum += a * x; }
__device__ __forceinline__ void add_product(float& sum, float4 a, float4 x) {
  sum += a.x * x.x;
  sum += a.y * x.y;
  sum += a.z * x.z;
  sum += a.w * x.w;
}

__device__ __forceinline__ void add_scaled(float& sum, float a, float x) { sum += a * x; }
__device__ __forceinline__ void add_scaled(float4& sum, float4 a, float x) {
  sum.x += a.x * x;
  sum.y += a.y * x;
  sum.z += a.z * x;
  sum.w += a.w * x;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
