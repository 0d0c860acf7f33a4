// Kernels that misuse mbarriers, the copy engine, clusters or the tensor cores, each with a clean
// twin. The line that the executor must name is marked FAULT. Blocks of 128 threads where the
// kernel does not say otherwise; out[t] gets a result.

#include "kernels/kernel.hpp"

#if !defined(__CUDACC__)

#include "parts/ptx/cluster.hpp"
#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/ldmatrix.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/mma.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/ptx/store_async.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/ptx/wgmma.hpp"

namespace warpladder::kernel_tests {
namespace {

using ptx::Barrier;

#define TWINS(kernel)                   \
  WARPLADDER_TEST_KERNEL(kernel<true>); \
  WARPLADDER_TEST_KERNEL(kernel<false>)

constexpr int kBoxWords = 8 * 32, kBoxBytes = kBoxWords * 4;

__device__ __forceinline__ Barrier* one_barrier(unsigned arrivals) {
  Barrier* const barrier = runtime::dynamic_shared<Barrier>();
  if (threadIdx.x == 0) ptx::barrier_init(barrier, arrivals);
  __syncthreads();
  return barrier;
}

// ---- mbarriers

template <bool kFaulty>
__global__ void never_initialised(float* out) {
  Barrier* const barrier = runtime::dynamic_shared<Barrier>() + 3;
  if (!kFaulty && threadIdx.x == 0) ptx::barrier_init(barrier, 128);
  __syncthreads();
  ptx::arrive(barrier);  // FAULT: not initialised
  ptx::wait(barrier, 0);
  out[threadIdx.x] = 1.0f;
}
TWINS(never_initialised);

// 128 arrivals end the phase, but for the bytes; one more is too many.
template <bool kFaulty>
__global__ void one_arrival_too_many(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const barrier = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(barrier, 128);
  __syncthreads();
  ptx::arrive_expecting(barrier, t == 0 ? kBoxBytes : 0);
  if (t == 0) ptx::tma_load(box, map, barrier, 0, 0);
  __syncthreads();
  if (kFaulty && t == 127) ptx::arrive(barrier);  // FAULT: too many
  ptx::wait(barrier, 0);
  out[t] = box[t];
}
TWINS(one_arrival_too_many);

template <bool kFaulty>
__global__ void missing_arrival(float* out) {
  Barrier* const barrier = one_barrier(128);
  if (!kFaulty || threadIdx.x != 5) ptx::arrive(barrier);
  ptx::wait(barrier, 0);  // FAULT: an arrival is missing
  out[threadIdx.x] = 1.0f;
}
TWINS(missing_arrival);

// One lane waits for ever, the rest of its warp for it.
template <bool kFaulty>
__global__ void lane_waits_for_ever(float* out) {
  Barrier* const barrier = one_barrier(1);
  if (!kFaulty && threadIdx.x == 33) ptx::arrive(barrier);
  if (threadIdx.x == 2) ptx::wait(barrier, 0);  // FAULT: for ever
  __syncwarp();
  out[threadIdx.x] = 1.0f;
}
TWINS(lane_waits_for_ever);

// The second phase never ends: who begins with the wrong parity waits for it.
template <bool kFaulty>
__global__ void parity_of_the_next_phase(float* out) {
  Barrier* const barrier = one_barrier(128);
  ptx::arrive(barrier);
  ptx::wait(barrier, 0);
  ptx::wait(barrier, kFaulty ? 1 : 0);  // FAULT: the next phase
  out[threadIdx.x] = 1.0f;
}
TWINS(parity_of_the_next_phase);

template <bool kFaulty>
__global__ void parity_that_counts_on(float* out) {
  Barrier* const barrier = one_barrier(128);
  for (unsigned round = 0; round < 3; ++round) {
    ptx::arrive(barrier);
    ptx::wait(barrier, kFaulty && threadIdx.x == 3 ? round : round & 1);  // FAULT: parity 2
  }
  out[threadIdx.x] = 1.0f;
}
TWINS(parity_that_counts_on);

// ---- the copy engine; 128 threads, a matrix of at least 8 lines of 32 floats

// What the box brings is in out[t] only if it was waited for.
template <bool kFaulty>
__global__ void read_before_waiting(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  box[t] = -1.0f;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kBoxBytes);
    ptx::tma_load(box, map, full, 0, 0);
  }
  if (!kFaulty) ptx::wait(full, 0);
  out[t] = box[t];
  ptx::wait(full, 0);
}
TWINS(read_before_waiting);

