// mbarriers, the copy engine and clusters.

#include "kernels/kernel.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/ptx/store_async.hpp"
#include "parts/ptx/tma.hpp"

namespace warpladder::kernel_tests {
namespace {

using ptx::Barrier;

// Lines of `size` elements, each back to front: one phase says that a line is there, another that
// it has been read.
__global__ void reverse_by_phases(const float* in, float* out, int lines) {
  Barrier* const written = runtime::dynamic_shared<Barrier>();
  Barrier* const read = written + 1;
  float* const line = reinterpret_cast<float*>(written + 2);
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  if (t == 0) {
    ptx::barrier_init(written, blockDim.x);
    ptx::barrier_init(read, blockDim.x);
    ptx::fence_barrier_init();
  }
  __syncthreads();  // the barriers are there
  for (int i = 0; i < lines; ++i) {
    const unsigned parity = static_cast<unsigned>(i) & 1;
    ptx::wait(read, parity ^ 1);  // the line before has been read; there is none before the first
    line[t] = in[i * size + t];
    ptx::arrive(written);
    ptx::wait(written, parity);
    out[i * size + t] = line[size - 1 - t];
    ptx::arrive(read);
  }
}
WARPLADDER_TEST_KERNEL(reverse_by_phases);

// Warps hand a number on, by pairs. Warp w waits for warp w - 1 at barrier w and for warp w + 1 at
// barrier w + 1. So each finds what the one before has written. 128 threads; `out`: of each how
// many warps came before its own.
__global__ void hand_on_by_named_barriers(float* out) {
  float* const number = runtime::dynamic_shared<float>();
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  if (warp == 1) ptx::named_barrier<1, 64>();
  if (warp == 2) ptx::named_barrier<2, 64>();
  if (warp == 3) ptx::named_barrier_together<3, 64>();
  out[t] = warp == 0 ? 0.0f : number[(t + 1) % 32];
  __syncwarp();  // all lanes have read
  if (warp < 3) number[t % 32] = static_cast<float>(warp + 1);
  if (warp == 0) ptx::named_barrier<1, 64>();
  if (warp == 1) ptx::named_barrier<2, 64>();
  if (warp == 2) ptx::named_barrier_together<3, 64>();
}
WARPLADDER_TEST_KERNEL(hand_on_by_named_barriers);

// One lane of the first warp waits while the rest of it is at __syncwarp, then while the rest is at
// __syncthreads. One lane of the third waits while the rest of it has gone. 96 threads; the second
// warp writes, and out[64] gets its numbers twice.
__global__ void one_lane_waits(float* out) {
  Barrier* const barrier = runtime::dynamic_shared<Barrier>();
  float* const line = reinterpret_cast<float*>(barrier + 4);
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  if (t == 0) {
    for (int i = 0; i < 3; ++i) ptx::barrier_init(&barrier[i], i == 2 ? 1 : 32);
    ptx::fence_barrier_init();
  }
  __syncthreads();  // the barriers are there
  if (t / 32 == 0) {
    if (lane == 0) ptx::wait(&barrier[0], 0);
    __syncwarp();
    out[lane] = line[lane] + __shfl_sync(0xffffffffu, static_cast<float>(lane), 0);
    if (lane == 0) ptx::wait(&barrier[1], 0);
  } else if (t / 32 == 1) {
    line[lane] = static_cast<float>(t);
    ptx::arrive(&barrier[0]);
    line[32 + lane] = static_cast<float>(2 * t);
    ptx::arrive(&barrier[1]);
  }
  __syncthreads();  // the second half of the line has been waited for
  if (t / 32 == 0) out[32 + lane] = line[32 + lane];
  if (t / 32 == 0 && lane == 5) ptx::arrive(&barrier[2]);
  if (t / 32 == 2) {
    if (lane != 7) return;
    ptx::wait(&barrier[2], 0);
    out[64] = 1.0f;
  }
}
WARPLADDER_TEST_KERNEL(one_lane_waits);

// One box, word for word as it lies in shared memory.
__global__ void copy_box(const __grid_constant__ runtime::TensorMap map, unsigned* out, int words,
                         int row, int column) {
  unsigned* const box = runtime::dynamic_shared<unsigned>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + words);
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  if (t == 0) {
    ptx::prefetch_map(map);
    ptx::barrier_init(full, 1);
    ptx::fence_barrier_init();
    ptx::arrive_expecting(full, static_cast<unsigned>(words) * 4);
    ptx::tma_load(box, map, full, row, column);  // COUNT: box
  }
  __syncthreads();  // the barrier is there
  ptx::wait(full, 0);
  for (int i = t; i < words; i += size) out[i] = box[i];
}
WARPLADDER_TEST_KERNEL(copy_box);

// Boxes of 8 lines pass through a ring of stages: the last warp asks for them, the others write
// them out, lines straight again. The grid's blocks share the boxes out.
constexpr int kStages = 3, kBoxWords = 8 * 32;
__global__ void ring(const __grid_constant__ runtime::TensorMap map, float* out, int boxes) {
  float* const stage = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(stage + kStages * kBoxWords);
  Barrier* const empty = full + kStages;
  const int t = static_cast<int>(threadIdx.x);
  const int readers = static_cast<int>(blockDim.x) - 32, first = static_cast<int>(blockIdx.x),
            step = static_cast<int>(gridDim.x);
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::barrier_init(&full[s], 1);
      ptx::barrier_init(&empty[s], static_cast<unsigned>(readers));
    }
    ptx::fence_barrier_init();
  }
  __syncthreads();  // the barriers are there
  if (t >= readers) {
    if (t > readers) return;
    int s = 0;
    unsigned round = 0;
    for (int box = first; box < boxes; box += step) {
      ptx::wait(&empty[s], round ^ 1);  // everyone has read what the stage held before
      ptx::arrive_expecting(&full[s], kBoxWords * 4);
      ptx::tma_load(stage + s * kBoxWords, map, &full[s], box * 8, 0);  // COUNT: ring
      if (++s == kStages) {
        s = 0;
        round ^= 1;
      }
    }
    return;
  }
  int s = 0;
  unsigned round = 0;
  for (int box = first; box < boxes; box += step) {
    ptx::wait(&full[s], round);
    for (int i = t; i < kBoxWords; i += readers) {
      const int line = i / 32, word = i % 32, place = (word / 4 ^ line) * 4 + word % 4;
      out[box * kBoxWords + i] = stage[s * kBoxWords + line * 32 + place];
    }
    ptx::arrive(&empty[s]);
    if (++s == kStages) {
      s = 0;
      round ^= 1;
    }
  }
}
WARPLADDER_TEST_KERNEL(ring);

