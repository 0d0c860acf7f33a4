// Kernels that misuse shared memory, each with a clean twin. The line that the executor must name
// is marked FAULT. Blocks of 64 threads, one of 32 where the kernel says so; out[t] gets a result.

#include "kernels/kernel.hpp"
#include "parts/ptx/cp_async.hpp"

#if !defined(__CUDACC__)

namespace warpladder::kernel_tests {
namespace {

constexpr unsigned kWholeWarp = 0xffffffffu;

#define TWINS(kernel)                   \
  WARPLADDER_TEST_KERNEL(kernel<true>); \
  WARPLADDER_TEST_KERNEL(kernel<false>)

// ---- reads of what nobody wrote

template <bool kFaulty>
__global__ void read_unwritten(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  if (!kFaulty || t < 50) tile[t] = 1.0f;
  __syncthreads();
  out[t] = tile[63 - t];  // FAULT: unwritten
}
TWINS(read_unwritten);

template <bool kFaulty>
__global__ void read_unwritten_dynamic(float* out) {
  float* tile = runtime::dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  if (!kFaulty) tile[64 + t] = 1.0f;
  tile[t] = 2.0f;
  __syncthreads();
  out[t] = tile[64 + t];  // FAULT: unwritten dynamic
}
TWINS(read_unwritten_dynamic);

// The first block's writes are not the second's, though the memory is the same.
template <bool kFaulty>
__global__ void inherit(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  if (!kFaulty || blockIdx.x == 0) tile[t] = 1.0f;
  __syncthreads();
  out[t] = tile[63 - t];  // FAULT: inherited
}
TWINS(inherit);

// A float4 of which one part is missing.
template <bool kFaulty>
__global__ void read_half_written(float* out) {
  __shared__ float tile[4 * 64];
  const unsigned t = threadIdx.x;
  for (unsigned i = 0; i < (kFaulty ? 3u : 4u); ++i) tile[4 * t + i] = 1.0f;
  __syncthreads();
  const float4 v = *reinterpret_cast<const float4*>(&tile[4 * t]);  // FAULT: half written
  out[t] = v.x + v.w;
}
TWINS(read_half_written);

template <bool kFaulty>
__global__ void add_to_unwritten(float* out) {
  __shared__ float sum;
  if (!kFaulty && threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  atomicAdd(&sum, 1.0f);  // FAULT: unwritten sum
  __syncthreads();
  out[threadIdx.x] = sum;
}
TWINS(add_to_unwritten);

// The word is written in the same stretch between barriers, by a thread that comes later.
template <bool kFaulty>
__global__ void read_before_write(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  if (!kFaulty) __syncthreads();
  out[t] = tile[63 - t];  // FAULT: read before write
}
TWINS(read_before_write);

template <bool kFaulty>
__global__ void warp_read_before_write(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  if (!kFaulty) __syncwarp();
  out[t] = tile[t ^ 1];  // FAULT: read before the neighbour writes
}
TWINS(warp_read_before_write);

template <bool kFaulty>
__global__ void add_before_start(float* out) {
  __shared__ float sum;
  const unsigned t = threadIdx.x;
  if (t == 40) sum = 0.0f;
  if (!kFaulty) __syncthreads();
  if (t < 32) atomicAdd(&sum, 1.0f);  // FAULT: add before start
  __syncthreads();
  out[t] = sum;
}
TWINS(add_before_start);

// ---- accesses past a variable

template <bool kFaulty>
__global__ void past_an_array(float* out) {
  __shared__ float tile[64];
  __shared__ float other[65];
  const unsigned t = threadIdx.x;
  other[t + (kFaulty ? 2 : 1)] = 1.0f;  // FAULT: past an array
  tile[t] = 1.0f;
  __syncthreads();
  out[t] = tile[t] + other[1];
}
TWINS(past_an_array);

template <bool kFaulty>
__global__ void past_the_dynamic(float* out) {
  float* tile = runtime::dynamic_shared<float>();
  const unsigned t = threadIdx.x;
  tile[(kFaulty ? 65 : 64) + t] = 1.0f;  // FAULT: past the dynamic
  out[t] = 1.0f;
}
TWINS(past_the_dynamic);

// ---- races between warps: the first warp's lanes run first, so it is the second that is caught

template <bool kFaulty>
__global__ void read_after_write(float* out) {
  __shared__ float tile[32];
  const unsigned t = threadIdx.x;
  if (t < 32) tile[t] = static_cast<float>(t);
  if (!kFaulty) __syncthreads();
  if (t >= 32) out[t] = tile[63 - t];  // FAULT: read after write
}
TWINS(read_after_write);

template <bool kFaulty>
__global__ void write_after_read(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncthreads();
  if (t < 32) out[t] = tile[63 - t];
  if (!kFaulty) __syncthreads();
  if (t >= 32) tile[t] = 0.0f;  // FAULT: write after read
}
TWINS(write_after_read);

template <bool kFaulty>
__global__ void write_after_write(float* out) {
  __shared__ float tile[32];
  const unsigned t = threadIdx.x;
  if (t < 32) tile[t] = 1.0f;
  if (!kFaulty) __syncthreads();
  if (t >= 32) tile[63 - t] = 2.0f;  // FAULT: write after write
  __syncthreads();
  out[t] = tile[t % 32];
}
TWINS(write_after_write);

// The classic: the second barrier of a tile loop is missing, and the first warp is a round ahead.
template <bool kFaulty>
__global__ void tile_loop(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  float sum = 0.0f;
  for (unsigned round = 0; round < 3; ++round) {
    tile[t] = static_cast<float>(t + round);
    __syncthreads();
    sum += tile[(t + 32) % 64];  // FAULT: overwritten too early
    if (!kFaulty) __syncthreads();
  }
  out[t] = sum;
}
TWINS(tile_loop);

template <bool kFaulty>
__global__ void plain_against_atomic(float* out) {
  __shared__ int hits;
  const unsigned t = threadIdx.x;
  if (t == 0) hits = 0;
  __syncthreads();
  if (t < 63) atomicAdd(&hits, 1);
  if (!kFaulty) __syncthreads();
  if (t == 63) out[t] = static_cast<float>(hits);  // FAULT: plain against atomic
}
TWINS(plain_against_atomic);

template <bool kFaulty>
__global__ void atomic_against_plain(float* out) {
  __shared__ int hits;
  const unsigned t = threadIdx.x;
  if (t == 0) hits = 0;
  if (!kFaulty) __syncthreads();
  if (t > 0) atomicAdd(&hits, 1);  // FAULT: atomic against plain
  __syncthreads();
  out[t] = static_cast<float>(hits);
}
TWINS(atomic_against_plain);

// Waited for by the thread that copied, but not by the others.
template <bool kFaulty>
__global__ void copy_without_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  ptx::cp_async<4>(&tile[t], in + t);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  if (!kFaulty) __syncthreads();
  if (t >= 32) out[t] = tile[63 - t];  // FAULT: copied by another
}
TWINS(copy_without_barrier);

// Both warps have read the word, the writer's own first.
template <bool kFaulty>
__global__ void write_after_many_reads(float* out) {
  __shared__ float first;
  const unsigned t = threadIdx.x;
  if (t == 0) first = 1.0f;
  __syncthreads();
  out[t] = first;
  if (!kFaulty) __syncthreads();
  if (t == 63) first = 2.0f;  // FAULT: write after many reads
}
TWINS(write_after_many_reads);

// Stores of one value do not depend on their order; of another value they do.
template <bool kFaulty>
__global__ void flag_for_all(float* out) {
  __shared__ int found[2];
  const unsigned t = threadIdx.x;
  if (t < 2) found[t] = 0;
  __syncthreads();
  if (t % 3 == 0) found[t / 32] = kFaulty && t == 42 ? 2 : 1;  // FAULT: another value
  __syncthreads();
  out[t] = static_cast<float>(found[t / 32]);
}
TWINS(flag_for_all);

// ---- objects with a virtual table

struct Shape {
  __device__ virtual float area() const { return 0.0f; }
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};

template <bool kFaulty>
__global__ void built_in_shared(float* out) {
  __shared__ __align__(16) unsigned char place[sizeof(Square)];
  const unsigned t = threadIdx.x;
  if (t == 0 && (!kFaulty || blockIdx.x > 0)) new (place) Square(3.0f);
  __syncthreads();
  long table;
  __builtin_memcpy(&table, place, sizeof table);  // FAULT: never built
  out[t] = static_cast<float>(table != 0);
}
TWINS(built_in_shared);

// ---- races within a warp, which nothing but __syncwarp orders

// The writer itself is the first of the lanes that have read. A shuffle lets them all read.
template <bool kFaulty>
__global__ void warp_reads_then_first_writes(float* out) {
  __shared__ float word;
  const unsigned t = threadIdx.x;
  if (t == 0) word = 1.0f;
  __syncthreads();
  if (t >= 32) return;
  const float seen = __shfl_sync(kWholeWarp, word, 1);
  if (!kFaulty) __syncwarp();
  if (t == 0) word = seen + 1.0f;  // FAULT: own read first
  out[t] = seen;
}
TWINS(warp_reads_then_first_writes);

template <bool kFaulty>
__global__ void warp_read_after_write(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) tile[t] = static_cast<float>(t);
  if (!kFaulty) __syncwarp();
  if (t % 2) out[t] = tile[t - 1];  // FAULT: neighbour's value
}
TWINS(warp_read_after_write);

template <bool kFaulty>
__global__ void warp_write_after_read(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  __syncwarp();
  if (t % 2 == 0) out[t] = tile[t + 1];
  if (!kFaulty) __syncwarp();
  if (t % 2) tile[t] = 0.0f;  // FAULT: neighbour may still read
}
TWINS(warp_write_after_read);

template <bool kFaulty>
__global__ void warp_write_after_write(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) tile[t] = 1.0f;
  if (!kFaulty) __syncwarp();
  if (t % 2) tile[t - 1] = 2.0f;  // FAULT: neighbour's word
  __syncthreads();
  out[t] = tile[t & ~1u];
}
TWINS(warp_write_after_write);