template <bool kFaulty>
__global__ void missing_expectation(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::tma_load(box, map, full, 0, 0);
    ptx::arrive_expecting(full, kFaulty ? 0 : kBoxBytes);  // FAULT: nothing announced
  }
  ptx::wait(full, 0);
  out[t] = box[t];
}
TWINS(missing_expectation);

template <bool kFaulty>
__global__ void too_much_expected(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kFaulty ? 2 * kBoxBytes : kBoxBytes);
    ptx::tma_load(box, map, full, 0, 0);
  }
  ptx::wait(full, 0);  // FAULT: half never comes
  out[t] = box[t];
}
TWINS(too_much_expected);

template <bool kFaulty>
__global__ void nobody_waits(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kBoxBytes);
    ptx::tma_load(box, map, full, 0, 0);  // FAULT: on its way
  }
  if (!kFaulty) ptx::wait(full, 0);
  out[t] = 1.0f;
}
TWINS(nobody_waits);

template <bool kFaulty>
__global__ void column_within_16_bytes(const __grid_constant__ runtime::TensorMap map, float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kBoxBytes);
    ptx::tma_load(box, map, full, 0, kFaulty ? 1 : 4);  // FAULT: column 1
  }
  ptx::wait(full, 0);
  out[t] = box[t];
}
TWINS(column_within_16_bytes);

template <bool kFaulty>
__global__ void destination_off_the_swizzle(const __grid_constant__ runtime::TensorMap map,
                                            float* out) {
  float* const box = runtime::dynamic_shared<float>() + (kFaulty ? 32 : 0);
  Barrier* const full = runtime::dynamic_shared<Barrier>() + kBoxBytes / 8 + 16;
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kBoxBytes);
    ptx::tma_load(box, map, full, 0, 0);  // FAULT: byte 128
  }
  ptx::wait(full, 0);
  out[t] = box[t];
}
TWINS(destination_off_the_swizzle);

// The map is told of more lines than the matrix has; the box of the faulty twin is among them.
template <bool kFaulty>
__global__ void lines_that_are_not_there(const __grid_constant__ runtime::TensorMap map,
                                         float* out) {
  float* const box = runtime::dynamic_shared<float>();
  Barrier* const full = reinterpret_cast<Barrier*>(box + kBoxWords);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(full, 1);
  __syncthreads();
  if (t == 0) {
    ptx::arrive_expecting(full, kBoxBytes);
    ptx::tma_load(box, map, full, kFaulty ? 4 : 0, 0);  // FAULT: past the end
  }
  ptx::wait(full, 0);
  out[t] = box[t];
}
TWINS(lines_that_are_not_there);

// ---- clusters of two

// Without the first barrier of the cluster, the other block's mbarrier is not there yet.
template <bool kFaulty>
__global__ void arrive_too_early(float* out) {
  Barrier* const told = runtime::dynamic_shared<Barrier>();
  const unsigned t = threadIdx.x, other = 1 - ptx::cluster_rank();
  if (t == 0) ptx::barrier_init(told, 128);
  if (!kFaulty) ptx::cluster_barrier();
  ptx::arrive_at(told, other);  // FAULT: not there yet
  ptx::wait(told, 0);
  out[t] = 1.0f;
  ptx::cluster_barrier();
}
TWINS(arrive_too_early);

// A block's 128 threads hand a line of 2 KiB to the other one: the barrier that expects it, and
// where it goes.
struct ExpectedLine {
  Barrier* full;
  float4* line;
};
__device__ __forceinline__ ExpectedLine expect_line() {
  Barrier* const full = runtime::dynamic_shared<Barrier>();
  if (threadIdx.x == 0) {
    ptx::barrier_init(full, 1);
    ptx::arrive_expecting(full, 2048);
  }
  return {full, reinterpret_cast<float4*>(full + 2)};
}

