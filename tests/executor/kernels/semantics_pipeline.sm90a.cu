// A product as rungs make it: a warp that copies and two warpgroups that multiply, in a cluster of
// two blocks that share B.

#include "kernels/kernel.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/ptx/wgmma.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kRing = 3, kGroups = 2, kColumns = 64;
constexpr int kABytes = kGroups * 64 * 128, kBBytes = kColumns * 128,
              kStageBytes = kABytes + kBBytes;

// out (lines × 64) = A·Bᵀ of halves. A block takes 128 lines of A, and half of B's for both blocks.
// 384 threads, of which the last warpgroup copies. `early`: the consumers give a stage back before
// their products have read it.
template <bool early>
__global__ void __launch_bounds__(384)
    cluster_product(const __grid_constant__ runtime::TensorMap map_a,
                    const __grid_constant__ runtime::TensorMap map_b, float* out, int tiles) {
  unsigned char* const stages = runtime::dynamic_shared<unsigned char>();
  ptx::Barrier* const full = reinterpret_cast<ptx::Barrier*>(stages + kRing * kStageBytes);
  ptx::Barrier* const empty = full + kRing;
  const int t = static_cast<int>(threadIdx.x), group = t / 128;
  const int first_line = static_cast<int>(blockIdx.x) * 128;
  if (t == 0) {
    for (int s = 0; s < kRing; ++s) {
      ptx::barrier_init(&full[s], 1);
      ptx::barrier_init(&empty[s], 2 * kGroups);  // a lane of each warpgroup of both blocks
    }
    ptx::fence_barrier_init();
  }
  ptx::cluster_barrier();  // both blocks' barriers are there
  if (group == kGroups) {
    const int half = static_cast<int>(ptx::cluster_rank()) * kColumns / 2;
    if (t % 128 == 0) {
      for (int tile = 0; tile < tiles; ++tile) {
        const int s = tile % kRing, column = tile * 64;
        unsigned char* const a = stages + s * kStageBytes;
        // Nobody reads what the stage held, in either block.
        ptx::wait(&empty[s], (static_cast<unsigned>(tile / kRing) & 1) ^ 1);
        ptx::arrive_expecting(&full[s], kStageBytes);
        for (int g = 0; g < kGroups; ++g) {
          ptx::tma_load(a + g * 64 * 128, map_a, &full[s], first_line + g * 64, column);
        }
        ptx::tma_load_multicast(a + kABytes + half * 128, map_b, &full[s], half, column, 3);
      }
    }
    __syncwarp();
  } else {
    float sums[kColumns / 2];
    for (int tile = 0; tile < tiles; ++tile) {
      const int s = tile % kRing;
      ptx::wait(&full[s], static_cast<unsigned>(tile / kRing) & 1);
      const unsigned char* const a_tile = stages + s * kStageBytes;
      const ptx::TileDescriptor a = ptx::tile_descriptor(a_tile + group * 64 * 128),
                                b = ptx::tile_descriptor(a_tile + kABytes);
      ptx::wgmma_fence();
      WARPLADDER_UNROLL
      for (int step = 0; step < 4; ++step) {
        ptx::multiply_f16(sums, ptx::behind(a, 32 * step), ptx::behind(b, 32 * step),
                          tile > 0 || step > 0);
      }
      ptx::wgmma_commit();
      if (!early) ptx::wgmma_wait<0>();
      if (t % 128 < 2) ptx::arrive_at(&empty[s], static_cast<unsigned>(t % 128));
    }
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
    const int row = first_line + group * 64 + 16 * (t % 128 / 32) + t % 32 / 4;
    WARPLADDER_UNROLL
    for (int i = 0; i < kColumns / 2; ++i) {
      const int column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
      out[(row + 8 * (i / 2 % 2)) * kColumns + column] = sums[i];
    }
    __syncwarp();
  }
  ptx::cluster_barrier();  // nobody goes before the other block has stopped reaching in
}
WARPLADDER_TEST_KERNEL(cluster_product<false>);
#if !defined(__CUDACC__)
WARPLADDER_TEST_KERNEL(cluster_product<true>);
#endif

}  // namespace
}  // namespace warpladder::kernel_tests
