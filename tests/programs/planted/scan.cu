// Sums of all that comes before, by doubling distances in two buffers: one block of 64 threads.
#include "planted.hpp"

struct Buffers {
  int now[64], next[64];
};

__device__ int step(int* from, int* to, int distance, int bug) {
  const int t = threadIdx.x;
  // BUG kUninitialised scan 0,0,0 20,0,0
  int value = from[t];
  // BUG kMissingBarrier scan 0,0,0 2,0,0
  if (t >= distance) value += from[t - distance];
  to[t] = value;
  if (bug != kMissingBarrier) __syncthreads();
  return value;
}

__global__ void scan(const int* in, int* out, int bug) {
  __shared__ Buffers all;
  const int t = threadIdx.x;
  // BUG kNotCopied scan 0,0,0 60,0,0
  if (bug != kUninitialised || t != 20) all.now[t] = in[t];
  // BUG kPastShared scan 0,0,0 2,0,0
  if (bug == kPastShared && t == 2) all.next[t + 64] = 0;
  if (bug == kDivergentBarrier && t == 63) return;
  // BUG kDivergentBarrier scan 0,0,0 0,0,0
  __syncthreads();
  if (bug == kUninitialised && t == 20) all.next[t] = 0;
  int sum = 0;
  sum = step(all.now, all.next, 1, bug == kMissingBarrier ? kNone : bug);
  for (int distance = 2; distance < 64; distance *= 4) {
    sum = step(all.next, all.now, distance, bug);
    sum = step(all.now, all.next, 2 * distance, bug);
  }
  if (bug == kRace) sum = all.next[t];
  // BUG kRace scan 0,0,0 40,0,0
  if (bug == kRace && t == 40) all.next[7] = 0;
  const unsigned mask = bug == kWrongMask ? 0xfffffffeu : 0xffffffffu;
  // BUG kWrongMask scan 0,0,0 0,0,0
  if (__all_sync(mask, sum < 0)) sum = 0;
  if (bug == kMisaligned)
    // BUG kMisaligned scan 0,0,0 0,0,0
    sum = *(const int*)((const char*)in + 4 * t + 1);
  // BUG kPastGlobal scan 0,0,0 0,0,0
  if (bug == kPastGlobal) sum = in[64 + t];
  // BUG kFreed scan 0,0,0 0,0,0
  // BUG kHostPointer scan 0,0,0 0,0,0
  out[t] = sum;
}

void run(int bug) {
  int *in = counted_up<int>(64, bug == kNotCopied ? 60 : 64), *out = counted_up<int>(64);
  std::vector<int> host(64);
  if (bug == kFreed) cudaFree(out);
  scan<<<1, 64>>>(in, bug == kHostPointer ? &host[0] : out, bug);
  // BUG kDevicePointer
  if (bug == kDevicePointer) out[3]++;
  // BUG kWrongSize
  if (bug == kWrongSize) cudaMemset(out, 0, 65 * sizeof(int));
  cudaMemcpy(host.data(), bug == kFreed ? in : out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(in);
  if (bug != kFreed) cudaFree(out);
}

int main() { return run_each(run); }