// The sum as it was written before warps could part: it relies on lanes running in step.
template <bool kFaulty>
__global__ void warp_sum_in_step(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x, lane = t % 32;
  tile[t] = static_cast<float>(t);
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    const float other = lane < step ? tile[t + step] : 0.0f;
    if (!kFaulty) __syncwarp();
    if (lane < step) tile[t] += other;  // FAULT: in step
    if (!kFaulty) __syncwarp();
  }
  out[t] = tile[t - lane];
}
TWINS(warp_sum_in_step);

// A shuffle exchanges registers; it does not order memory.
template <bool kFaulty>
__global__ void shuffle_as_barrier(float* out) {
  __shared__ float tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  const float one = __shfl_sync(kWholeWarp, 1.0f, 0);
  if (!kFaulty) __syncwarp();
  out[t] = one * tile[t ^ 3];  // FAULT: shuffle is no barrier
}
TWINS(shuffle_as_barrier);

// __syncwarp orders one warp only.
template <bool kFaulty>
__global__ void warp_barrier_across_warps(float* out) {
  __shared__ float tile[32];
  const unsigned t = threadIdx.x;
  if (t < 32) tile[t] = static_cast<float>(t);
  __syncwarp();
  if (!kFaulty) __syncthreads();
  if (t >= 32) out[t] = tile[t - 32];  // FAULT: other warp
}
TWINS(warp_barrier_across_warps);