template <bool kFaulty>
__global__ void store_too_early(float* out) {
  const auto [full, line] = expect_line();
  const unsigned t = threadIdx.x, other = 1 - ptx::cluster_rank();
  if (!kFaulty) ptx::cluster_barrier();
  float4* const to = ptx::in_block(line, other) + t;
  const float4 value = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  ptx::store_async(to, ptx::in_block(full, other), value);  // FAULT: no barrier yet
  ptx::wait(full, 0);
  out[t] = line[t].x;
}
TWINS(store_too_early);

template <bool kFaulty>
__global__ void store_counted_elsewhere(float* out) {
  const auto [full, line] = expect_line();
  const unsigned t = threadIdx.x, rank = ptx::cluster_rank(), other = 1 - rank;
  ptx::cluster_barrier();
  float4* const to = ptx::in_block(line, other) + t;
  const float4 value = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  Barrier* const counted = ptx::in_block(full, kFaulty ? rank : other);
  ptx::store_async(to, counted, value);  // FAULT: counts here
  ptx::wait(full, 0);
  out[t] = line[t].x;
}
TWINS(store_counted_elsewhere);

template <bool kFaulty>
__global__ void store_in_no_cluster(float* out) {
  const auto [full, line] = expect_line();
  const unsigned t = threadIdx.x;
  const float4 value = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  ptx::cluster_barrier();
  if (kFaulty) {
    Barrier* const counted = ptx::in_block(full, 0);
    ptx::store_async(ptx::in_block(line, 0) + t, counted, value);  // FAULT: no cluster
    ptx::wait(full, 0);
  } else {
    line[t] = value;
  }
  out[t] = line[t].x;
}
TWINS(store_in_no_cluster);

template <bool kFaulty>
__global__ void store_nobody_waits_for(float* out) {
  const auto [full, line] = expect_line();
  const unsigned t = threadIdx.x, other = 1 - ptx::cluster_rank();
  ptx::cluster_barrier();
  float4* const to = ptx::in_block(line, other) + t;
  const float4 value = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  ptx::store_async(to, ptx::in_block(full, other), value);  // FAULT: nobody waits
  if (!kFaulty) ptx::wait(full, 0);
  out[t] = 1.0f;
  ptx::cluster_barrier();
}
TWINS(store_nobody_waits_for);

template <bool kFaulty>
__global__ void not_all_at_the_cluster_barrier(float* out) {
  if (!kFaulty || ptx::cluster_rank() == 0 || threadIdx.x < 100) {
    ptx::cluster_barrier();  // FAULT: not all
  }
  out[threadIdx.x] = 1.0f;
}
TWINS(not_all_at_the_cluster_barrier);

template <bool kFaulty>
__global__ void not_all_at_the_named_barrier(float* out) {
  if (threadIdx.x < (kFaulty ? 64 : 96)) {
    ptx::named_barrier<1, 96>();  // FAULT: 64 of 96
  }
  out[threadIdx.x] = 1.0f;
}
TWINS(not_all_at_the_named_barrier);

template <bool kFaulty>
__global__ void half_warps_at_the_named_barrier(float* out) {
  if (threadIdx.x % 32 < (kFaulty ? 16 : 32)) {
    ptx::named_barrier<2, kFaulty ? 64 : 128>();  // FAULT: half warps
  }
  out[threadIdx.x] = 1.0f;
}
TWINS(half_warps_at_the_named_barrier);

template <bool kFaulty>
__global__ void counts_that_disagree(float* out) {
  if (kFaulty && threadIdx.x >= 64) {
    ptx::named_barrier<3, 64>();  // FAULT: 64 instead of 128
  } else {
    ptx::named_barrier<3, 128>();
  }
  out[threadIdx.x] = 1.0f;
}
TWINS(counts_that_disagree);

