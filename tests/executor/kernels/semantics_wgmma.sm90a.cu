// Products of the tensor cores.

#include "kernels/kernel.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/mma.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/ptx/wgmma_words.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kTileBytes = 64 * 128;  // of A, which has 64 lines a warpgroup

template <int element_bytes, int count>
__device__ __forceinline__ void multiply(float (&sums)[count], ptx::TileDescriptor a,
                                         ptx::TileDescriptor b, bool add) {
  if constexpr (element_bytes == 2) {
    ptx::multiply_f16(sums, a, b, add);  // COUNT: halves
  } else {
    ptx::multiply_tf32(sums, a, b, add);  // COUNT: floats
  }
}

// out (lines of A × columns) = 1 + A·Bᵀ, or without the 1. A warpgroup takes 64 lines of A. Of each
// 128 bytes of the lines only the 32-byte steps from `begin` to `end` are multiplied.
template <int element_bytes, int columns>
__global__ void __launch_bounds__(256) product(const __grid_constant__ runtime::TensorMap map_a,
                                               const __grid_constant__ runtime::TensorMap map_b,
                                               float* out, int tiles, int begin, int end, int add) {
  unsigned char* const b_tile = runtime::dynamic_shared<unsigned char>();
  const int t = static_cast<int>(threadIdx.x), group = t / 128,
            groups = static_cast<int>(blockDim.x) / 128;
  unsigned char* const a_tile = b_tile + columns * 128;
  ptx::Barrier* const full = reinterpret_cast<ptx::Barrier*>(a_tile + groups * kTileBytes);
  if (t == 0) {
    ptx::barrier_init(full, 1);
    ptx::fence_barrier_init();
  }
  __syncthreads();  // the barrier is there
  float sums[columns / 2];
  WARPLADDER_UNROLL
  for (int i = 0; i < columns / 2; ++i) sums[i] = 1.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    if (t == 0) {
      const int column = tile * (128 / element_bytes);
      ptx::arrive_expecting(full, static_cast<unsigned>(columns * 128 + groups * kTileBytes));
      ptx::tma_load(b_tile, map_b, full, 0, column);
      for (int g = 0; g < groups; ++g) {
        ptx::tma_load(a_tile + g * kTileBytes, map_a, full, g * 64, column);
      }
    }
    ptx::wait(full, static_cast<unsigned>(tile) & 1);
    const ptx::TileDescriptor a = ptx::tile_descriptor(a_tile + group * kTileBytes),
                              b = ptx::tile_descriptor(b_tile);
    for (int step = begin; step < end; ++step) {
      ptx::wgmma_fence();
      multiply<element_bytes>(sums, ptx::behind(a, 32 * step), ptx::behind(b, 32 * step),
                              add || tile > 0 || step > begin);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
    __syncthreads();  // everyone is done with the tiles before the next ones come
  }
  const int row = group * 64 + 16 * (t % 128 / 32) + t % 32 / 4;
  WARPLADDER_UNROLL
  for (int i = 0; i < columns / 2; ++i) {
    const int column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
    out[(row + 8 * (i / 2 % 2)) * columns + column] = sums[i];
  }
}
WARPLADDER_TEST_KERNEL(product<2, 32>);
WARPLADDER_TEST_KERNEL(product<2, 64>);
WARPLADDER_TEST_KERNEL(product<2, 128>);
WARPLADDER_TEST_KERNEL(product<4, 32>);
WARPLADDER_TEST_KERNEL(product<4, 64>);
WARPLADDER_TEST_KERNEL(product<4, 128>);

// One warpgroup, A from registers: out (64 × columns) = A·Bᵀ + A·Bᵀ, or just one A·Bᵀ. The words
// are pairs of bfloat16, of A (64 × 16) and B (columns × 16).
template <int columns>
__global__ void __launch_bounds__(128)
    product_of_words(const unsigned* a, const unsigned* b, float* out, int add) {
  auto* const b_tile = runtime::dynamic_shared<unsigned>();
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < columns * 8; i += 128) {
    const int line = i / 8, word = i % 8;  // eight words of a line, in the 128-byte swizzle
    b_tile[line * 32 + ((word / 4) ^ line % 8) * 4 + word % 4] = b[i];
  }
  ptx::fence_async_proxy_of_shared();
  __syncthreads();  // the tile is there
  const int row = 16 * (t / 32) + t % 32 / 4;
  unsigned words[4];
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) words[i] = a[(row + 8 * (i % 2)) * 8 + t % 4 + 4 * (i / 2)];
  float sums[columns / 2];
  WARPLADDER_UNROLL
  for (int i = 0; i < columns / 2; ++i) sums[i] = 0.0f;
  const ptx::TileDescriptor tile = ptx::tile_descriptor(b_tile);
  ptx::wgmma_fence();
  ptx::multiply_bf16(sums, words, tile, false);     // COUNT: first
  ptx::multiply_bf16(sums, words, tile, add != 0);  // COUNT: second
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::pin(sums);
  WARPLADDER_UNROLL
  for (int i = 0; i < columns / 2; ++i) {
    const int column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
    out[(row + 8 * (i / 2 % 2)) * columns + column] = sums[i];
  }
}
WARPLADDER_TEST_KERNEL(product_of_words<16>);
WARPLADDER_TEST_KERNEL(product_of_words<32>);
WARPLADDER_TEST_KERNEL(product_of_words<64>);
WARPLADDER_TEST_KERNEL(product_of_words<128>);

// Each warp: sums (16×8, by rows) += A (16×k, by rows) · B (k×8, by rows), k a multiple of 4.
__global__ void warp_product(const float* a, const float* b, double* sums, int k) {
  const int warp = static_cast<int>(threadIdx.x) / 32, g = static_cast<int>(threadIdx.x) % 32 / 4,
            t = static_cast<int>(threadIdx.x) % 4;
  a += warp * 16 * k;
  b += warp * k * 8;
  sums += warp * 16 * 8;
  double mine[4];
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) mine[i] = sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
  for (int step = 0; step < k; step += 4) {
    const double upper = a[g * k + step + t], lower = a[(g + 8) * k + step + t];
    ptx::multiply_f64(mine, upper, lower, b[(step + t) * 8 + g]);  // COUNT: float64
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) sums[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = mine[i];
}
WARPLADDER_TEST_KERNEL(warp_product);

}  // namespace
}  // namespace warpladder::kernel_tests
