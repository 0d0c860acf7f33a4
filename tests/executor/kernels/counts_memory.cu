// Access patterns whose counts can be derived by hand (counts_memory_test.cpp).

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

__device__ __forceinline__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

template <class T>
__global__ void copy_each(const T* in, T* out) {
  const unsigned i = global_thread();
  const T v = in[i];  // COUNT: copy load
  out[i] = v;         // COUNT: copy store
}
WARPLADDER_TEST_KERNEL(copy_each<float>);
WARPLADDER_TEST_KERNEL(copy_each<float2>);
WARPLADDER_TEST_KERNEL(copy_each<float4>);
WARPLADDER_TEST_KERNEL(copy_each<double>);
WARPLADDER_TEST_KERNEL(copy_each<long long>);
WARPLADDER_TEST_KERNEL(copy_each<short>);
WARPLADDER_TEST_KERNEL(copy_each<signed char>);

__global__ void copy_strided(const float* in, float* out, int stride) {
  const unsigned i = global_thread(), n = static_cast<unsigned>(stride);
  const float v = in[i * n];  // COUNT: strided load
  out[i * n] = v;             // COUNT: strided store
}
WARPLADDER_TEST_KERNEL(copy_strided);

__global__ void broadcast(const float* in, float* out) {
  const float v = in[blockIdx.x];  // COUNT: broadcast load
  out[global_thread()] = v;
}
WARPLADDER_TEST_KERNEL(broadcast);

// Lanes in the order of `order`: the same sectors, asked for in another order.
__global__ void gather(const int* order, const float* in, float* out) {
  const unsigned i = global_thread();
  const int at = order[i];
  out[i] = in[at];  // COUNT: gather load
}
WARPLADDER_TEST_KERNEL(gather);

// Word `step * lane` of shared memory, written and read; the space between stays unwritten.
template <class T>
__global__ void shared_strided(T* out, int step) {
  T* tile = runtime::dynamic_shared<T>();
  const unsigned t = threadIdx.x, at = t * static_cast<unsigned>(step);
  tile[at] = static_cast<T>(t);  // COUNT: shared strided store
  __syncthreads();               // or the compiler would not load what it has just stored
  const T v = tile[at];          // COUNT: shared strided load
  out[t] = v;
}
WARPLADDER_TEST_KERNEL(shared_strided<float>);
WARPLADDER_TEST_KERNEL(shared_strided<double>);
WARPLADDER_TEST_KERNEL(shared_strided<short>);
WARPLADDER_TEST_KERNEL(shared_strided<signed char>);

__global__ void shared_broadcast(float* out, int distinct) {
  __shared__ float tile[32 * 32];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 32 * 32; i += 32) tile[i] = static_cast<float>(i);
  __syncthreads();                                                 // the tile is whole
  const float v = tile[t % static_cast<unsigned>(distinct) * 32];  // COUNT: shared broadcast
  out[t] = v;
}
WARPLADDER_TEST_KERNEL(shared_broadcast);

// 32×32 tiles by 32×8 threads.
__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  for (int j = 0; j < 32; j += 8) {
    const float v = in[(y + j) * n + x];  // COUNT: naive read
    out[x * n + y + j] = v;               // COUNT: naive write
  }
}
WARPLADDER_TEST_KERNEL(transpose_naive);

template <int kPadding>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPadding];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * 32, y = static_cast<int>(blockIdx.y) * 32;
  for (int j = ty; j < 32; j += 8) {
    const float v = in[(y + j) * n + x + tx];  // COUNT: tile read
    tile[j][tx] = v;                           // COUNT: tile row
  }
  __syncthreads();  // COUNT: tile whole
  for (int j = ty; j < 32; j += 8) {
    const float v = tile[tx][j];    // COUNT: tile column
    out[(x + j) * n + y + tx] = v;  // COUNT: tile write
  }
}
WARPLADDER_TEST_KERNEL(transpose<0>);
WARPLADDER_TEST_KERNEL(transpose<1>);

__global__ void count_atomically(int* global, int cells) {
  __shared__ int cell[64];
  const unsigned t = threadIdx.x, at = t % static_cast<unsigned>(cells);
  if (t < 64) cell[t] = 0;
  __syncthreads();            // the cells are zero
  atomicAdd(&cell[at], 1);    // COUNT: shared atomic
  atomicAdd(&global[at], 1);  // COUNT: global atomic
}
WARPLADDER_TEST_KERNEL(count_atomically);

__global__ void swap_wide(unsigned long long* global) {
  atomicExch(&global[threadIdx.x], 1ULL);  // COUNT: wide atomic
}
WARPLADDER_TEST_KERNEL(swap_wide);

}  // namespace
}  // namespace warpladder::kernel_tests