template <bool kFaulty>
__global__ void block_outside_of_the_cluster(float* out) {
  int* const there = runtime::dynamic_shared<int>();
  there[threadIdx.x] = 1;
  ptx::cluster_barrier();
  const int* const other = ptx::in_block(there, kFaulty ? 2 : 1);  // FAULT: block 2
  out[threadIdx.x] = static_cast<float>(other[threadIdx.x]);
  ptx::cluster_barrier();
}
TWINS(block_outside_of_the_cluster);

template <bool kFaulty>
__global__ void variable_in_a_cluster(float* out) {
  __shared__ float line[128];
  float* const mine = kFaulty ? line : runtime::dynamic_shared<float>();
  mine[threadIdx.x] = 1.0f;  // FAULT: not dynamic
  out[threadIdx.x] = mine[threadIdx.x];
}
TWINS(variable_in_a_cluster);

// ---- the tensor cores: tiles of ones, 2 times 8,192 bytes

__device__ __forceinline__ ptx::TileDescriptor tile_of_ones() {
  unsigned* const ones = runtime::dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) ones[i] = 0x3c003c00;
  __syncthreads();
  return ptx::tile_descriptor(ones);
}

// out[t] is a sum of 16 products, or what it was before: the faulty twin lets a group be under way.
template <bool kFaulty>
__global__ void lax_wait(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32];
  for (float& sum : sums) sum = 5.0f;
  ptx::multiply_f16(sums, tile, ptx::behind(tile, 8192), false);
  ptx::wgmma_commit();
  ptx::wgmma_wait<kFaulty ? 1 : 0>();
  ptx::pin(sums);
  out[threadIdx.x] = sums[threadIdx.x % 32];
  ptx::wgmma_wait<0>();
}
TWINS(lax_wait);

// A group that nobody has closed is waited for by nobody.
template <bool kFaulty>
__global__ void missing_commit(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32];
  for (float& sum : sums) sum = 5.0f;
  ptx::multiply_f16(sums, tile, ptx::behind(tile, 8192), false);
  if (!kFaulty) ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::pin(sums);
  out[threadIdx.x] = sums[threadIdx.x % 32];
}
TWINS(missing_commit);

// ---- a warp's products and matrices

template <bool kFaulty>
__global__ void lanes_apart(float* out) {
  float sums[4] = {};
  const unsigned a[4] = {}, b[2] = {};
  if (kFaulty && threadIdx.x % 32 >= 16) {
    ptx::mma_tf32<true>(sums, a, b);  // FAULT: the other half
  } else {
    ptx::mma_f16<true>(sums, a, b);
  }
  out[threadIdx.x] = sums[0];
}
TWINS(lanes_apart);

template <bool kFaulty>
__global__ void row_off_its_place(float* out) {
  unsigned* const shared = runtime::dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < 256; i += 128) shared[i] = i;
  __syncthreads();
  const bool off = kFaulty && threadIdx.x == 37;
  unsigned words[4];
  ptx::load_matrices(words, threadIdx.x % 32 * 16 + (off ? 8 : 0));  // FAULT: off by 8
  out[threadIdx.x] = static_cast<float>(words[0]);
}
TWINS(row_off_its_place);

template <bool kFaulty>
__global__ void row_behind_the_end(float* out) {
  unsigned* const shared = runtime::dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < 4096; i += 128) shared[i] = i;
  __syncthreads();
  unsigned words[1];
  // Lanes from 8 on name no row, whatever they say.
  ptx::load_matrices(words, threadIdx.x % 32 * 16 + (kFaulty ? 16384 - 5 * 16 : 0));  // FAULT: end
  out[threadIdx.x] = static_cast<float>(words[0]);
}
TWINS(row_behind_the_end);

template <bool kFaulty>
__global__ void row_that_nobody_wrote(float* out) {
  unsigned* const shared = runtime::dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < (kFaulty ? 124u : 128u); i += 128) shared[i] = i;
  __syncthreads();
  unsigned words[4];
  ptx::load_matrices(words, threadIdx.x % 32 * 16);  // FAULT: nobody wrote
  out[threadIdx.x] = static_cast<float>(words[0]);
}
TWINS(row_that_nobody_wrote);

