// Wide accesses, and copies that come later.

#include "kernels/kernel.hpp"
#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/load.hpp"

namespace warpladder::kernel_tests {
namespace {

template <class Vector>
__global__ void copy(const Vector* in, Vector* out, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    out[i] = in[i];
  }
}
// Through shared memory and back to front.
template <class Vector>
__global__ void reverse(const Vector* in, Vector* out, int count) {
  __shared__ Vector tile[128];
  const int t = static_cast<int>(threadIdx.x);
  if (t < count) tile[t] = in[t];
  __syncthreads();  // the tile is whole
  if (t < count) out[t] = tile[count - 1 - t];
}
#define VECTOR(Type)                  \
  WARPLADDER_TEST_KERNEL(copy<Type>); \
  WARPLADDER_TEST_KERNEL(reverse<Type>)
VECTOR(float2);
VECTOR(float4);
VECTOR(double2);
VECTOR(int2);
VECTOR(int4);
VECTOR(uint2);
VECTOR(uint4);

// Made, taken apart and changed in registers.
__global__ void turn_components(const float4* in, float4* out) {
  float4 v = in[threadIdx.x];
  const float first = v.x;
  v.x = v.y;
  v.y = v.z;
  v.z = v.w;
  v.w = first;
  out[threadIdx.x] = make_float4(v.x + 1.0f, v.y, v.z, -v.w);
}
WARPLADDER_TEST_KERNEL(turn_components);

// Back to front, with a hint for the caches.
__global__ void reverse_hinted(const float4* in, float4* out, int count) {
  const int t = static_cast<int>(threadIdx.x);
  if (t < count) out[t] = ptx::load_256(&in[count - 1 - t]);
}
WARPLADDER_TEST_KERNEL(reverse_hinted);

// Tiles of one element a thread pass through two buffers: the next is on its way while one is read.
template <class Element, int groups_left>
__device__ __forceinline__ void pipeline_of(const Element* in, Element* out, int tiles) {
  __shared__ Element buffer[2][128];
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  ptx::cp_async<sizeof(Element)>(&buffer[0][t], in + t);
  ptx::cp_async_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      ptx::cp_async<sizeof(Element)>(&buffer[(tile + 1) % 2][t], in + (tile + 1) * size + t);
    }
    ptx::cp_async_commit();  // empty at the end, so that the wait below always means the same
    ptx::cp_async_wait<groups_left>();
    __syncthreads();  // everyone's part of this tile has arrived
    out[tile * size + t] = buffer[tile % 2][size - 1 - t];  // FAULT: too lax a wait
    __syncthreads();  // and is read before the next round overwrites it
  }
}
template <class Element>
__global__ void pipeline(const Element* in, Element* out, int tiles) {
  pipeline_of<Element, 1>(in, out, tiles);
}
WARPLADDER_TEST_KERNEL(pipeline<float>);
WARPLADDER_TEST_KERNEL(pipeline<float2>);
WARPLADDER_TEST_KERNEL(pipeline<float4>);

#if !defined(__CUDACC__)
__global__ void hasty_pipeline(const float* in, float* out, int tiles) {
  pipeline_of<float, 2>(in, out, tiles);
}
WARPLADDER_TEST_KERNEL(hasty_pipeline);
#endif

// Of the elements the first `words` words are there. The copy of an element that ends behind them
// fills with zeros, as one does that has no source bytes.
__global__ void copy_with_zeros(const float4* in, float4* out, int words) {
  __shared__ float4 tile[128];
  const int t = static_cast<int>(threadIdx.x), left = words - 4 * t;
  ptx::cp_async<16>(&tile[t], left > 0 ? in + t : in, left >= 4 ? 16 : left > 0 ? 4 * left : 0);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  out[t] = tile[t];  // its own copy: no barrier needed
}
WARPLADDER_TEST_KERNEL(copy_with_zeros);

}  // namespace
}  // namespace warpladder::kernel_tests
