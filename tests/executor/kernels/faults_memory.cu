// Kernels that reach for memory that is not theirs, or off its alignment. The line that the
// executor must name is marked FAULT. What makes them faulty are the arguments.

#include "kernels/kernel.hpp"
#include "parts/ptx/cp_async.hpp"

#if !defined(__CUDACC__)

// Code outside the kernels' section (testing.cpp): what a function that was not inlined looks like.
extern "C" void warpladder_code_elsewhere();

namespace warpladder::kernel_tests {
namespace {

__global__ void write_at(float* p, int offset) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + offset;
  p[i] = 1.0f;  // FAULT: write
}
WARPLADDER_TEST_KERNEL(write_at);

// Element t + offset of T, whatever lies there.
template <class T>
__global__ void read_at(const char* p, T* out, long long byte_offset) {
  const T* from = reinterpret_cast<const T*>(p + byte_offset) + threadIdx.x;
  const T v = *from;  // FAULT: read
  out[threadIdx.x] = v;
}
WARPLADDER_TEST_KERNEL(read_at<signed char>);
WARPLADDER_TEST_KERNEL(read_at<int>);
WARPLADDER_TEST_KERNEL(read_at<double>);
WARPLADDER_TEST_KERNEL(read_at<float2>);
WARPLADDER_TEST_KERNEL(read_at<float4>);

__global__ void add_at(int* p, int offset) {
  atomicAdd(p + static_cast<int>(threadIdx.x) + offset, 1);  // FAULT: atomic
}
WARPLADDER_TEST_KERNEL(add_at);

__global__ void add_at_byte(char* p, int offset) {
  atomicAdd(reinterpret_cast<int*>(p + offset), 1);  // FAULT: crooked atomic
}
WARPLADDER_TEST_KERNEL(add_at_byte);

__global__ void copy_asynchronously(const float* in, float* out, int offset) {
  __shared__ float tile[4 * 32];
  const unsigned t = threadIdx.x;
  ptx::cp_async<16>(&tile[4 * t], in + 4 * t + offset);  // FAULT: asynchronous read
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  out[t] = tile[4 * t];
}
WARPLADDER_TEST_KERNEL(copy_asynchronously);

__global__ void read_crooked_shared(float* out, int offset) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1.0f;
  tile[32 + threadIdx.x] = 2.0f;
  __syncthreads();                                                   // the tile is whole
  const float2 v = *reinterpret_cast<const float2*>(&tile[offset]);  // FAULT: crooked shared
  out[threadIdx.x] = v.x + v.y;
}
WARPLADDER_TEST_KERNEL(read_crooked_shared);

// A thread's own array, indexed at run time: memory of the thread, which nobody counts or refuses.
__global__ void use_local_array(const int* in, int* out) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[in[i] & 15] = in[i] + static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += own[(in[threadIdx.x % 16] + i) & 15];
  out[threadIdx.x] = sum;
}
WARPLADDER_TEST_KERNEL(use_local_array);

// Thread `who` needs more stack than there is. Not inlined, so that only its own frame is so large.
__attribute__((noinline)) int fill_stack(int seed) {
  constexpr int kWords = 20 * 1024;
  volatile int big[kWords];
  for (int i = 0; i < kWords; ++i) big[i] = seed + i;
  return big[seed];
}
__global__ void outgrow_stack(int* out, int who) {
  const int t = static_cast<int>(threadIdx.x);
  out[t] = t == who ? fill_stack(t) : 0;
}
WARPLADDER_TEST_KERNEL(outgrow_stack);

// Two faulty blocks, the lower of which takes far longer to come to it.
__global__ void late_and_early(float* p, int late, int early, int count) {
  const int block = static_cast<int>(blockIdx.x);
  float s = 0.0f;
  if (block == late) {
    for (int i = 0; i < 20000; ++i) s += p[i % count];
  }
  if (block == late || block == early) s += p[count + block];  // FAULT: two blocks
  p[block] = s;
}
WARPLADDER_TEST_KERNEL(late_and_early);

// The same where the others wait for their turn at an atomic.
__global__ void fault_amid_atomics(int* p, int faulty) {
  const int block = static_cast<int>(blockIdx.x);
  if (block < faulty) atomicAdd(p, 1);
  if (block >= faulty) atomicAdd(p + 64 + block, 1);  // FAULT: amid atomics
}
WARPLADDER_TEST_KERNEL(fault_amid_atomics);

__global__ void call_elsewhere(int* out) {
  warpladder_code_elsewhere();
  out[threadIdx.x] = 1;
}
WARPLADDER_TEST_KERNEL(call_elsewhere);

}  // namespace
}  // namespace warpladder::kernel_tests

#endif