// ---- copies that arrive by themselves

template <bool kFaulty>
__global__ void copies_not_waited_for(float* out) {
  float* const copied = runtime::dynamic_shared<float>();
  Barrier* const barrier = reinterpret_cast<Barrier*>(copied + 128);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(barrier, 128);
  __syncthreads();
  ptx::cp_async<4>(copied + t, out + t);
  ptx::cp_async_arrive(barrier);
  if (!kFaulty) ptx::wait(barrier, 0);
  out[t] = copied[t];  // FAULT: too early
  ptx::wait(barrier, 0);
}
TWINS(copies_not_waited_for);

template <bool kFaulty>
__global__ void copies_too_many(float* out) {
  float* const copied = runtime::dynamic_shared<float>();
  Barrier* const barrier = reinterpret_cast<Barrier*>(copied + 128);
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::barrier_init(barrier, 128);
  __syncthreads();
  ptx::cp_async<4>(copied + t, out + t);
  ptx::cp_async_arrive(barrier);  // FAULT: 129 arrivals
  if (kFaulty && t == 5) ptx::arrive(barrier);
  ptx::wait(barrier, 0);
  out[t] = copied[t];
}
TWINS(copies_too_many);

template <bool kFaulty>
__global__ void lanes_that_disagree(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32] = {};
  const bool other = kFaulty && threadIdx.x == 77;
  ptx::multiply_f16(sums, tile, ptx::behind(tile, other ? 8192 + 32 : 8192), true);
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();  // FAULT: lane 77
  ptx::pin(sums);
  out[threadIdx.x] = sums[0];
}
TWINS(lanes_that_disagree);

template <bool kFaulty>
__global__ void warp_that_stays_away(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32] = {};
  if (!kFaulty || threadIdx.x >= 32) {
    ptx::multiply_f16(sums, tile, ptx::behind(tile, 8192), true);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();  // FAULT: three warps
    ptx::pin(sums);
  }
  out[threadIdx.x] = sums[0];
}
TWINS(warp_that_stays_away);

// Blocks of 192 threads: the second warpgroup has two warps.
template <bool kFaulty>
__global__ void half_a_warpgroup(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32] = {};
  if (kFaulty || threadIdx.x < 128) {
    ptx::multiply_f16(sums, tile, ptx::behind(tile, 8192), true);  // FAULT: half
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(sums);
  }
  if (threadIdx.x < 128) out[threadIdx.x] = sums[0];
}
TWINS(half_a_warpgroup);

template <bool kFaulty>
__global__ void other_swizzle(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  const std::uint64_t other = kFaulty ? std::uint64_t{3} << 62 : 0;
  const std::uint64_t a = ptx::both_words(tile) ^ other,
                      b = ptx::both_words(ptx::behind(tile, 8192));
  float sums[32] = {};
  simt_wgmma(sums, 64, 2, a, b, 1);  // FAULT: swizzle
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::pin(sums);
  out[threadIdx.x] = sums[0];
}
TWINS(other_swizzle);

template <bool kFaulty>
__global__ void tile_off_the_swizzle(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32] = {};
  const ptx::TileDescriptor a = ptx::behind(tile, kFaulty ? 128 : 96);
  ptx::multiply_f16(sums, a, ptx::behind(tile, 8192), true);  // FAULT: byte 128 of A
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::pin(sums);
  out[threadIdx.x] = sums[0];
}
TWINS(tile_off_the_swizzle);

template <bool kFaulty>
__global__ void tile_past_the_end(float* out) {
  const ptx::TileDescriptor tile = tile_of_ones();
  float sums[32] = {};
  ptx::multiply_f16(sums, tile, ptx::behind(tile, kFaulty ? 9216 : 8192), true);  // FAULT: past
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::pin(sums);
  out[threadIdx.x] = sums[0];
}
TWINS(tile_past_the_end);

}  // namespace
}  // namespace warpladder::kernel_tests

#endif
