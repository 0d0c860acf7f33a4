// Products of a warp, the matrices that they are made of, and copies that count at an mbarrier.

#include "kernels/kernel.hpp"
#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/ldmatrix.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/mma.hpp"

namespace warpladder::kernel_tests {
namespace {

// out (16×8, by rows) = C + A·Bᵀ, or without C. A has 16 lines of `steps` times 32 bytes, B 8
// lines; words are taken from memory as mma.hpp says who holds them.
template <int element_bytes, bool kAdds>
__global__ void warp_of_words(const unsigned* a, const unsigned* b, const float* c, float* out,
                              int steps) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4, line = 8 * steps;
  float sums[4];
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) sums[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
  for (int step = 0; step < steps; ++step) {
    unsigned of_a[4], of_b[2];
    WARPLADDER_UNROLL
    for (int i = 0; i < 4; ++i) of_a[i] = a[(g + i % 2 * 8) * line + step * 8 + t + i / 2 * 4];
    WARPLADDER_UNROLL
    for (int i = 0; i < 2; ++i) of_b[i] = b[g * line + step * 8 + t + i * 4];
    if constexpr (element_bytes == 2) {
      ptx::mma_f16<kAdds>(sums, of_a, of_b);  // COUNT: halves
    } else {
      ptx::mma_tf32<kAdds>(sums, of_a, of_b);  // COUNT: floats
    }
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) out[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
}
WARPLADDER_TEST_KERNEL(warp_of_words<2, true>);
WARPLADDER_TEST_KERNEL(warp_of_words<2, false>);
WARPLADDER_TEST_KERNEL(warp_of_words<4, true>);
WARPLADDER_TEST_KERNEL(warp_of_words<4, false>);

// Rows of 16 bytes, `pitch` words apart in shared memory, as ldmatrix hands them to the lanes: lane
// l puts out[l·count + m].
template <int count, bool kTransposed>
__global__ void matrices(const unsigned* rows, unsigned* out, int pitch) {
  unsigned* const shared = runtime::dynamic_shared<unsigned>();
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < 8 * count * 4; i += 32) shared[i / 4 * pitch + i % 4] = rows[i];
  __syncwarp();  // the rows are there
  const unsigned row = ptx::shared_address(shared + lane % (8 * count) * pitch);
  unsigned mine[count];
  ptx::load_matrices<kTransposed>(mine, row);  // COUNT: rows
  WARPLADDER_UNROLL
  for (int m = 0; m < count; ++m) out[lane * count + m] = mine[m];
}
WARPLADDER_TEST_KERNEL(matrices<1, false>);
WARPLADDER_TEST_KERNEL(matrices<1, true>);
WARPLADDER_TEST_KERNEL(matrices<2, false>);
WARPLADDER_TEST_KERNEL(matrices<2, true>);
WARPLADDER_TEST_KERNEL(matrices<4, false>);
WARPLADDER_TEST_KERNEL(matrices<4, true>);

// Tiles of a float4 a thread pass through a ring of three stages, each thread's back to front among
// the block's 128. Copies arrive at `full` by themselves, threads at `empty`.
__global__ void ring_of_copies(const float4* in, float4* out, int tiles) {
  constexpr int kStages = 3, kThreads = 128;
  struct Shared {
    float4 stage[kStages][kThreads];
    ptx::Barrier full[kStages], empty[kStages];
  };
  auto& shared = *runtime::dynamic_shared<Shared>();
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::barrier_init(&shared.full[s], kThreads);
      ptx::barrier_init(&shared.empty[s], kThreads);
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();  // the barriers are there
  const auto ask = [&](int tile) {
    const int s = tile % kStages;
    ptx::wait(&shared.empty[s], static_cast<unsigned>(tile / kStages + 1) & 1);
    // Of the last tile only half of the bytes exist: the rest becomes zero.
    ptx::cp_async<16>(&shared.stage[s][t], in + tile * kThreads + t, tile + 1 < tiles ? 16 : 8);
    ptx::cp_async_arrive(&shared.full[s]);
  };
  for (int tile = 0; tile < kStages - 1 && tile < tiles; ++tile) ask(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    const int s = tile % kStages;
    if (tile + kStages - 1 < tiles) ask(tile + kStages - 1);
    ptx::wait(&shared.full[s], static_cast<unsigned>(tile / kStages) & 1);
    out[tile * kThreads + t] = shared.stage[s][kThreads - 1 - t];
    ptx::arrive(&shared.empty[s]);
  }
}
WARPLADDER_TEST_KERNEL(ring_of_copies);

}  // namespace
}  // namespace warpladder::kernel_tests
