#include "executor_speed/kernels.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::executor_speed {
namespace {

constexpr int kTile = 32;

// One thread per element; 1,024 threads meet at two barriers for every 32 multiply-adds.
__global__ void __launch_bounds__(kTile* kTile) tiled(Square s) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < s.n; k0 += kTile) {
    a_tile[y][x] = s.a[row * s.n + k0 + x];
    b_tile[y][x] = s.b[(k0 + y) * s.n + column];
    __syncthreads();  // both tiles are whole
    WARPLADDER_UNROLL
    for (int k = 0; k < kTile; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();  // and have been read
  }
  s.c[row * s.n + column] = sum;
}

constexpr int kBlock = 128, kDepth = 8, kThread = 8, kThreads = 256;

// 8×8 elements a thread: 64 multiply-adds for four float4 reads of shared memory.
__global__ void __launch_bounds__(kThreads) thread_tile(Square s) {
  __shared__ float a_tile[kDepth][kBlock];  // transposed, so that a fragment is contiguous
  __shared__ float b_tile[kDepth][kBlock];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int a_row = t / 2, a_column = t % 2 * 4, b_row = t / 32, b_column = t % 32 * 4;
  const float* a = s.a + blockIdx.y * kBlock * s.n;
  const float* b = s.b + blockIdx.x * kBlock;
  float sum[kThread][kThread] = {};
  float4 a_part[2], b_part[2];
  for (int k0 = 0; k0 < s.n; k0 += kDepth) {
    const float4 va = *reinterpret_cast<const float4*>(&a[a_row * s.n + k0 + a_column]);
    a_tile[a_column + 0][a_row] = va.x;
    a_tile[a_column + 1][a_row] = va.y;
    a_tile[a_column + 2][a_row] = va.z;
    a_tile[a_column + 3][a_row] = va.w;
    *reinterpret_cast<float4*>(&b_tile[b_row][b_column]) =
        *reinterpret_cast<const float4*>(&b[(k0 + b_row) * s.n + b_column]);
    __syncthreads();  // both tiles are whole
    WARPLADDER_UNROLL
    for (int k = 0; k < kDepth; ++k) {
      WARPLADDER_UNROLL
      for (int h = 0; h < 2; ++h) {
        a_part[h] = *reinterpret_cast<const float4*>(&a_tile[k][y * kThread + 4 * h]);
        b_part[h] = *reinterpret_cast<const float4*>(&b_tile[k][x * kThread + 4 * h]);
      }
      const float a_values[kThread] = {a_part[0].x, a_part[0].y, a_part[0].z, a_part[0].w,
                                       a_part[1].x, a_part[1].y, a_part[1].z, a_part[1].w};
      const float b_values[kThread] = {b_part[0].x, b_part[0].y, b_part[0].z, b_part[0].w,
                                       b_part[1].x, b_part[1].y, b_part[1].z, b_part[1].w};
      WARPLADDER_UNROLL
      for (int i = 0; i < kThread; ++i) {
        WARPLADDER_UNROLL
        for (int j = 0; j < kThread; ++j) sum[i][j] += a_values[i] * b_values[j];
      }
    }
    __syncthreads();  // and have been read
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < kThread; ++i) {
    float* c =
        &s.c[(blockIdx.y * kBlock + y * kThread + i) * s.n + blockIdx.x * kBlock + x * kThread];
    WARPLADDER_UNROLL
    for (int j = 0; j < kThread; j += 4) {
      *reinterpret_cast<float4*>(c + j) =
          make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
    }
  }
}

}  // namespace

namespace WARPLADDER_FLAVOUR {

void tiled_32x32(const Square& s, runtime::StreamView& stream) {
  const unsigned blocks = s.n / kTile;
  runtime::launch(stream, {dim3(blocks, blocks), dim3(kTile, kTile)}, tiled, s);
}

void thread_tile_128x128x8(const Square& s, runtime::StreamView& stream) {
  const unsigned blocks = s.n / kBlock;
  runtime::launch(stream, {dim3(blocks, blocks), dim3(kThreads)}, thread_tile, s);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::executor_speed