// Each block of a cluster brings one box of 8 lines to all of them.
__global__ void multicast(const __grid_constant__ runtime::TensorMap map, unsigned* out,
                          int blocks) {
  unsigned* const box = runtime::dynamic_shared<unsigned>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + blocks * kBoxWords);
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  const int rank = static_cast<int>(ptx::cluster_rank()), words = blocks * kBoxWords;
  if (t == 0) {
    ptx::barrier_init(full, 1);
    ptx::fence_barrier_init();
    ptx::arrive_expecting(full, static_cast<unsigned>(words) * 4);
  }
  ptx::cluster_barrier();  // all of the cluster's barriers are there
  if (t == 0) {
    const int here = static_cast<int>(blockIdx.x);
    ptx::tma_load_multicast(box + rank * kBoxWords, map, full, here * 8, 0,  // COUNT: multicast
                            (1u << blocks) - 1);
  }
  ptx::wait(full, 0);
  unsigned* const to = out + static_cast<int>(blockIdx.x) * words;
  for (int i = t; i < words; i += size) to[i] = box[i];
  ptx::cluster_barrier();  // no block goes while another may still write to it
}
WARPLADDER_TEST_KERNEL(multicast);

// Each block reads what the next of its cluster wrote, and tells the first one so.
__global__ void ask_the_neighbour(int* out, int blocks) {
  Barrier* const told = runtime::dynamic_shared<Barrier>();
  int* const line = reinterpret_cast<int*>(told + 1);
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);
  const unsigned rank = ptx::cluster_rank();
  const int block = static_cast<int>(blockIdx.y * gridDim.x + blockIdx.x);
  if (t == 0) {
    ptx::barrier_init(told, static_cast<unsigned>(blocks) * blockDim.x);
    ptx::fence_barrier_init();
  }
  line[t] = 1000 * block + t;
  __syncthreads();         // of the block alone, for the count
  ptx::cluster_barrier();  // COUNT: cluster barrier
  out[block * size + t] = ptx::in_block(line, (rank + 1) % static_cast<unsigned>(blocks))[t];
  ptx::arrive_at(told, 0);
  if (rank == 0) ptx::wait(told, 0);
  ptx::cluster_barrier();  // nobody goes before all have been read
}
WARPLADDER_TEST_KERNEL(ask_the_neighbour);

// Each block hands its line to the next of its cluster and waits for that of the one before.
__global__ void hand_to_the_neighbour(float4* out, int blocks) {
  Barrier* const full = runtime::dynamic_shared<Barrier>();
  float4* const line = reinterpret_cast<float4*>(full + 2);
  const int t = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x),
            block = static_cast<int>(blockIdx.x);
  const unsigned next = (ptx::cluster_rank() + 1) % static_cast<unsigned>(blocks);
  if (t == 0) {
    ptx::barrier_init(full, 1);
    ptx::fence_barrier_init();
    ptx::arrive_expecting(full, blockDim.x * 16);
  }
  ptx::cluster_barrier();  // all of the cluster's barriers are there
  const auto number = static_cast<float>(1000 * block + t);
  ptx::store_async(ptx::in_block(line, next) + t, ptx::in_block(full, next),  // COUNT: handed on
                   make_float4(number, number + 0.25f, number + 0.5f, number + 0.75f));
  ptx::wait(full, 0);
  out[block * size + t] = line[size - 1 - t];
}
WARPLADDER_TEST_KERNEL(hand_to_the_neighbour);

}  // namespace
}  // namespace warpladder::kernel_tests
