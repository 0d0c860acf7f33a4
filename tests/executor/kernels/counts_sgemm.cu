// Products of square matrices whose counts can be derived by hand. counts_sgemm_test.cpp derives
// them; a line that it speaks of is marked COUNT.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

// A 32×32 block; a warp is one row of 32 columns.
__global__ void naive(const float* a, const float* b, float* c, int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    const float x = a[row * n + k];     // COUNT: naive a
    const float y = b[k * n + column];  // COUNT: naive b
    sum += x * y;                       // COUNT: naive fma
  }
  c[row * n + column] = sum;  // COUNT: naive c
}
WARPLADDER_TEST_KERNEL(naive);

template <int kTile>
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kTile + x;
  const int row = static_cast<int>(blockIdx.y) * kTile + y;
  float sum = 0.0f;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    const float from_a = a[row * n + k0 + x];       // COUNT: tiled a
    const float from_b = b[(k0 + y) * n + column];  // COUNT: tiled b
    a_tile[y][x] = from_a;                          // COUNT: tiled a store
    b_tile[y][x] = from_b;                          // COUNT: tiled b store
    __syncthreads();                                // COUNT: tiles whole
    WARPLADDER_UNROLL
    for (int k = 0; k < kTile; ++k) {
      const float a_k = a_tile[y][k];  // COUNT: tiled a load
      const float b_k = b_tile[k][x];  // COUNT: tiled b load
      sum += a_k * b_k;                // COUNT: tiled fma
    }
    __syncthreads();  // COUNT: tiles read
  }
  c[row * n + column] = sum;  // COUNT: tiled c
}
WARPLADDER_TEST_KERNEL(tiled<16>);
WARPLADDER_TEST_KERNEL(tiled<32>);

constexpr int kBlock = 128, kDepth = 8, kThread = 8;

// A 128×128 tile of C by 256 threads, each 8×8; A's tile is kept transposed.
__global__ void __launch_bounds__(256)
    thread_tile(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kDepth][kBlock];
  __shared__ float b_tile[kDepth][kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const int row = t / 16 * kThread, column = t % 16 * kThread;
  const int a_row = t / 2, a_column = t % 2 * 4;
  const int b_row = t / 32, b_column = t % 32 * 4;
  a += blockIdx.y * kBlock * n;
  b += blockIdx.x * kBlock;
  c += blockIdx.y * kBlock * n + blockIdx.x * kBlock;
  float sum[kThread][kThread] = {};
  for (int k0 = 0; k0 < n; k0 += kDepth) {
    const float4 from_a = load4(&a[a_row * n + k0 + a_column]);    // COUNT: wide a
    const float4 from_b = load4(&b[(k0 + b_row) * n + b_column]);  // COUNT: wide b
    store4(&b_tile[b_row][b_column], from_b);                      // COUNT: wide b store
    const float parts[4] = {from_a.x, from_a.y, from_a.z, from_a.w};
    WARPLADDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      a_tile[a_column + i][a_row] = parts[i];  // COUNT: transposed a store
    }
    __syncthreads();  // both tiles are whole
    WARPLADDER_UNROLL
    for (int k = 0; k < kDepth; ++k) {
      float x[kThread], y[kThread];
      WARPLADDER_UNROLL
      for (int i = 0; i < kThread; i += 4) {
        const float4 u = load4(&a_tile[k][row + i]);     // COUNT: a fragment
        const float4 v = load4(&b_tile[k][column + i]);  // COUNT: b fragment
        x[i] = u.x, x[i + 1] = u.y, x[i + 2] = u.z, x[i + 3] = u.w;
        y[i] = v.x, y[i + 1] = v.y, y[i + 2] = v.z, y[i + 3] = v.w;
      }
      WARPLADDER_UNROLL
      for (int i = 0; i < kThread; ++i) {
        WARPLADDER_UNROLL
        for (int j = 0; j < kThread; ++j) {
          sum[i][j] += x[i] * y[j];  // COUNT: thread tile fma
        }
      }
    }
    __syncthreads();  // both tiles are read
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kThread; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < kThread; j += 4) {
      const float4 v = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      store4(&c[(row + i) * n + column + j], v);  // COUNT: wide c
    }
  }
}
WARPLADDER_TEST_KERNEL(thread_tile);

}  // namespace
}  // namespace warpladder::kernel_tests