// ---- accesses narrower than a word: the bytes count

// Each thread has an element of its own, in words that both warps share.
template <class T>
__global__ void narrow_neighbours(T* out) {
  __shared__ T tile[64];
  const unsigned t = threadIdx.x, own = t * 33 % 64;
  tile[own] = static_cast<T>(t);
  __syncwarp();
  tile[own] = static_cast<T>(tile[own] + 1);
  __syncthreads();
  out[t] = tile[t];
}
WARPLADDER_TEST_KERNEL(narrow_neighbours<short>);
WARPLADDER_TEST_KERNEL(narrow_neighbours<signed char>);

template <bool kFaulty>
__global__ void narrow_race(signed char* out) {
  __shared__ signed char tile[32];
  const unsigned t = threadIdx.x;
  if (t < 32) tile[t] = static_cast<signed char>(t);
  if (!kFaulty) __syncthreads();
  if (t >= 32) out[t] = tile[t - 32];  // FAULT: narrow race
}
TWINS(narrow_race);

template <bool kFaulty>
__global__ void narrow_unwritten(signed char* out) {
  __shared__ signed char tile[64];
  const unsigned t = threadIdx.x;
  if (!kFaulty || t != 21) tile[t] = 1;
  __syncthreads();
  out[t] = tile[63 - t];  // FAULT: narrow unwritten
}
TWINS(narrow_unwritten);

}  // namespace
}  // namespace warpladder::kernel_tests

#endif
